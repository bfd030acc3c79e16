"""Building an index, and following the changes of its sites.

What the builder knows beyond the index, the rows themselves and what publishers say,
only it needs: an index is searched without.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from registry.index.building.publisher_groups import PublisherGroup
from registry.index.building.publishers import regroup, with_representatives
from registry.index.columns.content import BITS, content_of
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
)
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile


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

    groups: by publisher with several sites. content: a sum over all profiles.
    """

    policy: Policy
    levels: tuple[Level, ...]
    groups: Mapping[int, PublisherGroup]
    content: int = field(repr=False)
    sizes: Sizes = SIZES

    @classmethod
    def build(
        cls, profiles: Iterable[Profile], policy: Policy, sizes: Sizes = SIZES
    ) -> "Builder":
        rows, groups = with_representatives(rows_of(list(profiles), policy), {}, policy)
        return cls.of_rows(rows, groups, content_of(rows.bodies), policy, sizes)

    @classmethod
    def of_rows(
        cls,
        rows: Rows,
        groups: Mapping[int, PublisherGroup],
        content: int,
        policy: Policy,
        sizes: Sizes = SIZES,
    ) -> "Builder":
        """rows, groups: see `with_representatives`. content: of the rows."""
        return cls(
            policy=policy,
            levels=_closed((make_level(rows, policy),), policy),
            groups=groups,
            content=content,
            sizes=sizes,
        )

    @cached_property
    def index(self) -> Index:
        terms, counts = dead_terms(self.levels)
        return Index(
            policy=self.policy,
            generation=_generation(self.policy, self.content),
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
        came, went = content_of(rows.bodies), content_of(gone.bodies)
        is_full = len(regrouped.fresh) > self.sizes.fresh
        return replace(
            self,
            levels=_closed(changed, self.policy) if is_full else changed,
            groups=regrouped.groups,
            content=(self.content + came - went) % (1 << BITS),
        )

    def content_bytes(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self.content.to_bytes(BITS // 8), np.uint8)

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


def _closed(levels: tuple[Level, ...], policy: Policy) -> tuple[Level, ...]:
    """Return the levels with an empty last one; no other is empty."""
    *older, last = levels
    closed = [
        level for level in (*older, with_members(last, policy)) if len(level.rows)
    ]
    return (*closed, make_level(rows_of([], policy), policy))


def _generation(policy: Policy, content: int) -> str:
    whole = policy.digest.encode() + content.to_bytes(BITS // 8)
    return f"sha256:{hashlib.sha256(whole).hexdigest()}"
