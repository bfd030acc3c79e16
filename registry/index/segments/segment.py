"""A segment: an immutable part of the index, as arrays that can lie in one file.

Rows lie in blocks of BLOCK_ROWS, each with bounds by which a search leaves out what can't
stand on its page. The kernel reads these arrays as they are: see `csrc/segment.h`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from registry.index.columns.hashes import find_hash
from registry.index.columns.rows import CROWDED, GROUPED, LOCAL, Rows
from registry.index.columns.runs import starts_of
from registry.index.segments.array_file import aligned_zeros
from registry.index.segments.inversion import inverted
from registry.ranking.encoders.vectors import DIMENSIONS, unpack_sites

AT_ONCE = 2_048
"""Rows to be unpacked at once, some whole blocks: so they stay in the cache."""

Floats = npt.NDArray[np.float32]
"""Arrays of whole numbers. Sums of products below 2^24 are exact, in whatever order."""


def unpacked(packed: npt.NDArray[np.uint8]) -> Floats:
    """Return shape (n, DIMENSIONS). packed: shape (n, SITE_BYTES)."""
    return unpack_sites(packed).astype(np.float32)


Number = TypeVar("Number", bound=np.generic)
Numbers = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
BLOCK_ROWS = 256
LEAD = 120
"""Leading dimensions of an embedding, which alone decide on most rows."""

CELLS, CELL_ROWS_MIN = 1024, 16
"""Groups of near places, so many at most, and rows in one."""

ROWS_MAX = 1 << 24
ALIKE = 0.98
"""Cosine of two blocks' directions from which on they share an axis; those of a topic do."""

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
        ("depth", "<u2"),
        ("changed_s", "<u4"),
        ("quality", "<u2"),
        ("place", "u1", (3, 3)),
        ("flags", "u1"),
    ]
)
_HAS_LOCAL, _HAS_OTHER = 1, 2
_ALONG_UNIT, _ACROSS_UNIT = 127, 255
_OFFSET = np.uint8(0x88)
"""Turns -8..7 into 0..15, in both halves of a byte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """n rows in w blocks, t terms, of which d are dense and f frequent.

    Columns of rows are filled up to whole blocks, but for site_ids.
    records: what is read of a row that is looked at closely; see RECORD.
    sketches: what is read of a row that its block's axis does not exclude: the first
    dimensions of its embedding, plus 8; 2^16 / its length; and where the others point,
    of an embedding of length 1, along those of the axis and across.
    along, across: cosine, rounded, and sine, rounded up, of the embedding with the axis.
    behind: how far what depth, quality and freshness score as of `as_of_s` is behind
    block_merit, the best of the block; in BEHIND_UNIT, rounded down, and MERIT_UNIT.
    cell_rows: the local rows of each group of near places, ascending, those of a group
    from its cell_starts. cell_centre, cell_reach: the cap of the sphere, in radians, that
    holds its places.
    containing: rows a term. starts: t + 1. postings: row << 8 | impact.
    column_of, frequent_of: a term's number in columns, shape (d, w * BLOCK_ROWS), and in
    block_starts, shape (f, w + 1), and block_max, shape (f, w); else -1. block_starts: where the
    postings of each block start, from the term's first; block_max: the greatest impact in
    each block. axes: shape (a, 128), each about the direction of the embeddings of some
    blocks; axis_lengths: shape (2, a), whole and without their first dimensions; axis_of:
    the number of a block's. block_spread: shape (2, w), the least and the greatest
    cosine of an embedding with it.
    grouped_rows: those that share their place, ascending. crowded_rows: those of a
    publisher with more places than an answer gives one, ascending; publishers: of these.
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
    block_starts: npt.NDArray[np.uint32]
    block_max: npt.NDArray[np.uint8]
    cell_starts: npt.NDArray[np.uint32]
    cell_rows: npt.NDArray[np.uint32]
    cell_centre: npt.NDArray[np.float32]
    cell_reach: npt.NDArray[np.float32]
    block_merit: npt.NDArray[np.uint16]
    block_flags: npt.NDArray[np.uint8]
    axes: npt.NDArray[np.int8]
    axis_lengths: npt.NDArray[np.float32]
    axis_of: npt.NDArray[np.int32]
    block_spread: npt.NDArray[np.float32]
    grouped_rows: npt.NDArray[np.uint32]
    representatives: npt.NDArray[np.int64]
    crowded_rows: npt.NDArray[np.uint32]
    publishers: npt.NDArray[np.int64]
    as_of_s: int

    def __len__(self) -> int:
        return len(self.site_ids)

    @property
    def blocks(self) -> int:
        return len(self.block_merit)

    def find_term(self, hash_: int) -> int | None:
        """Return the number of a term, or None where no row has it."""
        return find_hash(self.hashes, hash_)

    def postings_of(self, term: int) -> npt.NDArray[np.uint32]:
        """Return the rows of a term; none of a dense one, whose rows are in `columns`."""
        return self.postings[self.starts[term] : self.starts[term + 1]]


