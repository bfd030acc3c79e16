"""What the kernel takes: CPU of a search, what it looks at, and bytes."""

import json
import pickle
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from registry.cli.bench.scratch import scratch_folder
from registry.cli.bench.search_cost import bandwidth, bytes_of, bytes_touched
from registry.cli.bench.synthetic import NOW, make_registry
from registry.cli.bench.synthetic_queries import make_queries
from registry.cli.output import tell
from registry.compiled.library import find_library
from registry.index.columns.rows import hash_word
from registry.index.query.constants import Constants, Query, make_constants
from registry.index.query.kernel import Bound, Kernel
from registry.index.segments.array_file import write_file
from registry.index.segments.levels import make_level
from registry.index.segments.segment import Segment
from registry.index.segments.segment_file import told_of
from registry.ranking.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.ranking.relevance import idf_milli

K = 20
SEGMENT_SITES = 1_000_000  # whole chunks; a segment holds less than 2^24
SEGMENTS, QUERIES = "*.segment", "queries"
"""Files of who only answers."""


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
    """Each segment's sites are forgotten once it is written; another process answers.

    serving_mb: what that process takes at most, the mapped files with it.
    making_mb: what this one took.
    """
    with scratch_folder() as folder:
        build_cpu_s = _write_segments(folder, sites, queries)
        command = [sys.executable, "-m", "registry.cli.bench.serving_once"]
        run = subprocess.run(  # noqa: S603 — this Python
            [*command, str(folder)], stdout=subprocess.PIPE, check=True
        )
        segments = len(list(folder.glob(SEGMENTS)))
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "sites": sites,
        "queries": queries,
        "segments": segments,
        **json.loads(run.stdout),
        "build_cpu_s": round(build_cpu_s, 1),
        "making_mb": resident // 1024,
    }


def _write_segments(folder: Path, sites: int, queries: int) -> float:
    """And the requests. Gives what building the segments took, seconds of CPU."""
    registry, encoder = make_registry(), load_encoder(DEFAULT_POLICY)
    spent = 0.0
    for number, start in enumerate(range(0, sites, SEGMENT_SITES)):
        rows = registry.rows(start, min(sites, start + SEGMENT_SITES))
        if not start:
            asked = make_queries(registry, rows, queries, encoder, DEFAULT_POLICY)
            (folder / QUERIES).write_bytes(pickle.dumps(asked))
        started = time.process_time()
        level = make_level(rows, DEFAULT_POLICY)
        spent += time.process_time() - started
        file = told_of(level.part.segment, level.rows.bodies.runs)
        write_file(folder / SEGMENTS.replace("*", f"{number:04}"), file)
        tell(f"{start + len(rows)} sites made, {time.process_time():.0f} s of CPU")
    return spent


def search_first(bound: Bound) -> Callable[[Constants], object]:
    """Of what is measured: the first K places."""
    return partial(bound.search, k=K)


def kernel_figures(
    spent: Sequence[float],
    bound: Bound,
    segments: Sequence[Segment],
    searches: Sequence[Constants],
) -> dict[str, Any]:
    """spent: CPU milliseconds of each search."""
    touched, looked_at = [], []
    for one in searches:
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
    }
