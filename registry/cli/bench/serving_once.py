"""A process that only maps segments and answers: what the kernel takes, printed as JSON.

Whoever makes the segments needs more memory, so the figures of serving are taken here.
"""

import json
import pickle
import sys
from pathlib import Path

import numpy as np

from registry.cli.bench.kernel_figures import (
    QUERIES,
    SEGMENTS,
    K,
    compiled_kernel,
    constants_of,
    kernel_figures,
    search_first,
)
from registry.cli.bench.turns import milliseconds_in_turns
from registry.index.segments.part import Part
from registry.index.segments.segment import WINDOW, Segment
from registry.index.segments.segment_file import SEGMENT_ARRAYS, map_segment

_PAGE = 4_096
_STATUS = Path("/proc/self/status")


def main(folder: str) -> None:
    queries = pickle.loads((Path(folder) / QUERIES).read_bytes())  # noqa: S301 — the parent's
    segments = [map_segment(path)[0] for path in sorted(Path(folder).glob(SEGMENTS))]
    for one in segments:
        _touch(one)
    bound = compiled_kernel().bind([Part(one, _alive(one)) for one in segments])
    sites = sum(map(len, segments))
    searches = [constants_of(bound, sites, one) for one in queries]
    for search in searches:
        bound.search(search, k=K)
    serving_mb = _peak_mb()
    (spent,) = milliseconds_in_turns((search_first(bound), searches))
    found = kernel_figures(spent, bound, segments, searches)
    print(json.dumps({**found, "serving_mb": serving_mb}))


def _touch(segment: Segment) -> None:
    """As who serves does: all pages count as its memory."""
    for name in SEGMENT_ARRAYS:
        getattr(segment, name).reshape(-1).view(np.uint8)[::_PAGE].max(initial=0)


def _alive(segment: Segment) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    rows = np.arange(segment.windows * WINDOW)
    return (rows < len(segment)).astype(np.uint8)


def _peak_mb() -> int:
    """Not from `getrusage`, which tells what the parent had before."""
    lines = _STATUS.read_text().splitlines()
    (told,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(told.split()[1]) // 1024


if __name__ == "__main__":
    main(sys.argv[1])
