"""Building an index, and following the changes of its sites.

What the builder knows beyond the index, the rows themselves and what publishers say,
only it needs: an index is searched without.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from registry.index.building.publisher_groups import PublisherGroup
from registry.index.building.publishers import regroup, with_representatives
from registry.index.columns.content import digests_of
from registry.index.columns.rows import Rows, join, rows_of
from registry.index.query.eligible_estimate import EligibleEstimate, with_members
from registry.index.query.index import Index
from registry.index.segments.levels import (
    SIZES,
    Level,
    Sizes,
    dead_terms,
    find_merge,
    make_level,
    merge_levels,
    word_counts,
)
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile
from registry.records.generation import COUNT_BYTES, DIGEST_BYTES, Generation

Numbers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Merge:
    """Levels that are to be made one, as they stood when that was found."""

    levels: tuple[Level, ...]
    policy: Policy

    def merged(self) -> Level:
        """Merge the levels; takes long, may run in another thread meanwhile."""
        return with_members(merge_levels(self.levels, self.policy), self.policy)


@dataclass(frozen=True, kw_only=True)
class Builder:
    """levels: the oldest first, no site living in two; the last takes the changes.

    groups: by publisher with several sites.
    """

    policy: Policy
    levels: tuple[Level, ...]
    groups: Mapping[int, PublisherGroup]
    generation: Generation = field(repr=False)
    sizes: Sizes = SIZES

    @classmethod
    def build(
        cls, profiles: Iterable[Profile], policy: Policy, sizes: Sizes = SIZES
    ) -> "Builder":
        rows, groups = with_representatives(rows_of(list(profiles), policy), {}, policy)
        return cls.of_rows(rows, groups, digests_of(rows.bodies), policy, sizes)

    @classmethod
    def of_rows(
        cls,
        rows: Rows,
        groups: Mapping[int, PublisherGroup],
        digests: Bytes,
        policy: Policy,
        sizes: Sizes = SIZES,
    ) -> "Builder":
        """rows, groups: see `with_representatives`. digests: of the rows."""
        levels = _closed((make_level(rows, policy),), policy)
        return cls(
            policy=policy,
            levels=levels,
            groups=groups,
            generation=generation_of(levels, rows.site_ids, digests, policy),
            sizes=sizes,
        )

    @cached_property
    def index(self) -> Index:
        terms, counts = dead_terms(self.levels)
        return Index(
            policy=self.policy,
            generation=self.generation.roots.name,
            parts=tuple(level.part for level in self.levels),
            bodies=tuple(level.rows.bodies for level in self.levels),
            dead_terms=terms,
            dead_counts=counts,
            panel=EligibleEstimate(
                parts=tuple(level.on_panel for level in self.levels),
                cutoff=min(level.cutoff for level in self.levels),
                size=sum(level.size for level in self.levels),
            ),
        )

    def with_changes(
        self, upserts: Iterable[Profile], removals: Iterable[int]
    ) -> "Builder":
        """Removals are of site ids; unknown ones are ignored, and upserts win."""
        new = {profile.site_id: profile for profile in upserts}
        return self.with_rows(rows_of(list(new.values()), self.policy), removals)

    def with_rows(self, rows: Rows, removals: Iterable[int]) -> "Builder":
        """Return a builder as `with_changes` does. rows: of distinct sites, see `rows_of`."""
        gone_ids = np.fromiter(removals, np.int64)
        ids = np.unique(np.concatenate([gone_ids, rows.site_ids]))
        numbers = [level.numbers_of(ids) for level in self.levels]
        left = list(zip(self.levels, numbers, strict=True))
        gone = join([level.rows.take(own) for level, own in left])
        *levels, fresh = (level.without(own) for level, own in left)
        regrouped = regroup(
            levels,
            join([fresh.rows.take(fresh.living), rows]),
            [rows, gone],
            self.groups,
            self.policy,
        )
        changed = (*regrouped.levels, make_level(regrouped.fresh, self.policy))
        is_full = len(regrouped.fresh) > self.sizes.fresh
        return replace(
            self,
            levels=_closed(changed, self.policy) if is_full else changed,
            groups=regrouped.groups,
            generation=_followed(self.generation, changed, rows, gone),
        )

    def find_merge(self) -> Merge | None:
        """Return the next merge, if any; not while another merge is under way."""
        levels = find_merge(self.levels, self.sizes)
        return None if levels is None else Merge(self.levels[levels], self.policy)

    def with_merged(self, merge: Merge, merged_level: Level) -> "Builder":
        """merged_level: of the merge, of this builder or one before it."""
        first = next(
            number
            for number, level in enumerate(self.levels)
            if level.is_of(merge.levels[0])
        )
        end = first + len(merge.levels)
        since = [
            then.rows.site_ids[np.flatnonzero(then.part.alive != now.part.alive)]
            for then, now in zip(merge.levels, self.levels[first:end], strict=True)
        ]
        merged_level = merged_level.without(
            merged_level.numbers_of(np.concatenate(since))
        )
        merged = (merged_level,) if merged_level.size else ()
        levels = (*self.levels[:first], *merged, *self.levels[end:])
        return replace(self, levels=levels)


def uncommitted_index(profiles: Iterable[Profile], policy: Policy) -> Index:
    """Return the index without its generation, for searches that no record names."""
    rows, groups = with_representatives(rows_of(list(profiles), policy), {}, policy)
    levels = _closed((make_level(rows, policy),), policy)
    none = Generation(policy=policy.digest)
    return Builder(policy=policy, levels=levels, groups=groups, generation=none).index


def _closed(levels: tuple[Level, ...], policy: Policy) -> tuple[Level, ...]:
    """Return the levels with an empty last one; no other is empty."""
    *older, last = levels
    closed = [
        level for level in (*older, with_members(last, policy)) if len(level.rows)
    ]
    return (*closed, make_level(rows_of([], policy), policy))


def generation_of(
    levels: Sequence[Level], site_ids: Numbers, digests: Bytes, policy: Policy
) -> Generation:
    """Return what an index commits to. digests: of the profiles of the sites."""
    none = Generation(policy=policy.digest)
    hashes = np.concatenate([level.part.segment.hashes for level in levels])
    return replace(
        none,
        sites=none.sites.updated(site_ids.astype(np.uint64), digests),
        words=none.words.updated(*_counted(levels, np.unique(hashes))),
    )


def _followed(
    before: Generation, levels: Sequence[Level], came: Rows, gone: Rows
) -> Generation:
    """Return the generation of the levels after rows came and went."""
    fresh, former = (rows.site_ids.astype(np.uint64) for rows in (came, gone))
    former = former[~np.isin(former, fresh)]
    removed = np.zeros((len(former), DIGEST_BYTES), np.uint8)
    digests = np.concatenate([digests_of(came.bodies), removed])
    hashes = _changed_words(came, gone)
    return replace(
        before,
        sites=before.sites.updated(np.concatenate([fresh, former]), digests),
        words=before.words.updated(*_counted(levels, hashes)),
    )


def _changed_words(came: Rows, gone: Rows) -> Words:
    """Return the hashes of words that more or fewer rows have than before."""
    both = [rows.runs_of(rows.hashes, np.arange(len(rows))) for rows in (came, gone)]
    fresh, former = (runs.packed() for runs in both)
    hashes, which = np.unique(np.concatenate([fresh, former]), return_inverse=True)
    signs = np.repeat([1, -1], [len(fresh), len(former)])
    moved = np.bincount(which, signs, len(hashes)) != 0
    changed: Words = hashes[moved]
    return changed


def _counted(levels: Sequence[Level], hashes: Words) -> tuple[Words, Bytes]:
    """Return those of the hashes that are of words, with encoded counts."""
    words = hashes[hashes % 2 == 0]
    counts = word_counts(levels, words).astype(">u4")
    return words, counts.view(np.uint8).reshape(len(words), COUNT_BYTES)
