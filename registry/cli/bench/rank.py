"""`bench rank`: what an exact ranking costs, by the kernel and beside others.

All is measured in one run over one made-up registry, in CPU time of one thread. The
kernel and tantivy are asked in turns, so that their figures stand in a ratio although the
machine's pace changes: see `turns`. Every sampled answer is held
against a computation of its own over all rows.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from registry.cli.bench.effective import effective_weights
from registry.cli.bench.kernel_figures import (
    K,
    compiled_kernel,
    constants_of,
    kernel_figures,
    measure_segments,
    search_first,
)
from registry.cli.bench.recomputation import Recomputed, first_places, recompute
from registry.cli.bench.rivals import has_tantivy, load_tantivy, measure_fts5
from registry.cli.bench.scratch import scratch_folder
from registry.cli.bench.sql_rival import measure_sql
from registry.cli.bench.synthetic import CHUNK, Registry, make_registry
from registry.cli.bench.synthetic_queries import make_queries
from registry.cli.bench.turns import Asked, milliseconds_in_turns
from registry.cli.output import json_option, tell, tell_figures
from registry.index.columns.rows import Rows, join
from registry.index.query.constants import Constants, Query
from registry.index.query.kernel import Bound
from registry.index.segments.levels import make_level
from registry.index.segments.segment import Segment
from registry.ranking.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY

CUT = 1_000
WEIGHED = 500  # requests by which the weights are told
RIVALS = ("tantivy", "fts5", "sql")
SQL_SITES_MAX = 200_000
_SMALL = 200_000
_ROWS_BETWEEN_NEWS = 200_000
_NO_FIGURES = {
    "fts5": ("fts5_ms_mean",),
    "sql": ("sql_ms_mean", "sql_cpu_ms_mean", "sql_mismatches"),
}


@click.command()
@click.option(
    "--sites", type=click.IntRange(min=1_000), default=100_000, show_default=True
)
@click.option("--queries", type=click.IntRange(min=1), default=1_000, show_default=True)
@click.option(
    "--verify",
    type=click.IntRange(min=1),
    help="Answers to compute again. Default: 200, of more than 200,000 sites 30.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Requests for SQL and FTS5, which take long.",
)
@click.option(
    "--rival",
    "asked",
    type=click.Choice([*RIVALS, "none"]),
    multiple=True,
    help="Default: all, but SQL only up to 200,000 sites.",
)
@click.option(
    "--kernel-only",
    is_flag=True,
    help="The kernel's figures alone, over segments of a million sites each, by a "
    "process that only maps them. Ten million take 4 GB of disk and a quarter of "
    "an hour. Nothing is computed again.",
)
@json_option
def rank(
    sites: int,
    queries: int,
    verify: int | None,
    sample: int,
    asked: tuple[str, ...],
    *,
    kernel_only: bool,
    as_json: bool,
) -> None:
    """Rank made-up sites exactly, and measure what it takes.

    Ends with exit code 1 if the kernel, or SQL, found anything but what the definition
    of the score gives.
    """
    if kernel_only:
        tell_figures(measure_segments(sites, queries), as_json=as_json)
        return
    bench = _prepare(sites, queries)
    verified = min(queries, verify or (200 if sites <= _SMALL else 30))
    found: dict[str, Any] = {"sites": sites, "queries": queries}
    found |= _beside_tantivy(bench, asked)
    found["build_cpu_s"] = round(bench.build_cpu_s, 1)
    weighed = bench.searches[:WEIGHED]
    found |= effective_weights(bench.bound, weighed, DEFAULT_POLICY)
    tell(f"computing {verified} answers again, over all rows")
    again = recompute(bench.rows, bench.searches[:verified])
    found |= _verified(bench, again) | _cut(bench.rows, again)
    found |= _rivals(bench, asked, min(sample, queries), again)
    tell_figures(found, as_json=as_json)
    if found["mismatches"] or found["sql_mismatches"]:
        raise SystemExit(1)


# ---- what is measured ----


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    """rows: in the segment's order, and what they say too. searches: of each query."""

    registry: Registry
    segment: Segment
    rows: Rows
    bound: Bound
    queries: Sequence[Query]
    searches: Sequence[Constants]
    build_cpu_s: float

    @property
    def words(self) -> list[list[str]]:
        return [list(one.request.terms) for one in self.queries]


def _prepare(sites: int, queries: int) -> _Bench:
    kernel = compiled_kernel()
    registry = make_registry()
    rows = _make_rows(registry, sites)
    started = time.process_time()
    level = make_level(rows, DEFAULT_POLICY)
    build_cpu_s = time.process_time() - started
    tell(f"built in {build_cpu_s:.1f} s of CPU")
    bound = kernel.bind([level.part])
    encoder = load_encoder(DEFAULT_POLICY)
    ordered = join([level.rows])
    asked = make_queries(registry, ordered, queries, encoder, DEFAULT_POLICY)
    return _Bench(
        registry=registry,
        segment=level.part.segment,
        rows=ordered,
        bound=bound,
        queries=asked,
        searches=[constants_of(bound, sites, one) for one in asked],
        build_cpu_s=build_cpu_s,
    )


