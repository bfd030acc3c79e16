"""`bench rank`: the cost of an exact ranking, by the kernel and beside others.

One run measures all over one synthetic registry, in CPU time of one thread. The kernel
and tantivy search in turns, since the machine's pace changes: see `turns`. A sample of
the answers is computed again from all rows.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from registry.bench.figures import tell_figures
from registry.bench.kernel.effective import effective_weights
from registry.bench.kernel.figures import (
    K,
    compiled_kernel,
    constants_of,
    kernel_figures,
    measure_segments,
    top_k,
)
from registry.bench.kernel.recomputation import Recomputed, recompute, top_rows
from registry.bench.kernel.rivals import has_tantivy, load_tantivy, measure_fts5
from registry.bench.kernel.sql_ranking import measure_sql
from registry.bench.kernel.turns import Searcher, milliseconds_in_turns
from registry.bench.scratch import scratch_folder
from registry.bench.synthetic.queries import make_queries
from registry.bench.synthetic.site_rows import CHUNK, Registry, make_registry
from registry.index.columns.rows import Rows, join
from registry.index.query.kernel import Kernel
from registry.index.query.scoring_parameters import Query, ScoringParameters
from registry.index.segments.levels import make_level
from registry.index.segments.segment import Segment
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.terminal.output import json_option, print_progress

CUT = 1_000
WEIGHED = 500  # requests by which effective weights are measured
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
    "rivals",
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
    rivals: tuple[str, ...],
    *,
    kernel_only: bool,
    as_json: bool,
) -> None:
    """Rank synthetic sites exactly, and measure the cost.

    Ends with exit code 1 if an answer of the kernel, or of SQL, differs from the
    definition of the score.
    """
    if kernel_only:
        tell_figures(measure_segments(sites, queries), as_json=as_json)
        return
    bench = _prepare(sites, queries)
    verified = min(queries, verify or (200 if sites <= _SMALL else 30))
    figures: dict[str, Any] = {"sites": sites, "queries": queries}
    figures |= _beside_tantivy(bench, rivals)
    figures["build_cpu_s"] = round(bench.build_cpu_s, 1)
    weighed = bench.searches[:WEIGHED]
    figures |= effective_weights(bench.searcher, weighed, DEFAULT_POLICY)
    print_progress(f"computing {verified} answers again, over all rows")
    expected = recompute(bench.rows, bench.searches[:verified])
    figures |= _verified(bench, expected) | _cut(bench.rows, expected)
    figures |= _rivals(bench, rivals, min(sample, queries), expected)
    tell_figures(figures, as_json=as_json)
    if figures["mismatches"] or figures["sql_mismatches"]:
        raise SystemExit(1)


# ---- what is measured ----


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    """A registry and its index; rows: in the segment's order, with their terms."""

    registry: Registry
    segment: Segment
    rows: Rows
    searcher: Kernel
    queries: Sequence[Query]
    searches: Sequence[ScoringParameters]
    build_cpu_s: float

    @property
    def words(self) -> list[list[str]]:
        return [list(query.request.terms) for query in self.queries]


def _prepare(sites: int, queries: int) -> _Bench:
    registry = make_registry()
    rows = _make_rows(registry, sites)
    started = time.process_time()
    level = make_level(rows, DEFAULT_POLICY)
    build_cpu_s = time.process_time() - started
    print_progress(f"built in {build_cpu_s:.1f} s of CPU")
    searcher = compiled_kernel([level.part])
    encoder = load_encoder(DEFAULT_POLICY)
    ordered = join([level.rows])
    drawn = make_queries(registry, ordered, queries, encoder, DEFAULT_POLICY)
    return _Bench(
        registry=registry,
        segment=level.part.segment,
        rows=ordered,
        searcher=searcher,
        queries=drawn,
        searches=[constants_of(searcher, sites, query) for query in drawn],
        build_cpu_s=build_cpu_s,
    )


def _make_rows(registry: Registry, sites: int) -> Rows:
    step = _ROWS_BETWEEN_NEWS // CHUNK * CHUNK
    parts = []
    for start in range(0, sites, step):
        stop = min(start + step, sites)
        parts.append(registry.rows(start, stop))
        print_progress(f"{stop} sites made, {time.process_time():.0f} s of CPU")
    return join(parts)


