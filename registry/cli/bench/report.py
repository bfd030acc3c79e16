"""`bench report`: the fairness report of a month, made in a process of its own.

The embedded PostgreSQL is filled with made-up rankings first; then another process reads
them and makes the report, so that its memory is its own.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from registry.cli.bench.invariance import measure_invariance
from registry.cli.bench.report_window import Window
from registry.cli.bench.scratch import scratch_folder, scratch_postgres
from registry.cli.output import errors, json_option, tell_figures
from registry.db.embedded import EmbeddedPostgres
from registry.db.engine import engine_at
from registry.db.filled_window import analyze, count_filled, fill_rankings, fill_sites
from registry.db.migrate import migrate


@click.command()
@click.option(
    "--rankings", type=click.IntRange(min=1), default=100_000, show_default=True
)
@click.option(
    "--sites", type=click.IntRange(min=100), default=50_000, show_default=True
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Of invariance, over the demo's town; see registry.cli.bench.invariance.",
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the database, filled where it is not there yet.",
)
@json_option
def report(
    rankings: int, sites: int, trials: int, keep: Path | None, *, as_json: bool
) -> None:
    """The fairness report of that many rankings of 20 sites: seconds and memory."""
    with scratch_folder(keep) as folder, scratch_postgres(folder) as server:
        found = _measure(server, rankings, sites) | measure_invariance(trials)
    tell_figures(found, as_json=as_json)


def _measure(server: EmbeddedPostgres, rankings: int, sites: int) -> dict[str, Any]:
    url = server.url().render_as_string(hide_password=False)
    asyncio.run(_fill(url, rankings, sites))
    server_before = server.cpu_s()
    command = [sys.executable, "-m", "registry.cli.bench.report_once", url]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True)  # noqa: S603
    told: dict[str, Any] = json.loads(run.stdout)
    return {**told, "postgres_cpu_s": round(server.cpu_s() - server_before, 1)}


async def _fill(url: str, rankings: int, sites: int) -> None:
    async with engine_at(url) as engine:
        await migrate(engine)
        if found := await count_filled(engine):
            if found != rankings:
                raise click.ClickException(f"the folder has {found} rankings")
            return
        window = Window.make(rankings, sites)
        await fill_sites(engine, window.site_rows())
        filled = 0
        async with engine.connect() as connection:
            for rows in window.blocks():
                await fill_rankings(connection, *rows)
                filled += len(rows[0])
                errors.print(f"{filled} of {rankings} rankings filled in", end="\r")
        await analyze(engine)
