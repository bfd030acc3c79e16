"""Building an index, and following the changes of its sites.

What the builder knows beyond the index, the rows themselves and what publishers say,
only it needs: an index is searched without.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from registry.index.index import Index
from registry.index.levels import Level, dead_terms, make_level, needs_rebuild
from registry.index.panel import Panel, choose_members
from registry.index.publishers import regroup, with_leaders
from registry.index.rows import Rows, join, rows_of
from registry.index.voices import Voice
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile

_SUM_BITS = 2048
"""Sums of hashes this long can't be made to meet (Bellare & Micciancio 1997)."""


@dataclass(frozen=True, kw_only=True)
class Builder:
    """base, fresh: no site lives in both. voices: by publisher with several sites.

    members, cutoff: of the panel, in the base. content: a sum over all profiles.
    """

    policy: Policy
    base: Level
    fresh: Level
    voices: Mapping[int, Voice]
    members: Level
    cutoff: int
    content: int = field(repr=False)

    @classmethod
    def build(cls, profiles: Iterable[Profile], policy: Policy) -> "Builder":
        rows, voices = with_leaders(rows_of(list(profiles), policy), {}, policy)
        base = make_level(rows, policy)
        members, cutoff = choose_members(base, policy)
        return cls(
            policy=policy,
            base=base,
            fresh=make_level(rows_of([], policy), policy),
            voices=voices,
            members=members,
            cutoff=cutoff,
            content=_content(rows),
        )

    @cached_property
    def index(self) -> Index:
        levels = (self.base, self.fresh)
        terms, counts = dead_terms(levels)
        return Index(
            policy=self.policy,
            generation=_generation(self.policy, self.content),
            parts=tuple(level.part for level in levels),
            bodies=tuple(level.rows.bodies for level in levels),
            dead_terms=terms,
            dead_counts=counts,
            panel=Panel(
                parts=(self.members.part, self.fresh.part),
                cutoff=self.cutoff,
                size=sum(len(level.living) for level in levels),
            ),
        )

    def with_changes(
        self, upserts: Iterable[Profile], removals: Iterable[int]
    ) -> "Builder":
        """Removals are of site ids; unknown ones are ignored, and upserts win."""
        new = {one.site_id: one for one in upserts}
        ids = np.array(sorted({*removals, *new}), np.int64)
        rows = rows_of(list(new.values()), self.policy)
        levels = (self.base, self.fresh)
        numbers = [level.numbers_of(ids) for level in levels]
        left = list(zip(levels, numbers, strict=True))
        gone = join([level.rows.take(own) for level, own in left])
        base, fresh = (level.without(own) for level, own in left)
        regrouped = regroup(
            base,
            join([fresh.rows.take(fresh.living), rows]),
            np.unique(np.concatenate([rows.publishers, gone.publishers])),
            self.voices,
            self.policy,
        )
        return self._beside(
            regrouped.base,
            regrouped.beside,
            regrouped.voices,
            (self.content + _content(rows) - _content(gone)) % (1 << _SUM_BITS),
        )

    def _beside(
        self, base: Level, beside: Rows, voices: Mapping[int, Voice], content: int
    ) -> "Builder":
        """With these rows beside the base, or a new base of both."""
        dead = base.rows.site_ids[base.dead]
        members, cutoff = self.members, self.cutoff
        members = members.without(members.numbers_of(dead))
        if needs_rebuild(base, beside):
            everything = join([base.rows.take(base.living), beside])
            base, beside = make_level(everything, self.policy), rows_of([], self.policy)
            members, cutoff = choose_members(base, self.policy)
        return Builder(
            policy=self.policy,
            base=base,
            fresh=make_level(beside, self.policy),
            voices=voices,
            members=members,
            cutoff=cutoff,
            content=content,
        )


def _content(rows: Rows) -> int:
    """A sum that depends on the profiles, whatever their order."""
    total = 0
    for number in range(len(rows)):
        digest = hashlib.shake_256(rows.bodies[number]).digest(_SUM_BITS // 8)
        total += int.from_bytes(digest)
    return total % (1 << _SUM_BITS)


def _generation(policy: Policy, content: int) -> str:
    whole = policy.digest.encode() + content.to_bytes(_SUM_BITS // 8)
    return f"sha256:{hashlib.sha256(whole).hexdigest()}"