def _beside_tantivy(bench: _Bench, rivals: Sequence[str]) -> dict[str, Any]:
    """Measure the kernel, and tantivy if it is chosen."""
    searchers: list[Searcher] = [(top_k(bench.searcher), bench.searches)]
    with scratch_folder() as folder:
        if _is_chosen("tantivy", rivals, len(bench.rows)):
            print_progress("tantivy: loading")
            rival = load_tantivy(folder, bench.rows, bench.registry.language)
            searchers.append((rival, bench.words))
        own, *others = milliseconds_in_turns(*searchers)
    figures = kernel_figures(own, bench.searcher, [bench.segment], bench.searches)
    return figures | _ratio(own, *others)


def _ratio(own: Sequence[float], rival: Sequence[float] = ()) -> dict[str, Any]:
    if not rival:
        return dict.fromkeys(("tantivy_cpu_ms_mean", "mean_ratio_to_tantivy"))
    return {
        "tantivy_cpu_ms_mean": round(float(np.mean(rival)), 3),
        "tantivy_cpu_ms_p99": round(float(np.percentile(rival, 99)), 3),
        "mean_ratio_to_tantivy": round(float(np.mean(own) / np.mean(rival)), 2),
    }


# ---- against the definition ----


def _verified(bench: _Bench, expected: Recomputed) -> dict[str, Any]:
    mismatches = 0
    for search, standings in zip(bench.searches, expected.standings, strict=False):
        candidates, _ = bench.searcher.search(search, k=K)
        rows, scores = (candidates[name].tolist() for name in ("row", "rank_score"))
        results = set(zip(rows, scores, strict=True))
        mismatches += results != _results(standings, bench.rows)
    return {"verified": len(expected.standings), "mismatches": mismatches}


def _results(standings: npt.NDArray[np.int64], rows: Rows) -> set[tuple[int, int]]:
    top = top_rows(standings, rows.representatives, K)
    return set(zip(top.tolist(), standings[top].tolist(), strict=True))


def _cut(rows: Rows, expected: Recomputed) -> dict[str, Any]:
    """Measure the loss of ranking only the best CUT by words by all factors."""
    recalls, lost = [], []
    for standings, matched in zip(expected.standings, expected.matched, strict=True):
        top = top_rows(standings, rows.representatives, K)[:K]
        if not len(top):
            continue
        last = max(1, -np.partition(-matched, min(CUT, len(matched)) - 1)[CUT - 1])
        recalls.append(float(np.mean(matched[top] >= last)))
        lost.append(bool(matched[top[0]] < last))
    recall = round(float(np.mean(recalls)), 3) if recalls else None
    return {
        f"cut{CUT}_recall_at_{K}": recall,
        f"cut{CUT}_first_lost": round(float(np.mean(lost)), 3) if lost else None,
    }


# ---- beside others ----


def _rivals(
    bench: _Bench, chosen: Sequence[str], sample: int, expected: Recomputed
) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for rival, names in _NO_FIGURES.items():
        figures |= dict.fromkeys(names)
        if not _is_chosen(rival, chosen, len(bench.rows)):
            continue
        with scratch_folder() as folder:
            figures |= _MEASURES[rival](bench, folder, sample, expected)
    return figures


def _is_chosen(rival: str, chosen: Sequence[str], sites: int) -> bool:
    reason = _reason_to_skip(rival, chosen, sites)
    if reason:
        print_progress(f"{rival}: skipped, {reason}")
    return reason is None


def _reason_to_skip(rival: str, chosen: Sequence[str], sites: int) -> str | None:
    if chosen and rival not in chosen:
        return "not asked for"
    if rival == "tantivy" and not has_tantivy():
        return "not installed (the dependency group `bench`)"
    if rival == "sql" and not chosen and sites > SQL_SITES_MAX:
        return f"loading takes long; ask for it with --rival {rival}"
    return None


def _fts5(bench: _Bench, folder: Path, sample: int, _: Recomputed) -> dict[str, Any]:
    print_progress("fts5: loading")
    language = bench.registry.language
    spent = measure_fts5(folder, bench.rows, language, bench.words[:sample])
    return {"fts5_ms_mean": round(float(np.mean(spent)), 2)}


def _sql(
    bench: _Bench, folder: Path, sample: int, expected: Recomputed
) -> dict[str, Any]:
    searches = bench.searches[:sample]
    measured = measure_sql(folder, bench.rows, searches, K, print_progress)
    mismatches = sum(
        results != _results(standings, bench.rows)
        for results, standings in zip(
            measured.results, expected.standings, strict=False
        )
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
