"""A segment as a file, with the profiles of its rows; and the rows, for a builder."""

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

import numpy as np

from registry.index.columns.rows import Bodies, Rows
from registry.index.columns.runs import Runs, no_source, starts_of
from registry.index.segments.array_file import (
    AdoptedFile,
    Array,
    ArrayFile,
    ArraySource,
    FileDamaged,
    MappedFile,
    map_file,
)
from registry.index.segments.segment import RECORD, SKETCH, Segment

SEGMENT_ARRAYS = tuple(
    column.name for column in fields(Segment) if column.name != "as_of_s"
)
_ROWS = tuple(
    column.name
    for column in fields(Rows)
    if column.name not in {"hashes", "bodies", "runs"}
)


def segment_arrays(
    segment: Segment, bodies: Runs[np.uint8], adopted: AdoptedFile | None = None
) -> ArrayFile:
    """adopted: the file in which the bodies lie, if the segment is to be that file."""
    content: ArraySource = bodies
    starts = starts_of(bodies.lengths)[:-1]
    if adopted is not None:
        content, starts = adopted, bodies.starts
    arrays: dict[str, ArraySource] = {"body_content": content, "body_starts": starts}
    arrays["body_lengths"] = bodies.lengths
    arrays |= {name: getattr(segment, name) for name in SEGMENT_ARRAYS}
    return ArrayFile(arrays, {"as_of_s": segment.as_of_s})


def map_segment(path: Path) -> tuple[Segment, Bodies]:
    """Raises: FileDamaged, OSError."""
    file = map_file(path)
    arrays = _chosen(path, file, SEGMENT_ARRAYS)
    arrays["records"] = arrays["records"].view(RECORD)
    arrays["sketches"] = arrays["sketches"].view(SKETCH)
    segment = Segment(**arrays, as_of_s=file.numbers["as_of_s"])
    bodies = Runs(
        arrays=(file.arrays["body_content"],),
        source=no_source(len(segment)),
        starts=file.arrays["body_starts"],
        lengths=file.arrays["body_lengths"],
    )
    return segment, Bodies(bodies)


def row_arrays(rows: Rows, adopted: AdoptedFile | None = None) -> ArrayFile:
    """Return the arrays of rows without profiles.

    adopted: the file in which the hashes lie, as above.
    """
    arrays: dict[str, ArraySource] = {"hashes": adopted or rows.hashes}
    arrays |= {name: getattr(rows, name) for name in _ROWS}
    if rows.runs is not None:
        arrays["runs"] = rows.runs
    return ArrayFile(arrays, {})


def map_rows(path: Path, bodies: Bodies) -> Rows:
    """Raises: FileDamaged, OSError."""
    file = map_file(path)
    arrays = _chosen(path, file, ("hashes", *_ROWS))
    return Rows(**arrays, bodies=bodies, runs=file.arrays.get("runs"))


def _chosen(path: Path, file: MappedFile, names: Iterable[str]) -> dict[str, Array]:
    try:
        return {name: file.arrays[name] for name in names}
    except KeyError as error:
        raise FileDamaged(f"{path.name} has no {error}") from error
