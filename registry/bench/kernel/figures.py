"""Figures of the kernel: CPU of a search, rows it reads, and bytes."""

import pickle
import resource
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from registry.bench.kernel.cost import bandwidth, bytes_of, bytes_touched
from registry.bench.kernel.turns import milliseconds_in_turns
from registry.bench.scratch import in_process, scratch_folder
from registry.bench.synthetic.queries import make_queries
from registry.bench.synthetic.site_rows import NOW, make_registry
from registry.compiled.library import explain_absence, find_library, how_to_compile
from registry.index.columns.hashes import hash_word
from registry.index.query.index_searcher import IndexSearcher
from registry.index.query.kernel import Kernel
from registry.index.query.scoring_parameters import (
    Query,
    ScoringParameters,
    make_scoring_parameters,
)
from registry.index.segments.array_file import write_file
from registry.index.segments.levels import make_level
from registry.index.segments.part import IndexPart
from registry.index.segments.segment import BLOCK_ROWS, Segment
from registry.index.segments.segment_file import (
    SEGMENT_ARRAYS,
    map_segment,
    segment_arrays,
)
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY, FULL, Policy
from registry.ranking.relevance import idf_milli
from registry.terminal.output import print_progress

K = 20
SEGMENT_SITES = 1_000_000  # whole chunks; a segment holds less than 2^24
SEGMENTS, QUERIES = "*.segment", "queries"  # files of the serving process
_PAGE = 4_096
_STATUS = Path("/proc/self/status")


def compiled_kernel(parts: Sequence[IndexPart]) -> Kernel:
    """Raises: click.ClickException where there is none."""
    library = find_library()
    if library is None:
        raise click.ClickException(f"{explain_absence()}; {how_to_compile()}")
    return Kernel(parts, library)


def constants_of(
    bound: IndexSearcher, sites: int, query: Query, policy: Policy = DEFAULT_POLICY
) -> ScoringParameters:
    shares = query.request.weights_bp or dict.fromkeys(query.request.terms, FULL)
    counts = bound.containing([hash_word(term) for term in shares])
    weights = {
        term: idf_milli(sites, count) * share // FULL
        for (term, share), count in zip(shares.items(), counts, strict=True)
    }
    return make_scoring_parameters(query, weights, NOW, policy)


def measure_segments(sites: int, queries: int) -> dict[str, Any]:
    """Measure segments that another process than their maker maps and searches.

    serving_mb: the peak of that process, with the mapped files. making_mb: of this one.
    """
    with scratch_folder() as folder:
        build_cpu_s = _write_segments(folder, sites, queries)
        figures = in_process(serve_segments, folder)
        segments = len(list(folder.glob(SEGMENTS)))
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "sites": sites,
        "queries": queries,
        "segments": segments,
        **figures,
        "build_cpu_s": round(build_cpu_s, 1),
        "making_mb": resident // 1024,
    }


def _write_segments(folder: Path, sites: int, queries: int) -> float:
    """Write segments and queries; return the seconds of CPU of building segments."""
    registry, encoder = make_registry(), load_encoder(DEFAULT_POLICY)
    spent = 0.0
    for number, start in enumerate(range(0, sites, SEGMENT_SITES)):
        rows = registry.rows(start, min(sites, start + SEGMENT_SITES))
        if not start:
            drawn = make_queries(registry, rows, queries, encoder, DEFAULT_POLICY)
            (folder / QUERIES).write_bytes(pickle.dumps(drawn))
        started = time.process_time()
        level = make_level(rows, DEFAULT_POLICY)
        spent += time.process_time() - started
        file = segment_arrays(level.part.segment, level.rows.bodies.runs)
        write_file(folder / SEGMENTS.replace("*", f"{number:04}"), file)
        print_progress(
            f"{start + len(rows)} sites made, {time.process_time():.0f} s of CPU"
        )
    return spent


def serve_segments(folder: Path) -> dict[str, Any]:
    """Map all segments of the folder, answer its queries, and return the figures."""
    queries = pickle.loads((folder / QUERIES).read_bytes())  # noqa: S301 — the parent's
    segments = [map_segment(path)[0] for path in sorted(folder.glob(SEGMENTS))]
    for segment in segments:
        _touch(segment)
    searcher = compiled_kernel([IndexPart(s, _alive(s)) for s in segments])
    sites = sum(map(len, segments))
    searches = [constants_of(searcher, sites, query) for query in queries]
    for search in searches:
        searcher.search(search, k=K)
    serving_mb = _peak_mb()
    (spent,) = milliseconds_in_turns((top_k(searcher), searches))
    figures = kernel_figures(spent, searcher, segments, searches)
    return {**figures, "serving_mb": serving_mb}


def _touch(segment: Segment) -> None:
    """Read every page, so that all count as this process's memory."""
    for name in SEGMENT_ARRAYS:
        getattr(segment, name).reshape(-1).view(np.uint8)[::_PAGE].max(initial=0)


def _alive(segment: Segment) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    rows = np.arange(segment.blocks * BLOCK_ROWS)
    return (rows < len(segment)).astype(np.uint8)


def _peak_mb() -> int:
    """Read VmHWM; `getrusage` includes the parent's peak before exec."""
    lines = _STATUS.read_text().splitlines()
    (peak,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(peak.split()[1]) // 1024


def top_k(searcher: Kernel) -> Callable[[ScoringParameters], object]:
    return partial(searcher.search, k=K)


def kernel_figures(
    spent: Sequence[float],
    searcher: Kernel,
    segments: Sequence[Segment],
    searches: Sequence[ScoringParameters],
) -> dict[str, Any]:
    """spent: CPU milliseconds of each search."""
    touched, counts = [], []
    for search in searches:
        effort = searcher.measure(search, k=K)[2]
        touched.append(bytes_touched(segments, search, effort))
        counts.append((effort.blocks, effort.sketches, effort.records))
    mean_bytes, per_s = float(np.mean(touched)), bandwidth()
    blocks, sketches, closely = np.rint(np.mean(counts, axis=0)).astype(int)
    size = sum(map(len, segments))
    return {
        "kernel_cpu_ms_mean": round(float(np.mean(spent)), 3),
        "kernel_cpu_ms_p50": round(float(np.percentile(spent, 50)), 3),
        "kernel_cpu_ms_p99": round(float(np.percentile(spent, 99)), 3),
        "windows": sum(segment.blocks for segment in segments),
        "windows_looked_at_mean": int(blocks),
        "rows_sketched_mean": int(sketches),
        "rows_looked_at_closely_mean": int(closely),
        "floor_ms": round(mean_bytes / per_s * 1000, 3),
        "bytes_touched_mean": round(mean_bytes),
        "bandwidth_gb_per_s": round(per_s / 1e9, 1),
        "bytes_per_site": round(sum(map(bytes_of, segments)) / size, 1),
    }
