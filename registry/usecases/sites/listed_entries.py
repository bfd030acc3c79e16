"""Members of answers about listed sites, in memory until the sites change.

A site's summary is in every answer; how its actions are called, in brief ones.

Those that concurrent answers lack are read together, over one connection that is held
for it; the next callers gather meanwhile. So an answer costs a part of a round trip. The
same connection is asked now and then which sites have changed.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, TypeVar

import structlog

from registry.db.engine.engines import Connection, DatabaseError, Engine, reading
from registry.db.engine.snapshots import Snapshot, snapshot_of
from registry.db.sites import listed_sites as sites
from registry.db.sites.listed_sites import count_listed
from registry.errors import root_cause
from registry.formats.invocations import Invocation, invocations_of
from registry.sites.summary import SiteSummary, summary_of
from registry.usecases.background import Cadence

CAPACITY = 100_000
"""Summaries; each takes about a kilobyte."""

INVOCATIONS_CAPACITY = 10_000
"""Sites whose invocations are kept; those of one take some kilobytes."""

CHANGED_MOST = 10_000
"""Number of sites changed at once above which the cache is emptied."""

PAUSE_S = 0.25
RECONNECT_PAUSE_S = 0.2

logger = structlog.get_logger()


Value = TypeVar("Value")


class EntryCache(Generic[Value]):
    """Values that were read last, by the ids of sites, of at most `capacity` of them."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values: dict[int, Value] = {}

    def find(self, site_ids: Iterable[int]) -> dict[int, Value]:
        cached = self._values
        return {site_id: cached[site_id] for site_id in site_ids if site_id in cached}

    def add(self, values: Mapping[int, Value]) -> None:
        self.remove(values)
        self._values |= values
        excess = len(self._values) - self._capacity
        self.remove(list(islice(self._values, max(0, excess))))

    def remove(self, site_ids: Iterable[int]) -> None:
        for site_id in site_ids:
            self._values.pop(site_id, None)

    def clear(self) -> None:
        self._values.clear()


@dataclass(slots=True)
class _PendingRead(Generic[Value]):
    site_ids: Sequence[int]
    values: asyncio.Future[dict[int, Value]]


@dataclass(slots=True)
class _Member(Generic[Value]):
    """Cache of one member, and the callers that wait for it."""

    read: Callable[[Connection, Sequence[int]], Awaitable[dict[int, Value]]]
    cache: EntryCache[Value]
    pending: list[_PendingRead[Value]] = field(default_factory=list)

    async def read_pending(self, connection: Connection) -> None:
        """Read for all pending callers; they stay pending if that fails."""
        batch = list(self.pending)
        site_ids = {site_id for caller in batch for site_id in caller.site_ids}
        values = await self.read(connection, list(site_ids))
        self.cache.add(values)
        del self.pending[: len(batch)]
        for caller in batch:
            if not caller.values.done():
                ids = [site_id for site_id in caller.site_ids if site_id in values]
                caller.values.set_result({id_: values[id_] for id_ in ids})

    def turn_away(self, error: Exception) -> None:
        turned, self.pending = self.pending, []
        for caller in turned:
            if not caller.values.done():
                caller.values.set_exception(error)


async def _read_summaries(
    connection: Connection, site_ids: Sequence[int]
) -> dict[int, SiteSummary]:
    entries = await sites.find_short(connection, site_ids)
    return {entry.site_id: summary_of(entry) for entry in entries}


async def _read_invocations(
    connection: Connection, site_ids: Sequence[int]
) -> dict[int, tuple[Invocation, ...]]:
    actions = await sites.find_actions(connection, site_ids)
    return {site_id: invocations_of(rows) for site_id, rows in actions.items()}


class ListedEntries:
    """Members of answers, by site; `run` reads them and removes those that have changed.

    engine: of the API's role: the ranker may not read what is shown. changed_most: see
    CHANGED_MOST.
    """

    def __init__(self, engine: Engine, changed_most: int = CHANGED_MOST) -> None:
        self._engine = reading(engine)
        self._changed_most = changed_most
        self._summaries = _Member(_read_summaries, EntryCache(CAPACITY))
        self._invocations = _Member(_read_invocations, EntryCache(INVOCATIONS_CAPACITY))
        self._members = (self._summaries, self._invocations)
        self._seen: Snapshot | None = None
        self._is_due = True
        self._next_look: asyncio.TimerHandle | None = None
        self._cadence = Cadence(PAUSE_S)
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
                    logger.warning("entries_connection_lost", kind=root_cause(error))
                is_lost, self._is_due = True, True
                if is_new:
                    for member in self._members:
                        member.turn_away(error)
                    await asyncio.sleep(RECONNECT_PAUSE_S)

    async def find(self, site_ids: Sequence[int]) -> dict[int, SiteSummary]:
        """Return the summaries of the registered ones. Raises: DatabaseError, OSError."""
        return await self._find(self._summaries, site_ids)

    async def find_invocations(
        self, site_ids: Sequence[int]
    ) -> dict[int, tuple[Invocation, ...]]:
        """Return how actions are called, as `find` does."""
        return await self._find(self._invocations, site_ids)

    async def _find(
        self, member: "_Member[Value]", site_ids: Sequence[int]
    ) -> dict[int, Value]:
        values = member.cache.find(site_ids)
        if len(values) < len(site_ids):
            missing = [site_id for site_id in site_ids if site_id not in values]
            read = asyncio.get_running_loop().create_future()
            member.pending.append(_PendingRead(missing, read))
            self._arrival.set()
            values |= await read
        return values

    async def serve(self, connection: Connection) -> None:
        """Remove what has changed, if that is due, and read all that is waited for."""
        while self._is_due or any(member.pending for member in self._members):
            if self._is_due:
                await self._remove_changed(connection)
            for member in self._members:
                if member.pending:
                    await member.read_pending(connection)
        self._arrival.clear()

    async def _remove_changed(self, connection: Connection) -> None:
        """Remove what changed from the cache; nothing is read meanwhile."""
        before, changed = self._seen, list[int]()
        if before is None:
            self._seen = await snapshot_of(connection)
        else:
            changed, self._seen = await sites.changed_since(
                connection, before, self._changed_most
            )
            # A database whose horizon fell is an earlier state of itself.
            is_other = self._seen.oldest < before.oldest
            for member in self._members:
                if is_other or len(changed) >= self._changed_most:
                    member.cache.clear()
                member.cache.remove(changed)
        self._is_due = False
        if self._next_look is not None:
            self._next_look.cancel()
        loop = asyncio.get_running_loop()
        self._next_look = loop.call_later(self._cadence.after(changed), self.look_again)

    def look_again(self) -> None:
        """Make the next call of `serve` look for what has changed."""
        self._is_due = True
        self._arrival.set()


LIFE_S = 60.0


class ListedCount:
    """A number that is counted once a minute, however many ask for it."""

    def __init__(
        self, engine: Engine, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """clock: seconds, monotonic."""
        self._engine = engine
        self._clock = clock
        self._counting = asyncio.Lock()
        self._count = 0
        self._ends_at = float("-inf")

    async def current(self) -> int:
        """Return the number of sites; it may be a minute old."""
        async with self._counting:
            if self._clock() >= self._ends_at:
                async with self._engine.connect() as connection:
                    self._count = await count_listed(connection)
                self._ends_at = self._clock() + LIFE_S
            return self._count
