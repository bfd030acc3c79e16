"""Summaries of listed sites as answers show them, in memory until their sites change.

Those that concurrent answers lack are read together, over one connection that is held
for it; the next callers gather meanwhile. So an answer costs a part of a round trip. The
same connection is asked now and then which sites have changed.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import structlog

from registry.db.engine.engines import Connection, DatabaseError, Engine, reading
from registry.db.engine.snapshots import Snapshot, snapshot_of
from registry.db.sites import listed_sites as sites
from registry.sites.summary import SiteSummary, summary_of

CAPACITY = 100_000
"""Summaries; each takes about a kilobyte."""

CHANGED_MOST = 10_000
"""If more sites changed at once, the cache is emptied."""

PAUSE_S = 0.25
RECONNECT_PAUSE_S = 0.2

logger = structlog.get_logger()


@dataclass(slots=True)
class _PendingRead:
    site_ids: Sequence[int]
    summaries: asyncio.Future[dict[int, SiteSummary]]


class SummaryCache:
    """The summaries that were read last, at most `capacity`."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._summaries: dict[int, SiteSummary] = {}

    def find(self, site_ids: Iterable[int]) -> dict[int, SiteSummary]:
        cached = self._summaries
        return {site_id: cached[site_id] for site_id in site_ids if site_id in cached}

    def add(self, summaries: Mapping[int, SiteSummary]) -> None:
        self.remove(summaries)
        self._summaries |= summaries
        excess = len(self._summaries) - self._capacity
        self.remove(list(islice(self._summaries, max(0, excess))))

    def remove(self, site_ids: Iterable[int]) -> None:
        for site_id in site_ids:
            self._summaries.pop(site_id, None)

    def clear(self) -> None:
        self._summaries.clear()


class ListedEntries:
    """Summaries of sites; `run` reads them and removes those that have changed.

    engine: of the API's role: the ranker may not read what is shown. changed_most: see
    CHANGED_MOST.
    """

    def __init__(self, engine: Engine, changed_most: int = CHANGED_MOST) -> None:
        self._engine = reading(engine)
        self._changed_most = changed_most
        self._cache = SummaryCache()
        self._seen: Snapshot | None = None
        self._is_due = True
        self._next_look: asyncio.TimerHandle | None = None
        self._pending: list[_PendingRead] = []
        self._arrival = asyncio.Event()

    async def run(self) -> None:
        """Serve until cancelled, over a new connection after a failure."""
        is_lost = False
        while True:
            is_new = True
            try:
                async with self._engine.connect() as connection:
                    while True:
                        await self.serve(connection)
                        is_new = is_lost = False
                        await self._arrival.wait()
            except (DatabaseError, OSError) as error:
                if not is_lost:
                    kind = type(error).__name__
                    logger.warning("entries_connection_lost", kind=kind)
                is_lost, self._is_due = True, True
                if is_new:
                    self._turn_away(error)
                    await asyncio.sleep(RECONNECT_PAUSE_S)

    async def find(self, site_ids: Sequence[int]) -> dict[int, SiteSummary]:
        """Return the summaries of the registered ones. Raises: DatabaseError, OSError."""
        summaries = self._cache.find(site_ids)
        if len(summaries) < len(site_ids):
            missing = [site_id for site_id in site_ids if site_id not in summaries]
            read = asyncio.get_running_loop().create_future()
            self._pending.append(_PendingRead(missing, read))
            self._arrival.set()
            summaries |= await read
        return summaries

    async def serve(self, connection: Connection) -> None:
        """Remove what has changed, if that is due, and read all that is waited for."""
        while self._is_due or self._pending:
            if self._is_due:
                await self._remove_changed(connection)
            if self._pending:
                await self._read(connection)
        self._arrival.clear()

    async def _remove_changed(self, connection: Connection) -> None:
        """Nothing is read meanwhile: every cached summary is older or newer than this."""
        before = self._seen
        if before is None:
            self._seen = await snapshot_of(connection)
        else:
            changed, self._seen = await sites.changed_since(
                connection, before, self._changed_most
            )
            # A database whose horizon fell is an earlier state of itself.
            if len(changed) >= self._changed_most or self._seen.oldest < before.oldest:
                self._cache.clear()
            self._cache.remove(changed)
        self._is_due = False
        if self._next_look is not None:
            self._next_look.cancel()
        loop = asyncio.get_running_loop()
        self._next_look = loop.call_later(PAUSE_S, self.look_again)

    def look_again(self) -> None:
        """Have the next call of `serve` find out what has changed."""
        self._is_due = True
        self._arrival.set()

    async def _read(self, connection: Connection) -> None:
        """Read for all pending callers; they stay pending if that fails."""
        batch = list(self._pending)
        site_ids = {site_id for caller in batch for site_id in caller.site_ids}
        entries = await sites.find_short(connection, list(site_ids))
        summaries = {entry.site_id: summary_of(entry) for entry in entries}
        self._cache.add(summaries)
        del self._pending[: len(batch)]
        for caller in batch:
            if not caller.summaries.done():
                ids = [site_id for site_id in caller.site_ids if site_id in summaries]
                caller.summaries.set_result({id_: summaries[id_] for id_ in ids})

    def _turn_away(self, error: Exception) -> None:
        turned, self._pending = self._pending, []
        for caller in turned:
            if not caller.summaries.done():
                caller.summaries.set_exception(error)
