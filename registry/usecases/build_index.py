"""Keeping the shared index in step with the database, as the ranker.

One process of a machine does so. It goes on from the files of the one before, where
they are of this database and code; else it reads all profiles. Changes are put out as
they come, some at a time, so that a new one never waits behind many; what takes long, to
make one level of several, is done beside, in a thread that yields to all others.

A profile that was made under another policy is left out: its numbers would stand in one
order with numbers of another meaning. A crawler makes it anew.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np
import structlog

from registry.db.engine import Connection, Engine
from registry.db.profiles import (
    ProfileChange,
    ProfilePage,
    changed_since,
    copy_profiles,
    horizon_of,
    profiles_of,
    source_of,
)
from registry.index.building.builder import Builder, Merge
from registry.index.building.manifest import Since
from registry.index.building.publishers import with_leaders
from registry.index.building.shelf import ShelfWriter
from registry.index.columns.reading import read_rows
from registry.index.columns.rows import Bodies, Rows, rows_of
from registry.index.columns.runs import Runs, no_source
from registry.index.columns.spool import Spool
from registry.index.segments.levels import SIZES, Level, Sizes
from registry.ranking.policy import Policy
from registry.usecases.background import in_background
from registry.usecases.following import follow

PAUSE_S = 0.1
MERGE_PAUSE_S = 60.0
"""After a merge that failed, for lack of disk or memory."""

MERGE_NICENESS = 5
"""Not more: changes would wait for a merge that holds the interpreter and has no turn."""

TAKEN_AT_ONCE = 2_000
"""Changed sites that are put out together: half the newest, half those longest due."""

logger = structlog.get_logger()


class IndexBuilder:
    """engine: of the ranker's role, which sees profiles only. folder: of the index."""

    def __init__(
        self, engine: Engine, folder: Path, policy: Policy, sizes: Sizes = SIZES
    ) -> None:
        self._engine = engine
        self._folder = folder
        self._policy = policy
        self._sizes = sizes
        self._shelf = ShelfWriter(folder)
        self._builder: Builder | None = None
        self._changes = _Changes("", 0)
        self._merging: tuple[Merge, asyncio.Future[Level]] | None = None
        self._merge_after = 0.0

    async def run(self) -> None:
        """Follow until cancelled."""
        await follow(self.catch_up, pause_s=PAUSE_S, lost="index_feed_lost")

    def close(self) -> None:
        """Another may build there then."""
        self._shelf.close()

    async def catch_up(self) -> None:
        """Take in every change that has been committed, and put the index out."""
        async with self._engine.connect() as connection:
            if self._builder is None:
                self._builder = await self._begin(connection)
            while True:
                await self._changes.look(connection)
                if taken := self._changes.some():
                    changed = await profiles_of(connection, taken)
                    made = await asyncio.to_thread(
                        self._taken_in, self._builder, changed
                    )
                    self._builder = await self._put(made, len(taken))
                    self._changes.done(taken)
                await connection.rollback()  # no snapshot is held
                self._builder = await self._merge_beside(self._builder)
                if not self._changes.pending:
                    return

    # ---- beginning ----

    async def _begin(self, connection: Connection) -> Builder:
        """Raises: OSError, MemoryError."""
        source = await source_of(connection)
        horizon = await horizon_of(connection)
        found = await asyncio.to_thread(self._shelf.find, self._policy, self._sizes)
        if found is not None:
            builder, since = found
            # A database whose horizon fell is an earlier state of itself.
            if since.source == source and since.horizon <= horizon:
                self._changes = _Changes(source, since.horizon)
                logger.info("index_taken_up", sites=len(builder.index))
                return builder
        self._changes = _Changes(source, horizon)
        with closing(Spool(self._folder, rows_of([], self._policy))) as spool:
            return await self._build(connection, spool)

    async def _build(self, connection: Connection, spool: Spool) -> Builder:
        """From all profiles."""

        async def take(page: ProfilePage) -> None:
            await asyncio.to_thread(self._spool, page, spool)

        await copy_profiles(connection, take)
        await connection.rollback()
        builder = await asyncio.to_thread(self._made_of, spool)
        logger.info("index_built", sites=len(builder.index))
        return await self._put(builder)

    def _spool(self, page: ProfilePage, spool: Spool) -> None:
        bodies = Runs(
            arrays=(np.frombuffer(page.content, np.uint8),),
            source=no_source(len(page.starts)),
            starts=np.array(page.starts, np.int64),
            lengths=np.array(page.lengths, np.int64),
        )
        spool.add(self._read(Bodies(bodies)))

    def _read(self, bodies: Bodies) -> Rows:
        read = read_rows(bodies, self._policy)
        if read.left_out:
            logger.warning(
                "profiles_of_another_policy",
                ignored=read.left_out,
                policy=self._policy.digest,
            )
        return read.rows

    def _made_of(self, spool: Spool) -> Builder:
        rows, voices = with_leaders(spool.rows(), {}, self._policy)
        return Builder.of_rows(rows, voices, spool.content, self._policy, self._sizes)

    # ---- changes ----

    def _taken_in(self, builder: Builder, changed: Sequence[ProfileChange]) -> Builder:
        bodies = Bodies.of(one.profile for one in changed if one.profile is not None)
        gone = [one.site_id for one in changed]
        return builder.with_rows(self._read(bodies), gone)

    async def _put(self, builder: Builder, taken: int = 0) -> Builder:
        """taken: how many of the pending changes it holds that were not in before."""
        since = self._changes.since(taken)
        return await asyncio.to_thread(self._shelf.put, builder, since)

    # ---- merging ----

    async def _merge_beside(self, builder: Builder) -> Builder:
        """Begin a merge that is due, or take in the one that is done."""
        if self._merging is None:
            merge = builder.find_merge()
            if merge and asyncio.get_running_loop().time() >= self._merge_after:
                making = in_background(lambda: self._made(merge), MERGE_NICENESS)
                self._merging = merge, making
        elif self._merging[1].done():
            return await self._merged(builder)
        return builder

    def _made(self, merge: Merge) -> Level:
        return self._shelf.keep(merge.made())

    async def finish_merge(self) -> None:
        """Wait for the merge that is under way, if any, and put its result out."""
        if self._builder is not None:
            self._builder = await self._merged(self._builder)

    async def _merged(self, builder: Builder) -> Builder:
        if self._merging is None:
            return builder
        merge, making = self._merging
        try:
            merged = builder.with_merged(merge, await making)
        except (OSError, MemoryError) as error:
            logger.warning("index_merge_failed", detail=str(error))
            self._merge_after = asyncio.get_running_loop().time() + MERGE_PAUSE_S
        else:
            builder = await self._put(merged)
        self._merging = None
        return builder


