"""A builder from the files of the one before, which ended somehow.

What lies there is what the same code, policy and database came to. Whether the database
is the same is for others to tell.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from registry.index.building.builder import Builder, generation_of
from registry.index.building.manifest import IndexManifest
from registry.index.building.publishers import groups_in
from registry.index.columns.content import digests_of
from registry.index.columns.rows import CROWDED, Bodies, Rows, rows_of
from registry.index.query.sample import hash_sites
from registry.index.segments.array_file import FileDamaged, map_file
from registry.index.segments.levels import Level, Sizes, level_of
from registry.index.segments.segment import Segment
from registry.index.segments.segment_file import map_rows, map_segment
from registry.index.sources import digest_of_code
from registry.ranking.policy import Policy
from registry.ranking.profile import parse_profile
from registry.records.generation import Generation


def is_current_code(manifest: IndexManifest, policy: Policy) -> bool:
    return (manifest.code, manifest.policy) == (digest_of_code(), policy.digest)


def recovered(
    folder: Path, manifest: IndexManifest, policy: Policy, sizes: Sizes
) -> Builder:
    """Raises: FileDamaged, OSError."""
    levels = levels_in(folder, manifest, policy)
    builder = Builder(
        policy=policy,
        levels=levels,
        groups=groups_in(levels, policy),
        generation=_generation_in(levels, policy),
        sizes=sizes,
    )
    if builder.index.generation != manifest.generation:
        raise FileDamaged(f"{manifest.state} is not of this index")
    return builder


def _generation_in(levels: Sequence[Level], policy: Policy) -> Generation:
    both = [(level.rows, level.living) for level in levels]
    return generation_of(
        levels,
        np.concatenate([own.site_ids[numbers] for own, numbers in both]),
        np.concatenate(
            [digests_of(Bodies(own.bodies.runs.take(n))) for own, n in both]
        ),
        policy,
    )


def levels_in(
    folder: Path, manifest: IndexManifest, policy: Policy
) -> tuple[Level, ...]:
    """Open what the manifest names, of each part the rows that live.

    Raises: FileDamaged, OSError.
    """
    alive = map_file(folder / manifest.state).arrays
    levels = [level_at(folder, name, manifest, policy) for name in manifest.parts]
    return tuple(
        level.without(np.flatnonzero(alive[name][: len(level.rows)] == 0))
        for name, level in zip(manifest.parts, levels, strict=True)
    )


def level_at(folder: Path, name: str, manifest: IndexManifest, policy: Policy) -> Level:
    """Open a part of the index with all rows alive. Raises: FileDamaged, OSError."""
    segment, bodies = map_segment(folder / name)
    if name in manifest.rows:
        rows = map_rows(folder / manifest.rows[name], bodies)
    else:
        rows = _read_again(segment, bodies, policy)
    if not np.array_equal(rows.site_ids, segment.site_ids):
        raise FileDamaged(f"{name} has other rows")
    level = level_of(rows, segment)
    if name in manifest.members:
        level = _with_members(level, folder / manifest.members[name])
    return level


def _read_again(segment: Segment, bodies: Bodies, policy: Policy) -> Rows:
    try:
        profiles = [parse_profile(bodies[row]) for row in range(len(segment))]
    except msgspec.DecodeError as error:
        raise FileDamaged("a segment has profiles that are none") from error
    rows = rows_of(profiles, policy)
    representatives = np.zeros(len(rows), np.int64)
    representatives[segment.grouped_rows] = segment.representatives
    flags = rows.flags.copy()
    flags[segment.crowded_rows] |= CROWDED
    return replace(rows, representatives=representatives, flags=flags, bodies=bodies)


def _with_members(level: Level, path: Path) -> Level:
    segment, bodies = map_segment(path)
    rows = level.rows.take(_rows_at(segment, level)).without_bodies()
    members = level_of(replace(rows, bodies=bodies), segment)
    cutoff = int(hash_sites(segment.site_ids).max())
    return replace(level, members=members, cutoff=cutoff)


def _rows_at(
    segment: Segment, level: Level
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The rows of the level, in the order of the segment's."""
    numbers = np.searchsorted(level.by_id.keys, segment.site_ids)
    return level.by_id.rows[numbers].astype(np.int64)
