"""Keeping the ranking index in step with the database, as the ranker.

A profile that was made under another policy than the index's is left out: its numbers
would stand in one order with numbers of another meaning. A crawler makes it anew.
"""

import asyncio
from collections.abc import Iterable

import msgspec
import structlog

from registry.db.engine import DatabaseError, Engine
from registry.db.profiles import Changes, changes_since
from registry.index.index import Index
from registry.ranking.encoder import Encoder
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile, parse_profile

PAUSE_S = 0.25
DATABASE_PAUSE_S = 1.0

logger = structlog.get_logger()


class IndexFollower:
    """Holds the newest index. engine: of the ranker's role, which sees profiles only.

    A search takes `index` once and works on it to its end; a change puts another in its
    place. changed: ids of sites that changed, for whoever keeps something of them.
    """

    def __init__(self, engine: Engine, encoder: Encoder, policy: Policy) -> None:
        self.encoder = encoder
        self.policy = policy
        self.index = Index.build([], policy)
        self.is_loaded = False
        self._engine = engine
        self._horizon = 0
        self._seen: dict[int, bytes] = {}
        self.changed: set[int] = set()

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            try:
                await self.catch_up()
                await asyncio.sleep(PAUSE_S)
            except (DatabaseError, OSError) as error:
                logger.warning("index_feed_lost", kind=type(error).__name__)
                await asyncio.sleep(DATABASE_PAUSE_S)

    async def catch_up(self) -> None:
        """Take in every change that has been committed."""
        async with self._engine.connect() as connection:
            changes = await changes_since(connection, self._horizon)
        upserts, removals = self._new_in(changes)
        if upserts or removals:
            profiles = self._of_this_policy(upserts.values())
            self.index = await asyncio.to_thread(
                self.index.with_changes, profiles, [*removals, *upserts]
            )
            self.changed.update(upserts, removals)
        self._horizon = changes.horizon
        self.is_loaded = True

    def _of_this_policy(self, bodies: Iterable[bytes]) -> list[Profile]:
        found = [_parse(body) for body in bodies]
        kept = [one for one in found if one and one.policy == self.policy.digest]
        if len(kept) < len(found):
            logger.warning(
                "profiles_of_another_policy",
                ignored=len(found) - len(kept),
                policy=self.policy.digest,
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
            elif self._seen.get(row.site_id) != row.profile:
                self._seen[row.site_id] = upserts[row.site_id] = row.profile
        return upserts, removals


def _parse(body: bytes) -> Profile | None:
    """None for the bytes of a release whose profiles had other members."""
    try:
        return parse_profile(body)
    except msgspec.DecodeError:
        return None
