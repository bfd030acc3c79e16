"""The levels of an index: a large base, smaller ones, and the freshest changes.

A change rebuilds the last one only. Once that is full another takes its place, and
some levels become one beside serving: a level together with all that are newer, where
these and its own dead rows reach a share of it. So few levels are searched, and a row is
written again only a few times.

A row that was replaced or withdrawn stays in its segment, dead, until then; what it said
is taken off the counts, so that an index that followed changes answers as one that was
built from its sites.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from registry.index.columns.rows import Rows, select
from registry.index.columns.runs import release, starts_of
from registry.index.columns.signatures import Signatures
from registry.index.segments.layout import order_rows
from registry.index.segments.lookup import Lookup, SignatureLookup
from registry.index.segments.part import IndexPart
from registry.index.segments.segment import Segment, build_segment
from registry.ranking.freshness import days_between, freshnesses
from registry.ranking.policy import Policy

ALL = 2**64 - 1
"""The greatest hash of a site's id."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Sizes at which levels are full. fresh: rows of the last, beyond which it is closed.

    little: rows beside a level, or dead in it, up to which it is left as it is.
    share: or while they are no more than this part of it.
    """

    fresh: int = 5_000
    little: int = 4_000
    share: int = 8


SIZES = Sizes()


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """rows: in the order of the part's. dead_counts: by the number of a term.

    members: those of its rows that are on the panel, or None where all are; with what
    ids have no greater hash than cutoff.
    """

    rows: Rows
    part: IndexPart
    by_id: Lookup
    by_publisher: Lookup
    by_signature: SignatureLookup
    dead_counts: npt.NDArray[np.int32]
    members: "Level | None" = None
    cutoff: int = ALL

    @property
    def living(self) -> Numbers:
        """The numbers of the rows that live."""
        return np.flatnonzero(self.part.alive[: len(self.rows)])

    @property
    def size(self) -> int:
        """Rows that live."""
        return int(np.count_nonzero(self.part.alive))

    def is_of(self, other: "Level") -> bool:
        """Return whether both were made as one, whatever died since and wherever they lie."""
        return self.by_id is other.by_id

    @property
    def on_panel(self) -> IndexPart:
        return (self.members or self).part

    def numbers_of(self, site_ids: Numbers) -> Numbers:
        """The living rows of those of the sites that are here."""
        return self._of_living(self.by_id.find(site_ids))

    def of_publishers(self, publishers: Numbers) -> Numbers:
        """Return the living rows of publishers."""
        return self._of_living(self.by_publisher.find(publishers))

    def near_duplicates(self, signatures: Signatures, policy: Policy) -> Numbers:
        """Return the living rows that are near-duplicates of any."""
        return self._of_living(self.by_signature.find(signatures, policy))

    def _of_living(self, numbers: Numbers) -> Numbers:
        living: Numbers = numbers[self.part.alive[numbers] != 0]
        return living

    def without(self, numbers: Numbers) -> "Level":
        """numbers: of living rows."""
        if not len(numbers):
            return self
        alive = self.part.alive.copy()
        alive[numbers] = 0
        members = self.members
        if members is not None:
            own = members.numbers_of(self.rows.site_ids[numbers])
            members = members.without(own)
        hashes = self.rows.runs_of(self.rows.hashes, numbers).packed()
        counts = self.dead_counts.copy()
        distinct, times = np.unique(hashes, return_counts=True)
        terms = np.searchsorted(self.part.segment.hashes, distinct)
        counts[terms] += times.astype(np.int32)
        return replace(
            self,
            part=IndexPart(self.part.segment, alive),
            members=members,
            dead_counts=counts,
        )


def make_level(rows: Rows, policy: Policy) -> Level:
    return _make([rows], np.arange(len(rows)), policy)


def merge_levels(levels: Sequence[Level], policy: Policy) -> Level:
    """Merge the living rows of at least one level into a level."""
    firsts = starts_of(np.array([len(level.rows) for level in levels], np.int64))
    living = [
        level.living + first
        for level, first in zip(levels, firsts.tolist(), strict=False)
    ]
    return _make([level.rows for level in levels], np.concatenate(living), policy)


def _make(parts: Sequence[Rows], numbers: Numbers, policy: Policy) -> Level:
    """Make a level of the rows of these numbers, counted through all parts."""
    # What rows say is most of them: it is gathered once, in the order that is found, and
    # not at all where the rows are those of one part.
    is_single = len(parts) == 1 and len(numbers) == len(parts[0])
    bare = parts[0] if is_single else select(parts, numbers, bare=True)
    # Freshness only falls: as of the newest change no row has less than it ever will.
    as_of_s = int(bare.changed_s.max(initial=0))
    merits = _merits(bare, as_of_s, policy)
    order = order_rows(bare, merits)
    del bare
    rows = parts[0].in_order(order) if is_single else select(parts, numbers[order])
    level = level_of(rows, build_segment(rows, merits[order], as_of_s))
    for part in parts:
        release(part.hashes)
        release(part.impacts)
    return level


def level_of(rows: Rows, segment: Segment) -> Level:
    """All rows alive, and on the panel."""
    alive = np.zeros(len(segment.behind), np.uint8)
    alive[: len(rows)] = 1
    return Level(
        rows=rows,
        part=IndexPart(segment, alive),
        by_id=Lookup.of(rows.site_ids),
        by_publisher=Lookup.of(rows.publishers),
        by_signature=SignatureLookup.of(rows.signatures),
        dead_counts=np.zeros(len(segment.hashes), np.int32),
    )


def find_merge(levels: Sequence[Level], sizes: Sizes) -> slice | None:
    """The closed levels that are to be made one, if any."""
    closed = levels[:-1]
    newer = sum(level.size for level in closed)
    for number, level in enumerate(closed):
        newer -= level.size
        waste = newer + len(level.rows) - level.size
        if waste > max(sizes.little, len(level.rows) // sizes.share):
            return slice(number, len(closed))
    return None


def dead_terms(
    levels: Sequence[Level],
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Hashes of what dead rows say, ascending, and in how many of them."""
    terms = [np.flatnonzero(level.dead_counts) for level in levels]
    both = list(zip(levels, terms, strict=True))
    hashes = np.concatenate([level.part.segment.hashes[own] for level, own in both])
    counts = np.concatenate([level.dead_counts[own] for level, own in both])
    distinct, which = np.unique(hashes, return_inverse=True)
    total = np.bincount(which, counts, len(distinct))
    return distinct, total.astype(np.int64)


def word_counts(
    levels: Sequence[Level], hashes: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """Return in how many living rows each hash stands."""
    counts = np.zeros(len(hashes), np.int64)
    for level in levels:
        segment = level.part.segment
        if len(segment.hashes):
            at = np.searchsorted(segment.hashes, hashes)
            at = np.minimum(at, len(segment.hashes) - 1)
            own = segment.containing[at].astype(np.int64) - level.dead_counts[at]
            counts += np.where(segment.hashes[at] == hashes, own, 0)
    return counts


def _merits(rows: Rows, as_of_s: int, policy: Policy) -> npt.NDArray[np.int64]:
    days = days_between(rows.changed_s.astype(np.int64), as_of_s)
    merits: npt.NDArray[np.int64] = (
        policy.weight_capability_depth * rows.depth.astype(np.int64)
        + policy.weight_quality * rows.quality.astype(np.int64)
        + policy.weight_freshness * freshnesses(days, policy)
    )
    return merits
