"""The levels of an index: a large base, and what has changed since, made anew each time.

A row that was replaced or withdrawn stays in its segment, dead, until the base is built
again; what it said is taken off the counts, so that an index that followed changes
answers as one that was built from its sites.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from registry.index.layout import order_rows
from registry.index.part import Part
from registry.index.rows import Rows, join
from registry.index.segment import build_segment
from registry.ranking.freshness import days_between, freshnesses
from registry.ranking.policy import Policy

FRESH_MIN = 4_000
"""Rows beside the base, or dead in it, up to which it is never built again."""

FRESH_SHARE = 8
"""Nor while they are less than this part of it."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """rows: in the order of the part's. by_id: row numbers by ascending site id."""

    rows: Rows
    part: Part
    by_id: Numbers

    @property
    def living(self) -> Numbers:
        """The numbers of the rows that live."""
        return np.flatnonzero(self.part.alive[: len(self.rows)])

    @property
    def dead(self) -> Numbers:
        return np.flatnonzero(self.part.alive[: len(self.rows)] == 0)

    def numbers_of(self, site_ids: Numbers) -> Numbers:
        """The living rows of those of the sites that are here."""
        own = self.rows.site_ids[self.by_id]
        places = np.searchsorted(own, site_ids)
        known = own[np.minimum(places, len(own) - 1)] == site_ids if len(own) else []
        numbers = self.by_id[places[known]]
        living: Numbers = numbers[self.part.alive[numbers] != 0]
        return living

    def without(self, numbers: Numbers) -> "Level":
        alive = self.part.alive.copy()
        alive[numbers] = 0
        return replace(self, part=Part(self.part.segment, alive))


def make_level(rows: Rows, policy: Policy) -> Level:
    # Freshness only falls: as of the newest change no row has less than it ever will.
    as_of_s = int(rows.changed_s.max(initial=0))
    merits = _merits(rows, as_of_s, policy)
    order = order_rows(rows, merits)
    ordered = rows.take(order)
    segment = build_segment(ordered, merits[order], as_of_s)
    alive = np.zeros(len(segment.merit), np.uint8)
    alive[: len(rows)] = 1
    return Level(
        rows=ordered,
        part=Part(segment, alive),
        by_id=np.argsort(ordered.site_ids, kind="stable"),
    )


def needs_rebuild(base: Level, fresh: Rows) -> bool:
    """fresh: what is to stand beside the base."""
    beside = len(fresh) + len(base.dead)
    return beside > max(FRESH_MIN, len(base.rows) // FRESH_SHARE)


def dead_terms(
    levels: Sequence[Level],
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Hashes of what dead rows say, ascending, and in how many of them."""
    dead = join([one.rows.take(one.dead) for one in levels])
    return np.unique(dead.hashes, return_counts=True)


def _merits(rows: Rows, as_of_s: int, policy: Policy) -> npt.NDArray[np.int64]:
    days = days_between(rows.changed_s.astype(np.int64), as_of_s)
    merits: npt.NDArray[np.int64] = (
        policy.weight_capability_depth * rows.depth.astype(np.int64)
        + policy.weight_quality * rows.quality.astype(np.int64)
        + policy.weight_freshness * freshnesses(days, policy)
    )
    return merits
