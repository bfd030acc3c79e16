"""The one total order of an answer, and pages of it.

The order is (-rank score, tie key, site id). An engine gives candidates by rank score;
the ties are broken here, where a key costs a hash. Sites that share a
slot (see `publisher_groups`, `near_duplicates`) stand at the best of them, the others
behind it. A publisher has the first few of its slots; its sites of the others, which
lead no slot, stand behind the last of these.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from registry.index.query.index import Index
from registry.index.query.scoring_parameters import ScoringParameters
from registry.index.query.within_radius import rank_scores
from registry.index.segments.part import BEFORE_ALL
from registry.ranking.ties import OrderKey, tie_keys
from registry.sites.identifier import format_site_id

Slot = tuple[int, ...]
"""A representative, or part and row of a site that shares its slot with none."""


class RankKey(NamedTuple):
    """A site in the order. representative: of the slot that it shares, or 0."""

    key: OrderKey
    representative: int
    part: int
    row: int


class Candidate(NamedTuple):
    """A row of `part.RANKED_ROW`, which tells of its fields."""

    rank_score: int
    representative: int
    part: int
    row: int


class TopK:
    """The order of one search. seed: of its ties."""

    def __init__(self, index: Index, constants: ScoringParameters, seed: bytes) -> None:
        self._index = index
        self._constants = constants
        self._seed = seed
        self._examined: set[int] = set()
        self._surplus: set[tuple[int, int]] = set()
        self._further: dict[Slot, list[RankKey]] = defaultdict(list)

    def first(self, slots: int, after: OrderKey | None) -> list[RankKey]:
        """The sites at the first slots after the key; fewer if there are no more."""
        standing = BEFORE_ALL if after is None else -after.negative_rank_score
        groups = slots
        while True:
            rows, seen_groups = self._index.bound.search(
                self._constants, k=groups, after=standing
            )
            candidates = _listed(rows)
            is_all = len(set(map(_slot, candidates))) < groups
            given = {row.representative for row in self._leading(_listed(seen_groups))}
            standings = self._standings_of(candidates, is_all=is_all)
            heads = [*_heads(standings, after, given)]
            if is_all or len(heads) >= slots:
                return heads[:slots]
            # Some were given before, share a slot that was, or have none: as many more
            # are needed.
            groups += slots + len(seen_groups) + len(rows)

    def behind(self, head: RankKey) -> tuple[int, ...]:
        """The ids of the sites that share the slot of a head of `first`, best first."""
        sharing = self._standings(self._sharing(head)) if head.representative else []
        rows = sorted([*sharing, *self._further.get(_slot(head), ())])
        ids = (row.key.site_id for row in rows)
        return tuple(site_id for site_id in ids if site_id != head.key.site_id)

    def _standings_of(
        self, candidates: Sequence[Candidate], *, is_all: bool
    ) -> list[RankKey]:
        """Return the rank keys of possible representatives, as far as the candidates go.

        A slot of which the best is beyond its publisher's is led by the next.
        """
        leading = self._leading(candidates)
        heirs = [
            heir
            for candidate in candidates
            if candidate.representative and _row(candidate) in self._surplus
            for heir in self._sharing(candidate)
        ]
        standings = self._standings([*dict.fromkeys([*leading, *heirs])])
        if is_all or not heirs:
            return standings
        last = min(candidate.rank_score for candidate in candidates)
        return [row for row in standings if -row.key.negative_rank_score >= last]

    def _sharing(self, row: Candidate | RankKey) -> list[Candidate]:
        """Return the eligible sites that share its slot, in no order."""
        sharing: list[Candidate] = []
        for number, part in enumerate(self._index.parts):
            segment = part.segment
            is_sharing = segment.representatives == row.representative
            sharing += self._eligible(number, segment.grouped_rows[is_sharing])
        return self._leading(sharing)

    def _leading(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return those that are not beyond the slots of their publisher."""
        for publisher in self._crowded(candidates) - self._examined:
            self._examine(publisher)
        return [own for own in candidates if _row(own) not in self._surplus]

    def _crowded(self, candidates: Sequence[Candidate]) -> set[int]:
        publishers: set[int] = set()
        for number, part in enumerate(self._index.parts):
            crowded = part.segment.crowded_rows
            if len(crowded):
                rows = [own.row for own in candidates if own.part == number]
                known = _looked_up(
                    np.array(rows, np.uint32), crowded, part.segment.publishers
                )
                publishers.update(publisher for _, publisher in known)
        return publishers

    def _examine(self, publisher: int) -> None:
        """Find which of its eligible sites have no slot, and where they stand behind."""
        self._examined.add(publisher)
        candidates = [
            candidate
            for number, part in enumerate(self._index.parts)
            for candidate in self._eligible(
                number, part.segment.crowded_rows[part.segment.publishers == publisher]
            )
        ]
        slots: dict[Slot, list[RankKey]] = {}
        for row in self._standings(candidates):
            slots.setdefault(_slot(row), []).append(row)
        most = self._index.policy.publisher_answer_places
        surplus = [row for slot in [*slots.values()][most:] for row in slot]
        self._surplus.update(map(_row, surplus))
        if surplus:
            self._further[[*slots][most - 1]] += surplus

    def _eligible(self, part: int, rows: npt.NDArray[np.uint32]) -> Iterator[Candidate]:
        """Yield those of the rows that are eligible."""
        segment = self._index.parts[part].segment
        grouped, flags = segment.grouped_rows, segment.records["flags"]
        representative = dict(_looked_up(rows, grouped, segment.representatives))
        scored = self._index.bound.score(self._constants, part, rows)
        ranks = rank_scores(scored, flags[rows], self._constants).tolist()
        eligible = scored["eligible"].tolist()
        for row, rank, passes in zip(rows.tolist(), ranks, eligible, strict=True):
            if passes:
                yield Candidate(rank, representative.get(row, 0), part, row)

    def _standings(self, candidates: Sequence[Candidate]) -> list[RankKey]:
        """Return the rank keys of candidates, in their order."""
        parts = self._index.parts
        site_ids = [
            parts[own.part].segment.site_ids.item(own.row) for own in candidates
        ]
        ties = tie_keys(self._seed, map(format_site_id, site_ids))
        rows = zip(candidates, ties, site_ids, strict=True)
        return sorted(
            [
                RankKey(OrderKey(-own.rank_score, tie, site_id), *own[1:])
                for own, tie, site_id in rows
            ]
        )


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


def _row(candidate: Candidate | RankKey) -> tuple[int, int]:
    return candidate.part, candidate.row


def _slot(candidate: Candidate | RankKey) -> Slot:
    return (
        (candidate.representative,)
        if candidate.representative
        else (candidate.part, candidate.row)
    )


def _heads(
    standings: Iterable[RankKey], after: OrderKey | None, given: set[int]
) -> Iterator[RankKey]:
    """The first of each slot, but of slots that were given before."""
    for standing in standings:
        is_head = not standing.representative or standing.representative not in given
        if standing.representative:
            given.add(standing.representative)
        if is_head and (after is None or standing.key > after):
            yield standing
