"""The one total order of an answer, and pages of it.

The order is (-score, commission tier, tie key, site id). An engine gives candidates by
score and tier; the ties are broken here, where a key costs a hash. Sites that share a
place (see `voices`) stand at the best of them, the others behind it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from registry.index.columns.rows import HIGHER_TIER
from registry.index.query.constants import Constants
from registry.index.query.index import Index
from registry.index.segments.part import BEFORE_ALL
from registry.ranking.ties import OrderKey, tie_keys
from registry.sites.identifier import spell_site_id


class Standing(NamedTuple):
    """A site in the order. leader: of the place that it shares, or 0."""

    key: OrderKey
    leader: int
    part: int
    row: int


class Candidate(NamedTuple):
    """A row of `part.CANDIDATE`, which tells of its fields."""

    standing: int
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
            candidates = _listed(found)
            heads = list(_heads(self._standings(candidates), after, _leaders(shown)))
            is_all = len(set(map(_place, candidates))) < asked
            if is_all or len(heads) >= places:
                return heads[:places]
            # Some were given before, or share a place that was: as many more are needed.
            asked += places + len(shown) + len(found)

    def behind(self, head: Standing) -> tuple[int, ...]:
        """The ids of the sites that share the head's place, best first."""
        if not head.leader:
            return ()
        sharing = [
            one
            for part in range(len(self._index.parts))
            for one in self._sharing(head.leader, part)
        ]
        site_ids = [one.key.site_id for one in self._standings(sharing)]
        return tuple(one for one in site_ids if one != head.key.site_id)

    def _sharing(self, leader: int, part: int) -> Iterator[Candidate]:
        """The eligible ones."""
        segment = self._index.parts[part].segment
        rows = segment.grouped_rows[segment.grouped_leaders == leader]
        scored = self._index.bound.score(self._constants, part, rows)
        for row, one in zip(rows.tolist(), scored, strict=True):
            if one["eligible"]:
                tier = int(segment.records["flags"][row] & HIGHER_TIER > 0)
                yield Candidate(2 * int(one["score"]) - tier, leader, part, row)

    def _standings(self, candidates: Sequence[Candidate]) -> list[Standing]:
        """In their order."""
        parts = self._index.parts
        site_ids = [
            parts[one.part].segment.site_ids.item(one.row) for one in candidates
        ]
        ties = tie_keys(self._seed, map(spell_site_id, site_ids))
        return sorted(
            [
                Standing(
                    OrderKey(
                        -((one.standing + 1) // 2), one.standing % 2, tie, site_id
                    ),
                    *one[1:],
                )
                for one, tie, site_id in zip(candidates, ties, site_ids, strict=True)
            ]
        )


def _standing_of(key: OrderKey) -> int:
    return 2 * key.score - key.commission_tier


def _leaders(shown: npt.NDArray[np.void]) -> set[int]:
    return set(shown["leader"].tolist())


def _listed(found: npt.NDArray[np.void]) -> list[Candidate]:
    return list(map(Candidate._make, found.tolist()))


def _place(one: Candidate) -> tuple[int, ...]:
    return (one.leader,) if one.leader else (one.part, one.row)


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
