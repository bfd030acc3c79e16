"""Which of the sites of a publisher share a place, told in rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from registry.index.building.voices import Voice, leaders_of, voices_of
from registry.index.columns.rows import Rows, join
from registry.index.segments.levels import Level
from registry.ranking.policy import Policy

Numbers = npt.NDArray[np.int64]


def with_leaders(
    rows: Rows, known: Mapping[int, Voice], policy: Policy
) -> tuple[Rows, dict[int, Voice]]:
    """The rows with their leaders, and the voices of publishers with several sites.

    rows: all the sites of each publisher that has any among them.
    """
    several = _of_several(rows)
    of = rows.publishers[several].tolist()
    voices = voices_of(of, _said(rows, several), known, policy)
    first = np.array(leaders_of(of, voices), np.int64)
    leaders = np.zeros(len(rows), np.int64)
    led = rows.site_ids[several[first]]
    leading, followers = np.unique(led, return_counts=True)
    leaders[several] = np.where(np.isin(led, leading[followers > 1]), led, 0)
    return replace(rows, leaders=leaders), voices


def _of_several(rows: Rows) -> Numbers:
    """The rows of publishers with several sites, in the order of the sites' ids."""
    by_publisher = np.argsort(rows.publishers)
    publishers = rows.publishers[by_publisher]
    is_next = np.append(publishers[1:] == publishers[:-1], False)[: len(rows)]
    several: Numbers = by_publisher[is_next | np.roll(is_next, 1)]
    by_id: Numbers = several[np.argsort(rows.site_ids[several])]
    return by_id


def voices_in(levels: Sequence[Level], policy: Policy) -> Mapping[int, Voice]:
    """Of the publishers with several sites that live, whatever level they are in."""
    living = [level.living for level in levels]
    every = np.concatenate(
        [one.rows.publishers[own] for one, own in zip(levels, living, strict=True)]
    )
    publishers, counts = np.unique(every, return_counts=True)
    several = publishers[counts > 1]
    rows = join([one.rows.take(one.of_publishers(several)) for one in levels])
    return with_leaders(rows, {}, policy)[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrouped:
    """fresh: the rows that are to stand beside the levels."""

    levels: tuple[Level, ...]
    fresh: Rows
    voices: Mapping[int, Voice]


def regroup(
    levels: Sequence[Level],
    fresh: Rows,
    publishers: Numbers,
    voices: Mapping[int, Voice],
    policy: Policy,
) -> Regrouped:
    """Find anew who of these publishers' sites shares a place with whom.

    A site of a level whose leader has changed goes beside it.
    """
    resting = [level.of_publishers(publishers) for level in levels]
    near = np.isin(fresh.publishers, publishers)
    before = join(
        [
            *(one.rows.take(own) for one, own in zip(levels, resting, strict=True)),
            fresh.take(np.flatnonzero(near)),
        ]
    )
    after, spoken = with_leaders(before, voices, policy)
    moves = before.leaders != after.leaders
    ends = np.cumsum([len(own) for own in resting], dtype=np.int64)
    moving = np.split(moves, ends)[:-1]
    moves[sum(map(len, resting)) :] = True
    return Regrouped(
        levels=tuple(
            level.without(own[leaves])
            for level, own, leaves in zip(levels, resting, moving, strict=True)
        ),
        fresh=join(
            [fresh.take(np.flatnonzero(~near)), after.take(np.flatnonzero(moves))]
        ),
        voices=_heard(voices, publishers, spoken),
    )


def _heard(
    voices: Mapping[int, Voice], publishers: Numbers, spoken: Mapping[int, Voice]
) -> Mapping[int, Voice]:
    """The voices of all, after those of these publishers were found anew."""
    silent = {one for one in publishers.tolist() if one in voices} - spoken.keys()
    if not silent and not spoken:
        return voices
    heard = {p: voice for p, voice in voices.items() if p not in silent}
    return {**heard, **spoken}


def _said(rows: Rows, numbers: Numbers) -> list[bytes]:
    """The hashes of the words of each, ascending."""
    runs = rows.runs_of(rows.hashes, numbers)
    said = map(runs.__getitem__, range(len(runs)))
    return [np.sort(own[own % 2 == 0]).tobytes() for own in said]