def build_segment(rows: Rows, merits: npt.NDArray[np.int64], as_of_s: int) -> Segment:
    """The rows in the order given; see `layout` for one that searches well.

    merits: what depth, quality and freshness score at that time, the latter only falling.
    Raises: ValueError if there are ROWS_MAX or more.
    """
    if len(rows) >= ROWS_MAX:
        raise ValueError(f"a segment holds less than {ROWS_MAX} rows")
    grouped = np.flatnonzero(rows.representatives)
    crowded = np.flatnonzero(rows.flags & CROWDED)
    return Segment(
        site_ids=rows.site_ids,
        records=_records(rows),
        **inverted(rows, BLOCK_ROWS),
        **_merits(merits),
        **_places(rows),
        **_meanings(rows),
        grouped_rows=grouped.astype(np.uint32),
        representatives=rows.representatives[grouped],
        crowded_rows=crowded.astype(np.uint32),
        publishers=rows.publishers[crowded],
        as_of_s=as_of_s,
    )


def _merits(merits: Numbers) -> dict[str, Any]:
    blocks = _padded(merits).reshape(-1, BLOCK_ROWS)
    best = -(-blocks.max(axis=1, initial=0) // MERIT_UNIT)
    behind = (best[:, None] * MERIT_UNIT - blocks) // BEHIND_UNIT
    return {
        "block_merit": best.astype(np.uint16),
        "behind": _padded(np.minimum(behind, 255).astype(np.uint8).reshape(-1)),
    }


def _padded(column: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Pad a column to whole blocks."""
    filled = aligned_zeros((-(-len(column) // BLOCK_ROWS) * BLOCK_ROWS,), column.dtype)
    filled[: len(column)] = column
    return filled


def _records(rows: Rows) -> npt.NDArray[np.void]:
    records = aligned_zeros((len(rows),), RECORD)
    flags = rows.flags & ~np.uint8(GROUPED)
    flags[np.flatnonzero(rows.representatives)] |= GROUPED
    records["rest"] = rows.embeddings[:, LEAD // 2 :] ^ _OFFSET
    little = np.ascontiguousarray(rows.vectors, "<i4").view(np.uint8)
    records["place"] = little.reshape(len(rows), 3, 4)[:, :, :3]
    records["flags"] = flags
    for name in ("depth", "quality", "changed_s"):
        records[name] = getattr(rows, name)
    return records


def _places(rows: Rows) -> dict[str, Any]:
    local = (rows.flags & LOCAL) != 0
    most = max(CELL_ROWS_MIN, -(-len(rows) // CELLS))
    own = np.flatnonzero(local)
    cells = divide(own, np.ascontiguousarray(rows.vectors[own].T), most)
    starts = starts_of(np.array([len(own) for own in cells], np.int64))
    cell_rows = np.concatenate([np.empty(0, np.int64), *map(np.sort, cells)])
    centre, reach = _caps(rows.vectors[cell_rows], starts)
    has = _padded(np.where(local, _HAS_LOCAL, _HAS_OTHER).astype(np.uint8))
    return {
        "cell_starts": starts.astype(np.uint32),
        "cell_rows": cell_rows.astype(np.uint32),
        "cell_centre": centre,
        "cell_reach": reach,
        "block_flags": np.bitwise_or.reduce(has.reshape(-1, BLOCK_ROWS), axis=1),
    }


def divide(numbers: Numbers, places: npt.NDArray[np.int32], most: int) -> list[Numbers]:
    """Rows in halves along the longest side, and these again, to at most so many.

    places: shape (3, n), of those rows.
    """
    if len(numbers) <= most:
        return [numbers] if len(numbers) else []
    side = int(np.argmax(np.ptp(places, axis=1)))
    middle = len(numbers) // 2
    order = np.argpartition(places[side], middle)
    return [
        cell
        for half in (order[:middle], order[middle:])
        for cell in divide(numbers[half], places[:, half], most)
    ]


def _caps(
    vectors: npt.NDArray[np.int32], starts: Numbers
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Centre of each group of places, and its reach in radians.

    starts: of the groups, of which none is empty, and the end of the last.
    """
    if len(starts) == 1:
        return np.empty((0, 3), np.float32), np.empty(0, np.float32)
    places = vectors.astype(np.float64)
    places /= np.maximum(np.sqrt(_squares(places)), 1)[:, None]
    middle = np.add.reduceat(places, starts[:-1])
    # Places all around the globe have no middle; any centre reaches them all.
    middle[_squares(middle) < 1e-12] = (0, 0, 1)
    centre = (middle / np.sqrt(_squares(middle))[:, None]).astype(np.float32)
    unit = centre.astype(np.float64)
    unit /= np.sqrt(_squares(unit))[:, None]
    inner = np.einsum("ij,ij->i", places, np.repeat(unit, np.diff(starts), axis=0))
    farthest = np.minimum.reduceat(inner, starts[:-1])
    return centre, np.arccos(np.clip(farthest, -1, 1)).astype(np.float32)


def _meanings(rows: Rows) -> dict[str, Any]:
    blocks = -(-len(rows) // BLOCK_ROWS)
    axes: list[npt.NDArray[np.int8]] = []
    axis_of = np.zeros(blocks, np.int32)
    spread = np.zeros((2, blocks), np.float32)
    sketches = aligned_zeros((blocks * BLOCK_ROWS,), SKETCH)
    along = aligned_zeros((blocks * BLOCK_ROWS,), np.int8)
    across = aligned_zeros((blocks * BLOCK_ROWS,), np.uint8)
    for own in _pieces(len(rows)):
        some = slice(own.start // BLOCK_ROWS, -(-own.stop // BLOCK_ROWS))
        vectors = unpacked(rows.embeddings[own]).reshape(
            some.stop - some.start, -1, DIMENSIONS
        )
        middles = _middles(vectors, rows.reciprocals[own])
        axis_of[some] = [_number_of_axis(middle, axes) for middle in middles]
        axis = np.array([axes[number] for number in axis_of[some]], np.float32)
        lengths = np.maximum(np.sqrt(_squares(vectors)), 1)
        cosines, sines = _split(vectors, lengths, axis)
        beyond = _split(vectors[:, :, LEAD:], lengths, axis[:, LEAD:])
        along[own], across[own] = _rounded(cosines, sines)
        sketches["rest_along"][own], sketches["rest_across"][own] = _rounded(*beyond)
        spread[:, some] = cosines.min(axis=1), cosines.max(axis=1)
    sketches["lead"][: len(rows)] = rows.embeddings[:, : LEAD // 2] ^ _OFFSET
    sketches["reciprocal"][: len(rows)] = rows.reciprocals
    return {
        "sketches": sketches,
        "along": along,
        "across": across,
        **_axes(axes),
        "axis_of": axis_of,
        "block_spread": spread,
    }


def _pieces(count: int) -> Iterator[slice]:
    """Rows of some whole blocks each, and those that are left."""
    whole = count - count % BLOCK_ROWS
    for start in range(0, whole, AT_ONCE):
        yield slice(start, min(start + AT_ONCE, whole))
    if whole < count:
        yield slice(whole, count)


def _middles(vectors: Floats, reciprocals: npt.NDArray[np.uint16]) -> Doubles:
    """Return a vector about the direction of each block. vectors: shape (blocks, rows, DIMENSIONS)."""
    # Halved, so that no sum of so many is beyond what floats tell exactly.
    weights = (reciprocals >> 1).astype(np.float32).reshape(len(vectors), 1, -1)
    middles: Doubles = (weights @ vectors)[:, 0].astype(np.float64)
    return middles


def _number_of_axis(
    middle: npt.NDArray[np.float64], axes: list[npt.NDArray[np.int8]]
) -> int:
    """Return the number of the last axis if that will do, or of another one."""
    if axes:
        last = axes[-1].astype(np.float64)
        lengths = math.sqrt(float(middle @ middle) * float(last @ last))
        if float(middle @ last) > ALIKE * lengths:
            return len(axes) - 1
    most = max(float(np.abs(middle).max()), 1.0)
    axes.append(np.rint(127 * middle / most).astype(np.int8))
    return len(axes) - 1


def _axes(axes: list[npt.NDArray[np.int8]]) -> dict[str, Any]:
    numbers = np.array(axes, np.int8).reshape(-1, DIMENSIONS)
    both = (numbers.astype(np.float32), numbers[:, LEAD:].astype(np.float32))
    lengths = np.sqrt([_squares(part) for part in both])
    return {"axes": numbers, "axis_lengths": lengths.astype(np.float32)}


def _split(vectors: Floats, lengths: Doubles, axes: Floats) -> tuple[Doubles, Doubles]:
    """Return, of vectors at length 1, the part along their axis and the length across.

    lengths: of the vectors, or of longer ones of which they are parts.
    """
    inner = (vectors @ axes[:, :, None])[:, :, 0].astype(np.float64)
    of_axes = np.maximum(_squares(axes), 1)[:, None]
    scale = lengths * np.sqrt(of_axes)
    return inner / scale, np.sqrt(_squares(vectors) * of_axes - inner**2) / scale


def _squares(vectors: Floats | Doubles) -> Doubles:
    """Return the squares of the lengths."""
    squares: Doubles = np.einsum("...i,...i", vectors, vectors).astype(np.float64)
    return squares


def _rounded(
    along: Doubles, across: Doubles
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.uint8]]:
    """The nearest, and no less."""
    near = np.rint(np.clip(along, -1, 1) * _ALONG_UNIT).astype(np.int8)
    most = np.ceil(np.minimum(across + 1e-6, 1) * _ACROSS_UNIT).astype(np.uint8)
    return near.reshape(-1), most.reshape(-1)
