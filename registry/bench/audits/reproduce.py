"""`bench reproduce`: an answer computed again by `audit reproduce`, beside its service.

The sites are made up, each with a document of its own host; the service is the real one,
without crawlers. The command is run as an outsider runs it: a new process each time.
"""

import asyncio
import json
import resource
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from registry.bench.figures import tell_figures
from registry.bench.scratch import scratch_folder
from registry.bench.service import (
    LIMIT,
    build_index,
    path_of,
    prepare,
    scratch_service,
    serving,
)
from registry.terminal.output import json_option, print_progress

PORT = 8193
_LOGGED_WITHIN_S = 60.0
_PAUSE_S = 0.2
_SAME = (0, 3)
"""Exit codes: the same, and the same but for what waits for the day's secret."""


@click.command()
@click.option("--sites", type=click.IntRange(min=1_000), default=5_000)
@click.option(
    "--documents",
    type=click.IntRange(min=1),
    default=500,
    show_default=True,
    help="Different documents; each takes some 15 ms to make.",
)
@click.option("--answers", type=click.IntRange(min=1), default=6, show_default=True)
@click.option("--port", type=int, default=PORT, show_default=True)
@click.option(
    *("--keep", "data"),
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to make the registry in, or where it lies from the last time.",
)
@json_option
def reproduce(data: Path | None, *, as_json: bool, **given: Any) -> None:
    """Answers of synthetic sites, computed again as an outsider does.

    Ends with exit code 1 if one differs.
    """
    with scratch_folder(data) as folder:
        figures = asyncio.run(_Bench(folder=folder, **given).measure())
    tell_figures(figures, as_json=as_json)
    if not set(figures["exit_codes"]) <= set(_SAME):
        raise SystemExit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    folder: Path
    sites: int
    documents: int
    answers: int
    port: int

    async def measure(self) -> dict[str, Any]:
        service = scratch_service(self.folder, port=self.port, workers=1)
        with service as (settings, _):
            prepared = await prepare(
                settings, self.sites, print_progress, documents=self.documents
            )
            await build_index(settings)
            async with serving(settings):
                paths = [path_of(*request) for request in prepared.requests]
                return await asyncio.to_thread(self._reproduce, settings.origin, paths)

    def _reproduce(self, origin: str, paths: Sequence[str]) -> dict[str, Any]:
        rankings = _full_answers(origin, paths)
        runs = []
        for _, ranking_id in zip(range(self.answers), rankings, strict=False):
            _wait_until_logged(origin, ranking_id)
            runs.append(_timed_run(origin, ranking_id))
        seconds, cpu_s, exit_codes = zip(*runs, strict=True)
        return {
            "sites": self.sites,
            "documents": self.documents,
            "seconds": seconds,
            "cpu_s": cpu_s,
            "exit_codes": exit_codes,
        }


def _full_answers(origin: str, paths: Sequence[str]) -> Iterator[str]:
    """Ask, and yield the ids of answers that are full. Raises: ClickException."""
    for path in paths:
        answer = _read_json(origin + path)
        if len(answer["results"]) == LIMIT:
            yield answer["ranking"]["id"]
    raise click.ClickException(f"too few requests have {LIMIT} results")


def _wait_until_logged(origin: str, ranking_id: str) -> None:
    """Raises: click.ClickException."""
    end = time.monotonic() + _LOGGED_WITHIN_S
    while _read_json(f"{origin}/v1/rankings/{ranking_id}")["leafIndex"] is None:
        if time.monotonic() > end:
            raise click.ClickException("the publisher does not log an answer")
        time.sleep(_PAUSE_S)


def _timed_run(origin: str, ranking_id: str) -> tuple[float, float, int]:
    """Return seconds by the clock, seconds of CPU, and the exit code."""
    command = Path(sys.executable).with_name("fair-registry")
    before, started = _children_s(), time.perf_counter()
    run = subprocess.run(  # noqa: S603 — our own
        [command, "audit", "reproduce", ranking_id, "--registry", origin],
        capture_output=True,
        check=False,
    )
    spent, elapsed = _children_s() - before, time.perf_counter() - started
    return round(elapsed, 2), round(spent, 2), run.returncode


def _children_s() -> float:
    """Return seconds of CPU of the processes that have ended: parts of the service run on."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _read_json(url: str) -> Any:
    with urllib.request.urlopen(url) as answer:  # noqa: S310 — our own
        return json.load(answer)
