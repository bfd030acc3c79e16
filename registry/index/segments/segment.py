"""A segment: an immutable part of the index, as arrays that can lie in one file.

Rows lie in windows of WINDOW, each with bounds by which a search leaves out what can't
stand on its page. The kernel reads these arrays as they are: see `csrc/segment.h`.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from registry.index.columns.directions import directions
from registry.index.columns.rows import GROUPED, LOCAL, Rows, find_hash
from registry.index.columns.runs import starts_of
from registry.index.segments.array_file import aligned_zeros
from registry.index.segments.inversion import inverted
from registry.ranking.vectors import DIMENSIONS

Number = TypeVar("Number", bound=np.generic)
Numbers = npt.NDArray[np.int64]
WINDOW = 256
LEAD = 56
"""Leading dimensions of an embedding, which alone decide on most rows."""

CELLS, CELL_ROWS_MIN = 1024, 16
"""Groups of near places, so many at most, and rows in one."""

ROWS_MAX = 1 << 24
MERIT_UNIT, BEHIND_UNIT = 1024, 65_536
SKETCH = np.dtype(
    [
        ("lead", "u1", LEAD // 2),
        ("reciprocal", "<u2"),
        ("rest_along", "i1"),
        ("rest_across", "u1"),
    ]
)
RECORD = np.dtype(
    [
        ("rest", "u1", (DIMENSIONS - LEAD) // 2),
        ("changed_s", "<u4"),
        ("depth", "<u2"),
        ("quality", "<u2"),
        ("place", "u1", (3, 3)),
        ("flags", "u1"),
        ("unused", "u1", 10),
    ]
)
_HAS_LOCAL, _HAS_OTHER = 1, 2
_ALONG_UNIT, _ACROSS_UNIT = 127, 255
_OFFSET = np.uint8(0x88)
"""Turns -8..7 into 0..15, in both halves of a byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """n rows in w windows, t terms, of which d are dense and f frequent.

    Columns of rows are filled up to whole windows, but for site_ids.
    records: what is read of a row that is looked at closely; see RECORD.
    sketches: what is read of a row that its window's axis does not exclude: the first
    dimensions of its embedding, plus 8; 2^16 / its length; and where the others point,
    of an embedding of length 1, along those of the axis and across.
    along, across: cosine, rounded, and sine, rounded up, of the embedding with the axis.
    behind: how far what depth, quality and freshness score as of `as_of_s` is behind
    window_merit, the best of the window; in BEHIND_UNIT, rounded down, and MERIT_UNIT.
    cell_rows: the local rows of each group of near places, ascending, those of a group
    from its cell_starts. cell_centre, cell_reach: the cap of the sphere, in radians, that
    holds its places.
    containing: rows a term. starts: t + 1. postings: row << 8 | impact.
    column_of, frequent_of: a term's number in columns, shape (d, w * WINDOW), and in
    blocks, shape (f, w + 1), and peaks, shape (f, w); else -1. blocks: where the
    postings of each window start, from the term's first; peaks: the greatest impact in
    each window. window_axis: shape (w, 128),
    about the direction of the embeddings; window_spread: shape (4, w), its length, that
    without its first dimensions, and the least and greatest cosine of an embedding.
    grouped_rows: those that share their place, ascending.
    """

    site_ids: npt.NDArray[np.int64]
    records: npt.NDArray[np.void]
    sketches: npt.NDArray[np.void]
    along: npt.NDArray[np.int8]
    across: npt.NDArray[np.uint8]
    behind: npt.NDArray[np.uint8]
    hashes: npt.NDArray[np.uint64]
    containing: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.int64]
    postings: npt.NDArray[np.uint32]
    column_of: npt.NDArray[np.int32]
    frequent_of: npt.NDArray[np.int32]
    columns: npt.NDArray[np.uint8]
    blocks: npt.NDArray[np.uint32]
    peaks: npt.NDArray[np.uint8]
    cell_starts: npt.NDArray[np.uint32]
    cell_rows: npt.NDArray[np.uint32]
    cell_centre: npt.NDArray[np.float32]
    cell_reach: npt.NDArray[np.float32]
    window_merit: npt.NDArray[np.uint16]
    window_flags: npt.NDArray[np.uint8]
    window_axis: npt.NDArray[np.int8]
    window_spread: npt.NDArray[np.float32]
    grouped_rows: npt.NDArray[np.uint32]
    grouped_leaders: npt.NDArray[np.int64]
    as_of_s: int

    def __len__(self) -> int:
        return len(self.site_ids)

    @property
    def windows(self) -> int:
        return len(self.window_merit)

    def find_term(self, hash_: int) -> int | None:
        """Its number, or None where no row says it."""
        return find_hash(self.hashes, hash_)

    def postings_of(self, term: int) -> npt.NDArray[np.uint32]:
        """None of a dense term: its rows stand in `columns`."""
        return self.postings[self.starts[term] : self.starts[term + 1]]


