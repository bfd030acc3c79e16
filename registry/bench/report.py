"""`bench report` and `bench archive`: the fairness report of a month.

The embedded PostgreSQL is filled with synthetic rankings first, or an archive is made of
them; then another process makes the report, so that its memory is its own.
"""

import asyncio
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from registry.bench.figures import tell_figures
from registry.bench.invariance import measure_invariance
from registry.bench.report_worlds import measure_worlds
from registry.bench.scratch import (
    database_url,
    in_process,
    postgres_cpu_s,
    scratch_folder,
    scratch_postgres,
)
from registry.bench.synthetic.archive import make_archive
from registry.bench.synthetic.log_window import (
    END,
    START,
    LogWindow,
    count_rankings,
    fill_sites,
)
from registry.compiled.library import find_library
from registry.db.engine.embedded import EmbeddedPostgres
from registry.db.engine.engines import Role, engine_at
from registry.db.schema.migrate import migrate
from registry.garbage_collection import collect_less_often
from registry.ranking.policy import DEFAULT_POLICY
from registry.reports.archive.reading import open_archive
from registry.reports.model import FairnessReport
from registry.reports.report_terms import Algorithm, Terms, Window
from registry.terminal.output import json_option, print_progress
from registry.usecases.reports.archived_report import (
    report_of_archive,
    window_of_archive,
)
from registry.usecases.reports.make_report import make_report

Command = TypeVar("Command", bound=Callable[..., Any])
Figures = dict[str, Any]


def _size_options(command: Command) -> Command:
    for name, least, default in (("--sites", 100, 50_000), ("--rankings", 1, 100_000)):
        size = click.IntRange(min=least)
        command = click.option(name, type=size, default=default, show_default=True)(
            command
        )
    return command


@click.command()
@_size_options
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Of invariance, over the demo's town; see registry.bench.invariance.",
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the database, filled where it is not there yet.",
)
@click.option(
    "--worlds",
    type=click.IntRange(min=1),
    help="That many reports of each of some simulated worlds instead, fair ones and "
    "others: alarms, coverage and power.",
)
@json_option
def report(
    rankings: int,
    sites: int,
    trials: int,
    keep: Path | None,
    worlds: int | None,
    *,
    as_json: bool,
) -> None:
    """The fairness report of that many rankings of 20 sites: seconds and memory."""
    if worlds is not None:
        tell_figures(measure_worlds(worlds), as_json=as_json)
        return
    with scratch_folder(keep) as folder, scratch_postgres(folder) as server:
        figures = _measure(server, rankings, sites) | measure_invariance(trials)
    tell_figures(figures, as_json=as_json)


def _measure(server: EmbeddedPostgres, rankings: int, sites: int) -> Figures:
    asyncio.run(_fill(database_url(server), rankings, sites))
    server_before_s = postgres_cpu_s(server)
    figures = in_process(report_once, database_url(server))
    spent_s = postgres_cpu_s(server) - server_before_s
    return {**figures, "postgres_cpu_s": round(spent_s, 1)}


async def _fill(url: str, rankings: int, sites: int) -> None:
    async with engine_at(url) as engine:
        await migrate(engine)
        if count := await count_rankings(engine):
            if count != rankings:
                raise click.ClickException(f"the folder has {count} rankings")
            return
        ids = await fill_sites(engine, sites)
        print_progress(f"filling in {rankings} rankings")
        await LogWindow(sites=ids, start=START, end=END).fill(engine, rankings)


def report_once(url: str) -> Figures:
    """Make one report of the whole window.

    `figures` is the digest of the report without the digest of the code: the same
    whether `compiled` or not, and for another version of the code over the same rows.
    """
    collect_less_often()
    begun = time.perf_counter(), time.process_time()
    report = asyncio.run(_make_report(url))
    return {
        **_counts_and_effort(report, *begun),
        "compiled": find_library() is not None,
        "figures": _digest(report),
    }


async def _make_report(url: str) -> FairnessReport:
    window = Window(start_at=START, end_at=END)
    async with (
        engine_at(url, Role.AUDITOR) as engine,
        engine.connect() as connection,
    ):
        return await make_report(connection, window, DEFAULT_POLICY)


def _counts_and_effort(report: FairnessReport, wall_s: float, cpu_s: float) -> Figures:
    return {
        "rankings": report.counts.rankings,
        "seconds": round(time.perf_counter() - wall_s, 1),
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "cpu_s": round(time.process_time() - cpu_s, 1),
        "queries": report.counts.queries,
        "sites": report.counts.sites,
        "scored": report.counts.scored,
    }


def _digest(report: FairnessReport) -> str:
    no_code = Algorithm(policy_digest="", code_digest="")
    encoded = msgspec.json.encode(replace(report, algorithm=no_code).members())
    code = report.algorithm.code_digest.encode()  # a sentence has it, too
    return sha256(encoded.replace(code, b"")).hexdigest()


# ---- from an archive ----


@click.command()
@_size_options
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the archive, made where it is not there yet.",
)
@json_option
def archive(rankings: int, sites: int, keep: Path | None, *, as_json: bool) -> None:
    """The report of an archive of that many rankings of 20: seconds and memory."""
    with scratch_folder(keep) as folder:
        begun = time.perf_counter()
        if not (folder / "manifest.json").exists():
            make_archive(folder, rankings, sites)
        made_s = round(time.perf_counter() - begun, 1)
        size = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
        figures = in_process(archived_report_once, folder)
    sizes = {"archive_mb": size // 1_000_000, "made_up_in_s": made_s}
    tell_figures({**figures, **sizes}, as_json=as_json)


def archived_report_once(folder: Path) -> Figures:
    begun = time.perf_counter(), time.process_time()
    archive = open_archive(folder)
    hashed_s = time.process_time() - begun[1]
    terms = Terms(window=window_of_archive(archive))
    algorithm = Algorithm(policy_digest=DEFAULT_POLICY.digest, code_digest="")
    report = report_of_archive(archive, algorithm, terms, DEFAULT_POLICY)
    return {
        **_counts_and_effort(report, *begun),
        "digests_cpu_s": round(hashed_s, 1),
    }
