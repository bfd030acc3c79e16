"""The one total order of an answer, and pages of it.

The order is (-score, commission tier, tie key, site id). An engine gives candidates by
score and tier; the ties are broken here, where a key costs a hash. Sites that share a
place (see `publisher_groups`) stand at the best of them, the others behind it. A publisher
has the first few of its places; the sites of the others stand behind the last of these.
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
        self._places: dict[int, list[list[RankKey]]] = {}
        self._publisher_of: dict[tuple[int, int], int] = {}

    def first(self, places: int, after: OrderKey | None) -> list[RankKey]:
        """The sites at the first places after the key; fewer if there are no more."""
        standing = BEFORE_ALL if after is None else _standing_of(after)
        groups = places
        while True:
            rows, seen_groups = self._index.bound.search(
                self._constants, k=groups, after=standing
            )
            candidates = _listed(rows)
            self._find_publishers(candidates)
            heads = [
                head
                for head in _heads(
                    self._standings(candidates), after, _representatives(seen_groups)
                )
                if self._has_place(head)
            ]
            is_all = len(set(map(_place, candidates))) < groups
            if is_all or len(heads) >= places:
                return heads[:places]
            # Some were given before, share a place that was, or have none: as many more
            # are needed.
            groups += places + len(seen_groups) + len(rows)

    def behind(self, head: RankKey) -> tuple[int, ...]:
        """The ids of the sites that share the place of a head of `first`, best first."""
        publisher = self._publisher_of.get((head.part, head.row))
        if publisher is not None:
            return self._behind_crowded(head, publisher)
        if not head.representative:
            return ()
        sharing = [
            candidate
            for part in range(len(self._index.parts))
            for candidate in self._eligible(part, self._rows_of(head, part))
        ]
        return _others(self._standings(sharing), head)

    def _rows_of(self, head: RankKey, part: int) -> npt.NDArray[np.uint32]:
        """Return the rows of the head's place."""
        segment = self._index.parts[part].segment
        is_sharing = segment.representatives == head.representative
        rows: npt.NDArray[np.uint32] = segment.grouped_rows[is_sharing]
        return rows

    # ---- publishers with more places than an answer gives one ----

    def _has_place(self, head: RankKey) -> bool:
        publisher = self._publisher_of.get((head.part, head.row))
        if publisher is None:
            return True
        given = self._places_of(publisher)[: self._most_places]
        return any(head.key == place[0].key for place in given)

    def _behind_crowded(self, head: RankKey, publisher: int) -> tuple[int, ...]:
        places = self._places_of(publisher)
        number = next(n for n, place in enumerate(places) if place[0].key == head.key)
        is_last = number == self._most_places - 1
        sharing = places[number:] if is_last else [places[number]]
        return _others(sorted(row for place in sharing for row in place), head)

    @property
    def _most_places(self) -> int:
        return self._index.policy.publisher_answer_places

    def _places_of(self, publisher: int) -> list[list[RankKey]]:
        """Return the eligible sites of a publisher by place, in order as places are."""
        if publisher not in self._places:
            candidates = [
                candidate
                for number, part in enumerate(self._index.parts)
                for candidate in self._eligible(
                    number,
                    part.segment.crowded_rows[part.segment.publishers == publisher],
                )
            ]
            places: dict[tuple[int, ...], list[RankKey]] = {}
            for row in self._standings(candidates):
                places.setdefault(_place(row), []).append(row)
            self._places[publisher] = [*places.values()]
        return self._places[publisher]

    def _find_publishers(self, candidates: Sequence[Candidate]) -> None:
        for number, part in enumerate(self._index.parts):
            crowded = part.segment.crowded_rows
            if not len(crowded):
                continue
            rows = np.array([c.row for c in candidates if c.part == number], np.uint32)
            for row, publisher in _looked_up(rows, crowded, part.segment.publishers):
                self._publisher_of[number, row] = publisher

    # ---- rows ----

    def _eligible(self, part: int, rows: npt.NDArray[np.uint32]) -> Iterator[Candidate]:
        """Yield those of the rows that are eligible."""
        segment = self._index.parts[part].segment
        grouped, flags = segment.grouped_rows, segment.records["flags"]
        representative = dict(_looked_up(rows, grouped, segment.representatives))
        scored = self._index.bound.score(self._constants, part, rows)
        for row, scored_row in zip(rows.tolist(), scored, strict=True):
            if scored_row["eligible"]:
                tier = int(flags[row] & HIGHER_TIER > 0)
                standing = 2 * int(scored_row["score"]) - tier
                yield Candidate(standing, representative.get(row, 0), part, row)

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


def _looked_up(
    rows: npt.NDArray[np.uint32],
    known: npt.NDArray[np.uint32],
    values: npt.NDArray[np.int64],
) -> Iterator[tuple[int, int]]:
    """Yield row and value of those that are known. known: ascending."""
    if len(known):
        numbers = np.minimum(np.searchsorted(known, rows), len(known) - 1)
        has = known[numbers] == rows
        yield from zip(rows[has].tolist(), values[numbers[has]].tolist(), strict=True)


def _others(standings: Sequence[RankKey], head: RankKey) -> tuple[int, ...]:
    ids = (row.key.site_id for row in standings)
    return tuple(site_id for site_id in ids if site_id != head.key.site_id)


def _place(candidate: Candidate | RankKey) -> tuple[int, ...]:
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