def build_segment(rows: Rows, merits: npt.NDArray[np.int64], as_of_s: int) -> Segment:
    """The rows in the order given; see `layout` for one that searches well.

    merits: what depth, quality and freshness score at that time, the latter only falling.
    Raises: ValueError if there are ROWS_MAX or more.
    """
    if len(rows) >= ROWS_MAX:
        raise ValueError(f"a segment holds less than {ROWS_MAX} rows")
    grouped = np.flatnonzero(rows.leaders)
    return Segment(
        site_ids=rows.site_ids,
        records=_records(rows),
        **inverted(rows, WINDOW),
        **_merits(merits),
        **_places(rows),
        **_meanings(rows),
        grouped_rows=grouped.astype(np.uint32),
        grouped_leaders=rows.leaders[grouped],
        as_of_s=as_of_s,
    )


def _merits(merits: Numbers) -> dict[str, Any]:
    windows = _padded(merits).reshape(-1, WINDOW)
    best = -(-windows.max(axis=1, initial=0) // MERIT_UNIT)
    behind = (best[:, None] * MERIT_UNIT - windows) // BEHIND_UNIT
    return {
        "window_merit": best.astype(np.uint16),
        "behind": _padded(np.minimum(behind, 255).astype(np.uint8).reshape(-1)),
    }


def _padded(column: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """To whole windows."""
    filled = aligned_zeros((-(-len(column) // WINDOW) * WINDOW,), column.dtype)
    filled[: len(column)] = column
    return filled


def _records(rows: Rows) -> npt.NDArray[np.void]:
    records = aligned_zeros((len(rows),), RECORD)
    flags = rows.flags & ~np.uint8(GROUPED)
    flags[np.flatnonzero(rows.leaders)] |= GROUPED
    records["rest"] = rows.embeddings[:, LEAD // 2 :] ^ _OFFSET
    little = np.ascontiguousarray(rows.vectors, "<i4").view(np.uint8)
    records["place"] = little.reshape(len(rows), 3, 4)[:, :, :3]
    records["flags"] = flags
    for name in ("depth", "quality", "changed_s"):
        records[name] = getattr(rows, name)
    return records


# ---- bounds of windows ----


def _places(rows: Rows) -> dict[str, Any]:
    local = (rows.flags & LOCAL) != 0
    most = max(CELL_ROWS_MIN, -(-len(rows) // CELLS))
    cells = divide(np.flatnonzero(local), rows.vectors, most)
    sizes = np.array([len(own) for own in cells], np.int64)
    cell_rows = np.concatenate([np.empty(0, np.int64), *map(np.sort, cells)])
    cell = np.repeat(np.arange(len(cells)), sizes)
    centre, reach = _caps(rows.vectors[cell_rows], cell, len(cells))
    has = _padded(np.where(local, _HAS_LOCAL, _HAS_OTHER).astype(np.uint8))
    return {
        "cell_starts": starts_of(sizes).astype(np.uint32),
        "cell_rows": cell_rows.astype(np.uint32),
        "cell_centre": centre,
        "cell_reach": reach,
        "window_flags": np.bitwise_or.reduce(has.reshape(-1, WINDOW), axis=1),
    }


def divide(
    numbers: Numbers, vectors: npt.NDArray[np.int32], most: int
) -> list[Numbers]:
    """Rows in halves along the longest side, and these again, to at most so many."""
    if len(numbers) <= most:
        return [numbers] if len(numbers) else []
    own = vectors[numbers]
    side = int(np.argmax(np.ptp(own, axis=0)))
    middle = len(numbers) // 2
    halves = np.argpartition(own[:, side], middle)
    return [
        *divide(numbers[halves[:middle]], vectors, most),
        *divide(numbers[halves[middle:]], vectors, most),
    ]


def _caps(
    vectors: npt.NDArray[np.int32], groups: npt.NDArray[Any], count: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Centre of each group of places, and its reach in radians."""
    places = vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1)[:, None]
    # Not `at`, which holds the interpreter from a builder's other threads.
    order = np.argsort(groups, kind="stable")
    present, starts = np.unique(groups[order], return_index=True)
    middle = np.zeros((count, 3))
    middle[present] = np.add.reduceat(places[order], starts)
    # Places all around the globe have no middle; any centre reaches them all.
    middle[np.linalg.norm(middle, axis=1) < 1e-6] = (0, 0, 1)
    centre = (middle / np.linalg.norm(middle, axis=1)[:, None]).astype(np.float32)
    unit = centre.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    inner = np.einsum("ij,ij->i", places, unit[groups])
    reach = np.zeros(count)
    away = np.arccos(np.clip(inner, -1, 1))
    reach[present] = np.maximum.reduceat(away[order], starts)
    return centre, reach.astype(np.float32)


def _meanings(rows: Rows) -> dict[str, Any]:
    windows = -(-len(rows) // WINDOW)
    axis = np.zeros((windows, DIMENSIONS), np.int8)
    spread = np.zeros((4, windows), np.float32)
    sketches = aligned_zeros((windows * WINDOW,), SKETCH)
    along = aligned_zeros((windows * WINDOW,), np.int8)
    across = aligned_zeros((windows * WINDOW,), np.uint8)
    for window in range(windows):
        start = window * WINDOW
        units = directions(rows.embeddings[start : start + WINDOW])
        own = slice(start, start + len(units))
        axis[window] = _axis(units)
        cosines, sines = _split(units, axis[window])
        beyond = _split(units[:, LEAD:], axis[window, LEAD:])
        along[own], across[own] = _rounded(cosines, sines)
        sketches["rest_along"][own], sketches["rest_across"][own] = _rounded(*beyond)
        lengths = [np.linalg.norm(axis[window, first:] * 1.0) for first in (0, LEAD)]
        spread[:, window] = *lengths, cosines.min(), cosines.max()
    sketches["lead"][: len(rows)] = rows.embeddings[:, : LEAD // 2] ^ _OFFSET
    sketches["reciprocal"][: len(rows)] = rows.reciprocals
    return {
        "sketches": sketches,
        "along": along,
        "across": across,
        "window_axis": axis,
        "window_spread": spread,
    }


def _axis(units: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """About their direction."""
    middle = units.sum(axis=0)
    axis: npt.NDArray[np.int8] = np.rint(
        127 * middle / max(np.abs(middle).max(), 1e-6)
    ).astype(np.int8)
    return axis


def _split(
    vectors: npt.NDArray[np.float32], axis: npt.NDArray[np.int8]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """The part of each along the axis, and the length of what is across it."""
    direction = axis.astype(np.float32)
    direction /= max(float(np.linalg.norm(direction)), 1)
    along = vectors @ direction
    across = np.linalg.norm(vectors - along[:, None] * direction, axis=1)
    return along, across


def _rounded(
    along: npt.NDArray[np.float32], across: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.uint8]]:
    """The nearest, and no less."""
    near = np.rint(np.clip(along, -1, 1) * _ALONG_UNIT).astype(np.int8)
    most = np.ceil(np.minimum(across + 1e-6, 1) * _ACROSS_UNIT).astype(np.uint8)
    return near, most
