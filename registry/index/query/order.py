"""The one total order of an answer, and pages of it.

The order is (-score, commission tier, tie key, site id). An engine gives candidates by
score and tier; the ties are broken here, where a key costs a hash. Sites that share a
place (see `voices`) stand at the best of them, the others behind it.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from registry.index.columns.rows import HIGHER_TIER
from registry.index.query.constants import Constants
from registry.index.query.index import Index
from registry.index.segments.part import BEFORE_ALL
from registry.ranking.ties import OrderKey, tie_key
from registry.sites.identifier import spell_site_id


class Standing(NamedTuple):
    """A site in the order. leader: of the place that it shares, or 0."""

    key: OrderKey
    leader: int
    part: int
    row: int


class Order:
    """The order of one search. seed: of its ties."""

    def __init__(self, index: Index, constants: Constants, seed: bytes) -> None:
        self._index = index
        self._constants = constants
        self._seed = seed

    def first(self, places: int, after: OrderKey | None) -> list[Standing]:
        """The sites at the first places after the key; fewer if there are no more."""
        standing = BEFORE_ALL if after is None else _standing_of(after)
        asked = places
        while True:
            found, shown = self._index.bound.search(
                self._constants, k=asked, after=standing
            )
            heads = list(_heads(self._standings(found), after, _leaders(shown)))
            is_all = len(set(_places(found))) < asked
            if is_all or len(heads) >= places:
                return heads[:places]
            # Some were given before, or share a place that was: as many more are needed.
            asked += places + len(shown) + len(found)

    def behind(self, head: Standing) -> tuple[int, ...]:
        """The ids of the sites that share the head's place, best first."""
        if not head.leader:
            return ()
        others = sorted(
            one.key
            for part in range(len(self._index.parts))
            for one in self._sharing(head.leader, part)
            if one.key.site_id != head.key.site_id
        )
        return tuple(key.site_id for key in others)

    def _sharing(self, leader: int, part: int) -> Iterator[Standing]:
        """The eligible ones."""
        segment = self._index.parts[part].segment
        rows = segment.grouped_rows[segment.grouped_leaders == leader]
        scored = self._index.bound.score(self._constants, part, rows)
        for row, one in zip(rows.tolist(), scored, strict=True):
            if one["eligible"]:
                tier = int(segment.records["flags"][row] & HIGHER_TIER > 0)
                key = self._key(int(one["score"]), tier, int(segment.site_ids[row]))
                yield Standing(key, leader, part, row)

    def _standings(self, found: npt.NDArray[np.void]) -> list[Standing]:
        """In their order."""
        parts = self._index.parts
        standings = []
        for standing, leader, part, row in found.tolist():
            site_id = int(parts[part].segment.site_ids[row])
            key = self._key((standing + 1) // 2, standing % 2, site_id)
            standings.append(Standing(key, leader, part, row))
        return sorted(standings)

    def _key(self, score: int, tier: int, site_id: int) -> OrderKey:
        tie = tie_key(self._seed, spell_site_id(site_id))
        return OrderKey(-score, tier, tie, site_id)


def _standing_of(key: OrderKey) -> int:
    return 2 * key.score - key.commission_tier


def _leaders(shown: npt.NDArray[np.void]) -> set[int]:
    return set(shown["leader"].tolist())


def _places(found: npt.NDArray[np.void]) -> Iterable[tuple[int, ...]]:
    """What tells the place of each."""
    for _, leader, part, row in found.tolist():
        yield (leader,) if leader else (part, row)


def _heads(
    standings: Iterable[Standing], after: OrderKey | None, given: set[int]
) -> Iterator[Standing]:
    """The first of each place, but of places that were given before."""
    for one in standings:
        is_head = not one.leader or one.leader not in given
        if one.leader:
            given.add(one.leader)
        if is_head and (after is None or one.key > after):
            yield one
