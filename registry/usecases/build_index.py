"""Keeping the shared index in step with the database, as the ranker.

One process of a machine does so. Changes are put out as they come; what takes long, to
make one level of several, is done beside, in a thread that yields to all others.

A profile that was made under another policy is left out: its numbers would stand in one
order with numbers of another meaning. A crawler makes it anew.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import structlog

from registry.db.engine import Engine
from registry.db.profiles import ProfileChange, changes_since, horizon_of
from registry.index.builder import Builder, Merge
from registry.index.levels import SIZES, Level, Sizes
from registry.index.rows import Rows, join, rows_of
from registry.index.shelf import ShelfWriter
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile, parse_profile
from registry.usecases.background import in_background
from registry.usecases.following import follow

PAUSE_S = 0.1
MERGE_PAUSE_S = 60.0
"""After a merge that failed, for lack of disk or memory."""

logger = structlog.get_logger()


@dataclass(slots=True)
class _News:
    """What one look at the changes brought. seen: hashes of the profiles, by site."""

    rows: list[Rows] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)


class IndexBuilder:
    """engine: of the ranker's role, which sees profiles only. folder: of the index."""

    def __init__(
        self, engine: Engine, folder: Path, policy: Policy, sizes: Sizes = SIZES
    ) -> None:
        self._engine = engine
        self._policy = policy
        self._shelf = ShelfWriter(folder)
        self._builder = Builder.build([], policy, sizes)
        self._horizon = 0
        self._seen: dict[int, int] = {}
        self._is_put = False
        self._merging: tuple[Merge, asyncio.Future[Level]] | None = None
        self._merge_after = 0.0

    async def run(self) -> None:
        """Follow until cancelled."""
        await follow(self.catch_up, pause_s=PAUSE_S, lost="index_feed_lost")

    async def catch_up(self) -> None:
        """Take in every change that has been committed, and put the index out."""
        news = _News()
        async with self._engine.connect() as connection:
            horizon = await horizon_of(connection)
            async for page in changes_since(connection, self._horizon):
                await asyncio.to_thread(self._read, page, news)
        if news.rows or news.gone or not self._is_put:
            await asyncio.to_thread(self._take_in, news)
            self._is_put = True
        self._horizon, self._seen = horizon, news.seen
        await self._merge_beside()

    def _read(self, page: Sequence[ProfileChange], news: _News) -> None:
        """Rows near the horizon come more than once; the same bytes are no change."""
        bodies: list[bytes] = []
        for row in page:
            news.seen[row.site_id] = hash(row.profile)
            # Who comes again came with the last look: the horizon never falls.
            if self._seen.get(row.site_id) == news.seen[row.site_id]:
                continue
            news.gone.append(row.site_id)
            if row.profile is not None:
                bodies.append(row.profile)
        if bodies:
            news.rows.append(rows_of(self._of_this_policy(bodies), self._policy))

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

    def _take_in(self, news: _News) -> None:
        rows = join([rows_of([], self._policy), *news.rows])
        news.rows.clear()
        self._builder = self._shelf.put(self._builder.with_rows(rows, news.gone))

    # ---- merging ----

    async def _merge_beside(self) -> None:
        """Begin a merge that is due, or take in the one that is done."""
        if self._merging is None:
            merge = self._builder.find_merge()
            if merge and asyncio.get_running_loop().time() >= self._merge_after:
                self._merging = merge, in_background(lambda: self._made(merge))
        elif self._merging[1].done():
            await self.finish_merge()

    def _made(self, merge: Merge) -> Level:
        return self._shelf.keep(merge.made())

    async def finish_merge(self) -> None:
        """Wait for the merge that is under way, if any, and put its result out."""
        if self._merging is None:
            return
        merge, making = self._merging
        try:
            builder = self._builder.with_merged(merge, await making)
        except (OSError, MemoryError) as error:
            logger.warning("index_merge_failed", detail=str(error))
            self._merge_after = asyncio.get_running_loop().time() + MERGE_PAUSE_S
        else:
            self._builder = await asyncio.to_thread(self._shelf.put, builder)
        self._merging = None


def _parse(body: bytes) -> Profile | None:
    """None for the bytes of a release whose profiles had other members."""
    try:
        return parse_profile(body)
    except msgspec.DecodeError:
        return None
