"""Which of the sites of a publisher share a place, told in rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from registry.index.levels import Level
from registry.index.rows import Rows, join
from registry.index.voices import Voice, leaders_of, voices_of
from registry.ranking.policy import Policy

Numbers = npt.NDArray[np.int64]


def with_leaders(
    rows: Rows, known: Mapping[int, Voice], policy: Policy
) -> tuple[Rows, dict[int, Voice]]:
    """The rows with their leaders, and the voices of publishers with several sites.

    rows: all the sites of each publisher that has any among them.
    """
    by_id = np.argsort(rows.site_ids, kind="stable")
    publishers, counts = np.unique(rows.publishers, return_counts=True)
    several = by_id[np.isin(rows.publishers[by_id], publishers[counts > 1])]
    of = rows.publishers[several].tolist()
    voices = voices_of(of, [_said(rows, number) for number in several], known, policy)
    first = np.array(leaders_of(of, voices), np.int64)
    leaders = np.zeros(len(rows), np.int64)
    led = rows.site_ids[several[first]]
    leading, followers = np.unique(led, return_counts=True)
    leaders[several] = np.where(np.isin(led, leading[followers > 1]), led, 0)
    return replace(rows, leaders=leaders), voices


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrouped:
    """beside: the rows that are to stand beside the base."""

    base: Level
    beside: Rows
    voices: Mapping[int, Voice]


def regroup(
    base: Level,
    beside: Rows,
    publishers: Numbers,
    voices: Mapping[int, Voice],
    policy: Policy,
) -> Regrouped:
    """Find anew who of these publishers' sites shares a place with whom.

    A site of the base whose leader has changed goes beside it.
    """
    resting = base.living[np.isin(base.rows.publishers[base.living], publishers)]
    near = np.isin(beside.publishers, publishers)
    before = join([base.rows.take(resting), beside.take(np.flatnonzero(near))])
    after, spoken = with_leaders(before, voices, policy)
    moves = before.leaders[: len(resting)] != after.leaders[: len(resting)]
    moving = np.concatenate(
        [np.flatnonzero(moves), np.arange(len(resting), len(after))]
    )
    silent = set(publishers.tolist()) - spoken.keys()
    return Regrouped(
        base=base.without(resting[moves]),
        beside=join([beside.take(np.flatnonzero(~near)), after.take(moving)]),
        voices={p: v for p, v in voices.items() if p not in silent} | spoken,
    )


def _said(rows: Rows, number: int) -> bytes:
    """The hashes of its words, ascending."""
    own = rows.hashes[rows.starts[number] : rows.starts[number + 1]]
    words: npt.NDArray[np.uint64] = own[own % 2 == 0]
    return words.tobytes()