class _Changes:
    """Which sites have changed and are not yet taken in.

    pending: by site the transaction that changed it, the latest last.
    """

    def __init__(self, source: str, horizon: int) -> None:
        """horizon: all below it is in."""
        self._source = source
        self._settled = self._horizon = horizon
        self._seen: Mapping[int, int] = {}
        self.pending: dict[int, int] = {}

    def since(self, taken: int) -> Since:
        """What an index holds with so many of those pending."""
        is_all = taken == len(self.pending)
        return Since(self._source, self._horizon if is_all else self._settled)

    async def look(self, connection: Connection) -> None:
        """Who is near the horizon is told again; the same transaction is no change."""
        horizon = await horizon_of(connection)
        seen = await changed_since(connection, self._horizon)
        for site_id, xid in seen.items():
            if self._seen.get(site_id) != xid:
                self.pending.pop(site_id, None)
                self.pending[site_id] = xid
        self._horizon, self._seen = horizon, seen
        self._settle()

    def some(self) -> list[int]:
        half = TAKEN_AT_ONCE // 2
        newest = islice(reversed(self.pending), half)
        return list(dict.fromkeys([*newest, *islice(self.pending, half)]))

    def done(self, site_ids: Sequence[int]) -> None:
        for site_id in site_ids:
            del self.pending[site_id]
        self._settle()

    def _settle(self) -> None:
        if not self.pending:
            self._settled = self._horizon
