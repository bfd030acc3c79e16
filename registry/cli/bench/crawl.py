"""`bench crawl`: the crawler's own benchmarks, each in a process of its own."""

import json
import subprocess
import sys
from typing import Any

import click

from registry.cli.output import json_option, tell_figures

SUBJECTS = ("leases", "schedule", "tarpits", "throughput", "cold")


@click.command()
@click.argument("subjects", nargs=-1, type=click.Choice(SUBJECTS))
@json_option
def crawl(subjects: tuple[str, ...], *, as_json: bool) -> None:
    """The crawler beside others, its memory, frontier, schedule, and tarpits.

    Runs in processes of its own, for the commands know no crawler. All without SUBJECTS.
    """
    found: dict[str, Any] = {}
    failed = False
    for subject in subjects or SUBJECTS:
        command = [sys.executable, "-m", "crawler.bench", subject, "--json"]
        run = subprocess.run(command, stdout=subprocess.PIPE, check=False)  # noqa: S603
        failed |= run.returncode != 0
        found |= json.loads(run.stdout or b"{}")
    tell_figures(found, as_json=as_json)
    if failed:
        raise SystemExit(1)
