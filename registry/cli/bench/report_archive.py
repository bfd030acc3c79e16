"""`bench archive`: the fairness report of a month, from an archive by DuckDB.

The archive is made up first; then another process makes the report of it, so that its
memory is its own.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click

from registry.cli.bench.archive_window import make_archive
from registry.cli.bench.scratch import scratch_folder
from registry.cli.output import json_option, tell_figures


@click.command("archive")
@click.option(
    "--rankings", type=click.IntRange(min=1), default=100_000, show_default=True
)
@click.option(
    "--sites", type=click.IntRange(min=100), default=50_000, show_default=True
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the archive, made where it is not there yet.",
)
@json_option
def archive_bench(
    rankings: int, sites: int, keep: Path | None, *, as_json: bool
) -> None:
    """The report of an archive of that many rankings of 20: seconds and memory."""
    with scratch_folder(keep) as folder:
        begun = time.perf_counter()
        if not (folder / "manifest.json").exists():
            make_archive(folder, rankings, sites)
        made_s = round(time.perf_counter() - begun, 1)
        size = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
        command = [sys.executable, "-m", "registry.cli.bench.report_archive_once"]
        run = subprocess.run(  # noqa: S603 — this Python
            [*command, str(folder)], stdout=subprocess.PIPE, check=True
        )
    told: dict[str, Any] = json.loads(run.stdout)
    sizes = {"archive_mb": size // 1_000_000, "made_up_in_s": made_s}
    tell_figures({**told, **sizes}, as_json=as_json)
