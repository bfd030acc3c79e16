"""`bench crawl`: the crawler's own benchmarks, each in a process of its own."""

import json
import subprocess
import sys
from typing import Any

import click

from registry.bench.figures import tell_figures
from registry.terminal.output import json_option

SUBJECTS = ("leases", "schedule", "tarpits", "throughput", "cold")


@click.command()
@click.argument("subjects", nargs=-1, type=click.Choice(SUBJECTS))
@json_option
def crawl(subjects: tuple[str, ...], *, as_json: bool) -> None:
    """The crawler beside others, its memory, frontier, schedule, and tarpits.

    Runs in processes of its own, as commands do not import the crawler. All without SUBJECTS.
    """
    figures: dict[str, Any] = {}
    failed = False
    for subject in subjects or SUBJECTS:
        command = [sys.executable, "-m", "crawler.bench", subject, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603
            try:
                output, _ = process.communicate()
            except BaseException:
                process.terminate()  # and wait until it has ended its servers
                raise
        failed |= process.returncode != 0
        figures |= json.loads(output or b"{}")
    tell_figures(figures, as_json=as_json)
    if failed:
        raise SystemExit(1)
