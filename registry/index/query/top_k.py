"""The one total order of an answer, and pages of it.

The order is (-score, commission tier, tie key, site id). An engine gives candidates by
score and tier; the ties are broken here, where a key costs a hash. Sites that share a
place (see `groups`) stand at the best of them, the others behind it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from registry.index.columns.rows import HIGHER_TIER
from registry.index.query.index import Index
from registry.index.query.scoring_parameters import ScoringParameters
from registry.index.segments.part import BEFORE_ALL
from registry.ranking.ties import OrderKey, tie_keys
from registry.sites.identifier import format_site_id


class RankKey(NamedTuple):
    """A site in the order. representative: of the place that it shares, or 0."""

    key: OrderKey
    representative: int
    part: int
    row: int


class Candidate(NamedTuple):
    """A row of `part.RANKED_ROW`, which tells of its fields."""

    standing: int
    representative: int
    part: int
    row: int


class TopK:
    """The order of one search. seed: of its ties."""

    def __init__(self, index: Index, constants: ScoringParameters, seed: bytes) -> None:
        self._index = index
        self._constants = constants
        self._seed = seed

    def first(self, places: int, after: OrderKey | None) -> list[RankKey]:
        """The sites at the first places after the key; fewer if there are no more."""
        standing = BEFORE_ALL if after is None else _standing_of(after)
        groups = places
        while True:
            rows, seen_groups = self._index.bound.search(
                self._constants, k=groups, after=standing
            )
            candidates = _listed(rows)
            heads = list(
                _heads(
                    self._standings(candidates), after, _representatives(seen_groups)
                )
            )
            is_all = len(set(map(_place, candidates))) < groups
            if is_all or len(heads) >= places:
                return heads[:places]
            # Some were given before, or share a place that was: as many more are needed.
            groups += places + len(seen_groups) + len(rows)

    def behind(self, head: RankKey) -> tuple[int, ...]:
        """The ids of the sites that share the head's place, best first."""
        if not head.representative:
            return ()
        sharing = [
            candidate
            for part in range(len(self._index.parts))
            for candidate in self._sharing(head.representative, part)
        ]
        site_ids = [standing.key.site_id for standing in self._standings(sharing)]
        return tuple(site_id for site_id in site_ids if site_id != head.key.site_id)

    def _sharing(self, representative: int, part: int) -> Iterator[Candidate]:
        """The eligible ones."""
        segment = self._index.parts[part].segment
        rows = segment.grouped_rows[segment.representatives == representative]
        scored = self._index.bound.score(self._constants, part, rows)
        for row, scored_row in zip(rows.tolist(), scored, strict=True):
            if scored_row["eligible"]:
                tier = int(segment.records["flags"][row] & HIGHER_TIER > 0)
                yield Candidate(
                    2 * int(scored_row["score"]) - tier, representative, part, row
                )

    def _standings(self, candidates: Sequence[Candidate]) -> list[RankKey]:
        """Return the rank keys of candidates, in their order."""
        parts = self._index.parts
        site_ids = [
            parts[candidate.part].segment.site_ids.item(candidate.row)
            for candidate in candidates
        ]
        ties = tie_keys(self._seed, map(format_site_id, site_ids))
        return sorted(
            [
                RankKey(
                    OrderKey(
                        -((candidate.standing + 1) // 2),
                        candidate.standing % 2,
                        tie,
                        site_id,
                    ),
                    *candidate[1:],
                )
                for candidate, tie, site_id in zip(
                    candidates, ties, site_ids, strict=True
                )
            ]
        )


def _standing_of(key: OrderKey) -> int:
    return 2 * key.score - key.commission_tier


def _representatives(shown: npt.NDArray[np.void]) -> set[int]:
    return set(shown["representative"].tolist())


def _listed(rows: npt.NDArray[np.void]) -> list[Candidate]:
    return list(map(Candidate._make, rows.tolist()))


def _place(candidate: Candidate) -> tuple[int, ...]:
    return (
        (candidate.representative,)
        if candidate.representative
        else (candidate.part, candidate.row)
    )


def _heads(
    standings: Iterable[RankKey], after: OrderKey | None, given: set[int]
) -> Iterator[RankKey]:
    """The first of each place, but of places that were given before."""
    for standing in standings:
        is_head = not standing.representative or standing.representative not in given
        if standing.representative:
            given.add(standing.representative)
        if is_head and (after is None or standing.key > after):
            yield standing
