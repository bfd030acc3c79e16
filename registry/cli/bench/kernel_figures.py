"""What the kernel takes: CPU of a search, what it looks at, and bytes."""

import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from registry.cli.bench.search_cost import bandwidth, bytes_of, bytes_touched
from registry.cli.bench.synthetic import NOW, make_registry
from registry.cli.bench.synthetic_queries import make_queries
from registry.cli.output import tell
from registry.compiled.library import find_library
from registry.index.columns.rows import hash_word
from registry.index.query.constants import Constants, Query, make_constants
from registry.index.query.kernel import Bound, Kernel
from registry.index.segments.levels import make_level
from registry.index.segments.part import Part
from registry.index.segments.segment import Segment
from registry.ranking.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.ranking.relevance import idf_milli

K = 20
SEGMENT_SITES = 1_000_000  # whole chunks; a segment holds less than 2^24


def compiled_kernel() -> Kernel:
    """Raises: click.ClickException where there is none."""
    library = find_library()
    if library is None:
        compile_it = f"{Path(sys.executable).name} -m registry.compiled.compile"
        raise click.ClickException(f"there is no kernel: {compile_it}")
    return Kernel(library)


def constants_of(bound: Bound, sites: int, query: Query) -> Constants:
    shares = query.request.weights_bp or dict.fromkeys(query.request.terms, FULL)
    counts = bound.containing([hash_word(term) for term in shares])
    weights = {
        term: idf_milli(sites, count) * share // FULL
        for (term, share), count in zip(shares.items(), counts, strict=True)
    }
    return make_constants(query, weights, NOW, DEFAULT_POLICY)


def measure_segments(sites: int, queries: int) -> dict[str, Any]:
    """Each segment's sites are forgotten once it is made."""
    kernel, registry = compiled_kernel(), make_registry()
    encoder = load_encoder(DEFAULT_POLICY)
    parts: list[Part] = []
    asked: Sequence[Query] = ()
    spent = 0.0
    for start in range(0, sites, SEGMENT_SITES):
        rows = registry.rows(start, min(sites, start + SEGMENT_SITES))
        asked = asked or make_queries(registry, rows, queries, encoder, DEFAULT_POLICY)
        started = time.process_time()
        parts.append(make_level(rows, DEFAULT_POLICY).part)
        spent += time.process_time() - started
        tell(f"{start + len(rows)} sites made, {time.process_time():.0f} s of CPU")
    bound = kernel.bind(parts)
    searches = [constants_of(bound, sites, one) for one in asked]
    segments = [part.segment for part in parts]
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "sites": sites,
        "queries": queries,
        "segments": len(segments),
        **kernel_figures(bound, segments, searches, spent),
        "process_mb_peak": round(resident / 1024),
    }


def kernel_figures(
    bound: Bound,
    segments: Sequence[Segment],
    searches: Sequence[Constants],
    build_cpu_s: float,
) -> dict[str, Any]:
    for one in searches[:K]:
        bound.search(one, k=K)
    spent, touched, looked_at = [], [], []
    for one in searches:
        started = time.thread_time()
        bound.search(one, k=K)
        spent.append((time.thread_time() - started) * 1000)
        effort = bound.measure(one, k=K)[2]
        touched.append(bytes_touched(segments, one, effort))
        looked_at.append((effort.windows, effort.sketches, effort.records))
    mean_bytes, per_s = float(np.mean(touched)), bandwidth()
    windows, sketches, closely = np.rint(np.mean(looked_at, axis=0)).astype(int)
    size = sum(map(len, segments))
    return {
        "kernel_cpu_ms_mean": round(float(np.mean(spent)), 3),
        "kernel_cpu_ms_p50": round(float(np.percentile(spent, 50)), 3),
        "kernel_cpu_ms_p99": round(float(np.percentile(spent, 99)), 3),
        "windows": sum(one.windows for one in segments),
        "windows_looked_at_mean": int(windows),
        "rows_sketched_mean": int(sketches),
        "rows_looked_at_closely_mean": int(closely),
        "floor_ms": round(mean_bytes / per_s * 1000, 3),
        "bytes_touched_mean": round(mean_bytes),
        "bandwidth_gb_per_s": round(per_s / 1e9, 1),
        "bytes_per_site": round(sum(map(bytes_of, segments)) / size, 1),
        "build_cpu_s": round(build_cpu_s, 1),
    }