def _make_rows(registry: Registry, sites: int) -> Rows:
    step = _ROWS_BETWEEN_NEWS // CHUNK * CHUNK
    parts = []
    for start in range(0, sites, step):
        stop = min(start + step, sites)
        parts.append(registry.rows(start, stop))
        tell(f"{stop} sites made, {time.process_time():.0f} s of CPU")
    return join(parts)


def _beside_tantivy(bench: _Bench, asked: Sequence[str]) -> dict[str, Any]:
    """The kernel's figures, and those of tantivy if it is asked."""
    searchers: list[Asked] = [(search_first(bench.bound), bench.searches)]
    with scratch_folder() as folder:
        if _is_asked("tantivy", asked, len(bench.rows)):
            tell("tantivy: loading")
            rival = load_tantivy(folder, bench.rows, bench.registry.language)
            searchers.append((rival, bench.words))
        own, *others = milliseconds_in_turns(*searchers)
    found = kernel_figures(own, bench.bound, [bench.segment], bench.searches)
    return found | _ratio(own, *others)


def _ratio(own: Sequence[float], rival: Sequence[float] = ()) -> dict[str, Any]:
    if not rival:
        return dict.fromkeys(("tantivy_cpu_ms_mean", "mean_ratio_to_tantivy"))
    return {
        "tantivy_cpu_ms_mean": round(float(np.mean(rival)), 3),
        "tantivy_cpu_ms_p99": round(float(np.percentile(rival, 99)), 3),
        "mean_ratio_to_tantivy": round(float(np.mean(own) / np.mean(rival)), 2),
    }


# ---- against the definition ----


def _verified(bench: _Bench, again: Recomputed) -> dict[str, Any]:
    mismatches = 0
    for one, standings in zip(bench.searches, again.standings, strict=False):
        found, _ = bench.bound.search(one, k=K)
        places = set(
            zip(found["row"].tolist(), found["standing"].tolist(), strict=True)
        )
        mismatches += places != _places(standings, bench.rows)
    return {"verified": len(again.standings), "mismatches": mismatches}


def _places(standings: npt.NDArray[np.int64], rows: Rows) -> set[tuple[int, int]]:
    first = first_places(standings, rows.leaders, K)
    return set(zip(first.tolist(), standings[first].tolist(), strict=True))


def _cut(rows: Rows, again: Recomputed) -> dict[str, Any]:
    """What is lost where only the best by words are ranked by all factors."""
    kept, lost = [], []
    for standings, matched in zip(again.standings, again.matched, strict=True):
        first = first_places(standings, rows.leaders, K)[:K]
        if not len(first):
            continue
        last = max(1, -np.partition(-matched, min(CUT, len(matched)) - 1)[CUT - 1])
        kept.append(float(np.mean(matched[first] >= last)))
        lost.append(bool(matched[first[0]] < last))
    return {
        f"cut{CUT}_recall_at_{K}": round(float(np.mean(kept)), 3) if kept else None,
        f"cut{CUT}_first_lost": round(float(np.mean(lost)), 3) if lost else None,
    }


# ---- beside others ----


def _rivals(
    bench: _Bench, asked: Sequence[str], sample: int, again: Recomputed
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for rival, figures in _NO_FIGURES.items():
        found |= dict.fromkeys(figures)
        if not _is_asked(rival, asked, len(bench.rows)):
            continue
        with scratch_folder() as folder:
            found |= _MEASURES[rival](bench, folder, sample, again)
    return found


def _is_asked(rival: str, asked: Sequence[str], sites: int) -> bool:
    reason = _reason_to_skip(rival, asked, sites)
    if reason:
        tell(f"{rival}: skipped, {reason}")
    return reason is None


def _reason_to_skip(rival: str, asked: Sequence[str], sites: int) -> str | None:
    if asked and rival not in asked:
        return "not asked for"
    if rival == "tantivy" and not has_tantivy():
        return "not installed (the dependency group `bench`)"
    if rival == "sql" and not asked and sites > SQL_SITES_MAX:
        return f"loading takes long; ask for it with --rival {rival}"
    return None


def _fts5(bench: _Bench, folder: Path, sample: int, _: Recomputed) -> dict[str, Any]:
    tell("fts5: loading")
    language = bench.registry.language
    spent = measure_fts5(folder, bench.rows, language, bench.words[:sample])
    return {"fts5_ms_mean": round(float(np.mean(spent)), 2)}


def _sql(bench: _Bench, folder: Path, sample: int, again: Recomputed) -> dict[str, Any]:
    searches = bench.searches[:sample]
    measured = measure_sql(folder, bench.rows, searches, K, tell)
    mismatches = sum(
        places != _places(standings, bench.rows)
        for places, standings in zip(measured.places, again.standings, strict=False)
    )
    return {
        "sql_ms_mean": round(float(np.mean(measured.wall_ms)), 1),
        "sql_cpu_ms_mean": round(measured.cpu_ms_mean, 1),
        "sql_mismatches": mismatches,
    }


_MEASURES: dict[str, Callable[[_Bench, Path, int, Recomputed], dict[str, Any]]] = {
    "fts5": _fts5,
    "sql": _sql,
}
