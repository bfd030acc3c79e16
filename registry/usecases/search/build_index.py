"""Keeping the shared index in step with the database, as the ranker.

One process of a machine does so. It goes on from the files of the one before, where
they are of this database and code; else it reads all profiles. Changes are put out as
they come, some at a time, so that a new one never waits behind many; what takes long, to
make one level of several, is done beside.

A profile that was made under another policy is left out: its numbers would stand in one
order with numbers of another meaning. A crawler computes it again.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import structlog

from registry.db.engine.copied_rows import CopiedPage
from registry.db.engine.engines import Connection, DatabaseError, Engine, reading
from registry.db.engine.snapshots import snapshot_of
from registry.db.sites.profiles import (
    ProfileChange,
    copy_profiles,
    profiles_of,
    source_of,
)
from registry.index.building.builder import Builder, Merge
from registry.index.building.index_files import IndexWriter
from registry.index.building.publishers import with_representatives
from registry.index.columns.features import read_rows
from registry.index.columns.rows import Bodies, Rows, rows_of
from registry.index.columns.runs import Runs, no_source
from registry.index.columns.spool import Spool
from registry.index.segments.array_file import HEAD_ROOM
from registry.index.segments.levels import SIZES, Level, Sizes
from registry.ranking.policy import Policy
from registry.usecases.background import follow, in_background, unfailing
from registry.usecases.search.profile_changes import ProfileChanges

PAUSE_S = 0.1
BEAT_S = 2.0
MERGE_PAUSE_S = 60.0
"""Pause after a merge that failed, for lack of disk or memory."""

MERGE_NICENESS = 5
"""Niceness of a merge. With more, changes would wait for one that has no turn."""

VERIFY_PAUSE_S = 300.0
"""Pause between two checks of all files; one takes some 0.3 s for a million sites."""

TAKEN_MOST, TAKEN_LEAST, TAKING_S = 2_000, 200, 0.2
"""Changed sites that are put out together: as many as take about so long, for those that
change meanwhile wait for them."""

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
        self._index_files = IndexWriter(folder)
        self._builder: Builder | None = None
        self._changes = ProfileChanges("", 0)
        self._merging: tuple[Merge, asyncio.Future[Level]] | None = None
        self._merge_after = 0.0
        self._at_once = TAKEN_MOST
        self._is_lost = False
        self._verifying: asyncio.Future[None] | None = None
        self._verify_after = 0.0

    async def run(self) -> None:
        """Follow until cancelled.

        Raises: FileDamaged where a file is no longer what was written. It may have been
        read by then, so it is not used any more; the next start of the builder writes
        all files again.
        """
        self._verify_after = asyncio.get_running_loop().time() + VERIFY_PAUSE_S
        beating = asyncio.create_task(unfailing(self._beat))
        try:
            await follow(self._try, pause_s=PAUSE_S, lost="index_feed_lost")
        finally:
            beating.cancel()

    async def _beat(self) -> None:
        """Show that it works, until an attempt failed and again once one did not."""
        while True:
            if not self._is_lost:
                self._index_files.beat()
            await asyncio.sleep(BEAT_S)

    async def _try(self) -> bool:
        try:
            await self._verify_beside()
            has_changed = await self.catch_up()
        except (DatabaseError, OSError):
            self._is_lost = True
            raise
        self._is_lost = False
        return has_changed

    async def _verify_beside(self) -> None:
        """Begin a check of all files that is due, or end the one that is done."""
        now = asyncio.get_running_loop().time()
        if self._verifying is None:
            if now >= self._verify_after:
                self._verifying = in_background(self._index_files.verify)
        elif self._verifying.done():
            verified, self._verifying = self._verifying, None
            self._verify_after = now + VERIFY_PAUSE_S
            await verified

    def close(self) -> None:
        """Another may build there then."""
        self._index_files.close()

    async def catch_up(self) -> bool:
        """Take in every change that has been committed, and put the index out.

        Returns: whether it is another one then. No snapshot is held between statements.
        """
        async with reading(self._engine).connect() as connection:
            before = self._builder
            if self._builder is None:
                self._builder = await self._begin(connection)
            while True:
                await self._changes.look(connection)
                if taken := self._changes.some(self._at_once):
                    self._builder = await self._take(self._builder, taken, connection)
                self._builder = await self._merge_beside(self._builder)
                if not self._changes:
                    return self._builder is not before

    async def _begin(self, connection: Connection) -> Builder:
        """Raises: OSError, MemoryError."""
        source = await source_of(connection)
        horizon = (await snapshot_of(connection)).oldest
        stored = await asyncio.to_thread(
            self._index_files.find, self._policy, self._sizes
        )
        if stored is not None:
            builder, since = stored
            # A database whose horizon fell is an earlier state of itself.
            if since.source == source and since.horizon <= horizon:
                self._changes = ProfileChanges(source, since.horizon)
                logger.info("index_taken_up", sites=len(builder.index))
                return builder
        self._changes = ProfileChanges(source, horizon)
        none = rows_of([], self._policy)
        with (
            self._index_files.preallocated() as adopted,
            closing(Spool(self._folder, none, *adopted, HEAD_ROOM)) as spool,
        ):
            return await self._build(connection, spool)

    async def _build(self, connection: Connection, spool: Spool) -> Builder:
        """Build an index of all profiles."""

        async def take(page: CopiedPage) -> None:
            await asyncio.to_thread(self._spool, page, spool)

        await copy_profiles(connection, take)
        builder = await asyncio.to_thread(self._builder_of, spool)
        logger.info("index_built", sites=len(builder.index))
        return await self._put(builder)

    def _spool(self, page: CopiedPage, spool: Spool) -> None:
        stored = Runs(
            arrays=(page.content,),
            source=no_source(len(page.starts)),
            starts=page.starts,
            lengths=page.lengths,
        )
        spool.add(self._read(Bodies(stored)))

    def _read(self, stored: Bodies) -> Rows:
        read = read_rows(stored, self._policy)
        if read.left_out:
            logger.warning(
                "profiles_of_another_policy",
                ignored=read.left_out,
                policy=self._policy.digest,
            )
        return read.rows

    def _builder_of(self, spool: Spool) -> Builder:
        rows, groups = with_representatives(spool.rows(), {}, self._policy)
        digests = np.concatenate(spool.digests)
        return Builder.of_rows(rows, groups, digests, self._policy, self._sizes)

    async def _take(
        self, builder: Builder, site_ids: Sequence[int], connection: Connection
    ) -> Builder:
        """Put out as they are now."""
        started = time.monotonic()
        changed = await profiles_of(connection, site_ids)
        updated = await asyncio.to_thread(self._taken_in, builder, changed)
        builder = await self._put(updated, len(site_ids))
        self._changes.done(site_ids)
        self._pace(len(site_ids), time.monotonic() - started)
        return builder

    def _pace(self, taken: int, took_s: float) -> None:
        """Move the batch halfway to the size that takes TAKING_S."""
        if taken == self._at_once or took_s > TAKING_S:
            aim = (taken + int(taken * TAKING_S / took_s)) // 2
            self._at_once = min(max(aim, TAKEN_LEAST), TAKEN_MOST)

    def _taken_in(self, builder: Builder, changed: Sequence[ProfileChange]) -> Builder:
        stored = Bodies.of(
            change.stored for change in changed if change.stored is not None
        )
        site_ids = [change.site_id for change in changed]
        return builder.with_rows(self._read(stored), site_ids)

    async def _put(self, builder: Builder, taken: int = 0) -> Builder:
        """taken: how many of the pending changes it holds that were not in before."""
        since = self._changes.since(taken)
        put = await asyncio.to_thread(self._index_files.put, builder, since)
        self._is_lost = False
        return put

    async def _merge_beside(self, builder: Builder) -> Builder:
        """Begin a merge that is due, or take in the one that is done."""
        if self._merging is None:
            merge = builder.find_merge()
            if merge and asyncio.get_running_loop().time() >= self._merge_after:
                making = in_background(
                    lambda: self._index_files.merged(merge), MERGE_NICENESS
                )
                self._merging = merge, making
        elif self._merging[1].done():
            return await self._merged(builder, *self._merging)
        return builder

    async def _merged(
        self, builder: Builder, merge: Merge, making: asyncio.Future[Level]
    ) -> Builder:
        try:
            level = await making
            merged = await asyncio.to_thread(builder.with_merged, merge, level)
        except (OSError, MemoryError) as error:
            logger.warning("index_merge_failed", detail=str(error))
            self._merge_after = asyncio.get_running_loop().time() + MERGE_PAUSE_S
        else:
            builder = await self._put(merged)
        self._merging = None
        return builder
