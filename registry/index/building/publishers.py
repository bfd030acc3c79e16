"""Near-duplicate sites, of a publisher and of several, grouped in rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from registry.index.building.near_duplicates import leaders_of
from registry.index.building.publisher_groups import (
    PublisherGroup,
    groups_of,
    representatives_of,
)
from registry.index.columns.rows import CROWDED, Rows, join
from registry.index.segments.levels import Level
from registry.index.segments.lookup import SignatureLookup
from registry.ranking.policy import Policy

Numbers = npt.NDArray[np.int64]


def with_representatives(
    rows: Rows, known: Mapping[int, PublisherGroup], policy: Policy
) -> tuple[Rows, dict[int, PublisherGroup]]:
    """The rows with their representatives, and the groups of publishers with several sites.

    rows: all the sites of each publisher that has any among them, and of each that has
    a near-duplicate of any.
    """
    several = _of_several(rows)
    of = rows.publishers[several].tolist()
    groups = groups_of(of, _term_hashes(rows, several), known, policy)
    first = np.array(representatives_of(of, groups), np.int64)
    led = rows.site_ids.copy()
    led[several] = rows.site_ids[several[first]]
    led = _led_across(rows, led, policy)
    leading, followers = np.unique(led, return_counts=True)
    representatives = np.where(np.isin(led, leading[followers > 1]), led, 0)
    flags = rows.flags & ~np.uint8(CROWDED)
    flags[several[np.isin(of, _crowded(groups, policy))]] |= CROWDED
    return replace(rows, representatives=representatives, flags=flags), groups


def _led_across(rows: Rows, led: Numbers, policy: Policy) -> Numbers:
    """Return who leads the place of each among all publishers.

    led: the id of who leads it within its publisher.
    """
    leading = np.flatnonzero(rows.site_ids == led)
    leading = leading[np.argsort(rows.site_ids[leading])]
    ids = rows.site_ids[leading]
    across = ids[leaders_of(rows.signatures[leading], policy)]
    result: Numbers = across[np.searchsorted(ids, led)]
    return result


def _crowded(groups: Mapping[int, PublisherGroup], policy: Policy) -> list[int]:
    """Return the publishers with more places than an answer gives one."""
    return [
        publisher
        for publisher, group in groups.items()
        if len(set(group.representatives)) > policy.publisher_answer_places
    ]


def _of_several(rows: Rows) -> Numbers:
    """The rows of publishers with several sites, in the order of the sites' ids."""
    by_publisher = np.argsort(rows.publishers)
    publishers = rows.publishers[by_publisher]
    is_next = np.append(publishers[1:] == publishers[:-1], False)[: len(rows)]
    several: Numbers = by_publisher[is_next | np.roll(is_next, 1)]
    by_id: Numbers = several[np.argsort(rows.site_ids[several])]
    return by_id


def groups_in(levels: Sequence[Level], policy: Policy) -> Mapping[int, PublisherGroup]:
    """Return the groups of publishers with several living sites, in all levels."""
    living = [level.living for level in levels]
    every = np.concatenate(
        [level.rows.publishers[own] for level, own in zip(levels, living, strict=True)]
    )
    publishers, counts = np.unique(every, return_counts=True)
    several = publishers[counts > 1]
    rows = join([level.rows.take(level.of_publishers(several)) for level in levels])
    return with_representatives(rows, {}, policy)[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrouped:
    """fresh: the rows that are to stand beside the levels."""

    levels: tuple[Level, ...]
    fresh: Rows
    groups: Mapping[int, PublisherGroup]


def regroup(
    levels: Sequence[Level],
    fresh: Rows,
    changed: Sequence[Rows],
    groups: Mapping[int, PublisherGroup],
    policy: Policy,
) -> Regrouped:
    """Find again which sites share a rank with those that come and go, or did.

    A site of a level whose representative or flag has changed goes beside it.
    """
    publishers = _kindred(levels, fresh, changed, policy)
    resting = [level.of_publishers(publishers) for level in levels]
    near = np.isin(fresh.publishers, publishers)
    before = join(
        [
            *(level.rows.take(own) for level, own in zip(levels, resting, strict=True)),
            fresh.take(np.flatnonzero(near)),
        ]
    )
    after, regrouped_ = with_representatives(before, groups, policy)
    moves = (before.representatives != after.representatives) | (
        before.flags != after.flags
    )
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
        groups=_merged(groups, publishers, regrouped_),
    )


def _kindred(
    levels: Sequence[Level], fresh: Rows, changed: Sequence[Rows], policy: Policy
) -> Numbers:
    """Return the publishers of these sites, of their near-duplicates, and so on."""
    beside = SignatureLookup.of(fresh.signatures)
    known = np.empty(0, np.int64)
    more = np.unique(np.concatenate([rows.publishers for rows in changed]))
    signatures = [rows.signatures for rows in changed]
    while len(more):
        known = np.union1d(known, more)
        own = (level.rows.signatures[level.of_publishers(more)] for level in levels)
        is_own = np.isin(fresh.publishers, more)
        wanted = np.concatenate([*signatures, *own, fresh.signatures[is_own]])
        near = [
            level.rows.publishers[level.near_duplicates(wanted, policy)]
            for level in levels
        ]
        near.append(fresh.publishers[beside.find(wanted, policy)])
        more, signatures = np.setdiff1d(np.concatenate(near), known), []
    return known


def _merged(
    groups: Mapping[int, PublisherGroup],
    publishers: Numbers,
    regrouped_: Mapping[int, PublisherGroup],
) -> Mapping[int, PublisherGroup]:
    """The groups of all, after those of these publishers were found again."""
    silent = {
        publisher for publisher in publishers.tolist() if publisher in groups
    } - regrouped_.keys()
    if not silent and not regrouped_:
        return groups
    remaining = {p: group for p, group in groups.items() if p not in silent}
    return {**remaining, **regrouped_}


def _term_hashes(rows: Rows, numbers: Numbers) -> list[bytes]:
    """The hashes of the words of each, ascending."""
    runs = rows.runs_of(rows.hashes, numbers)
    hashes = map(runs.__getitem__, range(len(runs)))
    return [np.sort(own[own % 2 == 0]).tobytes() for own in hashes]
