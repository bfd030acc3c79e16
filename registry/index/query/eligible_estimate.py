"""The panel: the sites by which the number of eligible sites is estimated, and a sample.

Up to PANEL_ROWS sites it is all of them. Beyond, to look at every site would cost more
than to rank; then it is about that many, those whose hash is least, and the number is
an estimate. A site can't choose its id, so it can't choose to be looked at.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from registry.index.query.index_searcher import IndexSearcher, searcher_of
from registry.index.query.sample import hash_sites
from registry.index.query.scoring_parameters import ScoringParameters
from registry.index.segments.levels import ALL, Level, make_level
from registry.index.segments.part import IndexPart
from registry.ranking.policy import Policy

PANEL_ROWS = 16_384
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligible:
    """site_ids: of those on the panel. is_exact: it was all sites."""

    site_ids: Integers
    count: int
    is_exact: bool


NOTHING_ELIGIBLE = Eligible(site_ids=np.empty(0, np.int64), count=0, is_exact=True)


@dataclass(frozen=True, kw_only=True)
class EligibleEstimate:
    """parts: of each level its members, or the whole of it.

    cutoff: the greatest hash of a member's id. size: sites in all.
    """

    parts: tuple[IndexPart, ...]
    cutoff: int
    size: int

    def eligible(self, constants: ScoringParameters) -> Eligible:
        eligible = self._bound.eligible(constants)
        own = np.concatenate(
            [
                part.segment.site_ids[rows & members]
                for part, rows, members in zip(
                    self.parts, eligible, self._members, strict=True
                )
            ]
        )
        return Eligible(
            site_ids=own,
            count=round(len(own) * self.size / max(1, self._count)),
            is_exact=self.cutoff == ALL,
        )

    @cached_property
    def _bound(self) -> IndexSearcher:
        return searcher_of(self.parts)

    @cached_property
    def _members(self) -> tuple[npt.NDArray[np.bool_], ...]:
        """Return, for each part, which of its living rows are on the panel."""
        return tuple(
            (part.alive[: len(part.segment)] != 0)
            & (hash_sites(part.segment.site_ids) <= np.uint64(self.cutoff))
            for part in self.parts
        )

    @cached_property
    def _count(self) -> int:
        return sum(map(np.count_nonzero, self._members))


def with_members(level: Level, policy: Policy) -> Level:
    """Choose the members of a level that has more rows than a panel."""
    living = level.living
    if len(living) <= PANEL_ROWS:
        return level
    hashes = hash_sites(level.rows.site_ids[living])
    cutoff = np.partition(hashes, PANEL_ROWS - 1)[PANEL_ROWS - 1]
    members = level.rows.take(living[hashes <= cutoff]).without_bodies()
    return replace(level, members=make_level(members, policy), cutoff=int(cutoff))
