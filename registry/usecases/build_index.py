"""Keeping the shared index in step with the database, as the ranker.

One process of a machine does so. A profile that was made under another policy is left
out: its numbers would stand in one order with numbers of another meaning. A crawler
makes it anew.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import msgspec
import structlog

from registry.db.engine import Engine
from registry.db.profiles import Changes, changes_since
from registry.index.builder import Builder
from registry.index.shelf import ShelfWriter
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile, parse_profile
from registry.usecases.following import follow

PAUSE_S = 0.1

logger = structlog.get_logger()


class IndexBuilder:
    """engine: of the ranker's role, which sees profiles only. folder: of the index."""

    def __init__(self, engine: Engine, folder: Path, policy: Policy) -> None:
        self._engine = engine
        self._policy = policy
        self._shelf = ShelfWriter(folder)
        self._builder = Builder.build([], policy)
        self._horizon = 0
        self._seen: dict[int, int] = {}  # hashes of the bodies
        self._is_put = False

    async def run(self) -> None:
        """Follow until cancelled."""
        await follow(self.catch_up, pause_s=PAUSE_S, lost="index_feed_lost")

    async def catch_up(self) -> None:
        """Take in every change that has been committed, and put the index out."""
        async with self._engine.connect() as connection:
            changes = await changes_since(connection, self._horizon)
        upserts, removals = self._new_in(changes)
        if upserts or removals or not self._is_put:
            profiles = self._of_this_policy(upserts.values())
            await asyncio.to_thread(self._put, profiles, [*removals, *upserts])
            self._is_put = True
        self._horizon = changes.horizon

    def _put(self, upserts: Iterable[Profile], removals: Iterable[int]) -> None:
        self._builder = self._builder.with_changes(upserts, removals)
        self._shelf.put(self._builder.index)

    def _of_this_policy(self, bodies: Iterable[bytes]) -> list[Profile]:
        found = [_parse(body) for body in bodies]
        kept = [one for one in found if one and one.policy == self._policy.digest]
        if len(kept) < len(found):
            logger.warning(
                "profiles_of_another_policy",
                ignored=len(found) - len(kept),
                policy=self._policy.digest,
            )
        return kept

    def _new_in(self, changes: Changes) -> tuple[dict[int, bytes], list[int]]:
        """Rows near the horizon come more than once; the same bytes are no change."""
        upserts: dict[int, bytes] = {}
        removals: list[int] = []
        for row in changes.rows:
            if row.profile is None:
                if self._seen.pop(row.site_id, None) is not None:
                    removals.append(row.site_id)
            elif self._seen.get(row.site_id) != hash(row.profile):
                self._seen[row.site_id] = hash(row.profile)
                upserts[row.site_id] = row.profile
        return upserts, removals


def _parse(body: bytes) -> Profile | None:
    """None for the bytes of a release whose profiles had other members."""
    try:
        return parse_profile(body)
    except msgspec.DecodeError:
        return None
