"""Entries of listed sites as answers show them, kept in memory until they change.

Those that concurrent answers lack are read together, over one connection that is held
for it; the next callers gather meanwhile. So an answer costs a part of a round trip. The
same connection is asked now and then which sites have changed.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import structlog

from registry.db import sites
from registry.db.engine import Connection, DatabaseError, Engine, reading
from registry.db.snapshots import Snapshot, snapshot_of
from registry.sites.entry import ShortEntry

KEPT_BYTES = 96 << 20
ENTRY_BYTES = 140
"""What keeping an entry costs besides its own bytes."""

CHANGED_MOST = 10_000
"""Where more sites changed at once, all entries are forgotten."""

PAUSE_S = 0.25
RECONNECT_PAUSE_S = 0.2

logger = structlog.get_logger()


@dataclass(slots=True)
class _Waiting:
    site_ids: Sequence[int]
    shown: asyncio.Future[dict[int, bytes]]


class KeptEntries:
    """The last that were read, in so many bytes."""

    def __init__(self, most: int = KEPT_BYTES) -> None:
        self._most = most
        self._bytes = 0
        self._entries: dict[int, bytes] = {}

    def find(self, site_ids: Iterable[int]) -> dict[int, bytes]:
        kept = self._entries
        return {site_id: kept[site_id] for site_id in site_ids if site_id in kept}

    def keep(self, shown: dict[int, bytes]) -> None:
        self.forget(shown)
        self._entries |= shown
        self._bytes += sum(map(len, shown.values())) + ENTRY_BYTES * len(shown)
        while self._bytes > self._most:
            self.forget([next(iter(self._entries))])

    def forget(self, site_ids: Iterable[int]) -> None:
        for site_id in site_ids:
            entry = self._entries.pop(site_id, None)
            if entry is not None:
                self._bytes -= len(entry) + ENTRY_BYTES

    def forget_all(self) -> None:
        self._entries.clear()
        self._bytes = 0


class ListedEntries:
    """What an answer shows of its sites; `run` reads them and forgets what has changed.

    engine: of the API's role: what is shown is nothing that the ranker may read.
    show: an entry in the form in which it goes out. changed_most: see CHANGED_MOST.
    """

    def __init__(
        self,
        engine: Engine,
        show: Callable[[ShortEntry], bytes],
        changed_most: int = CHANGED_MOST,
    ) -> None:
        self._engine = reading(engine)
        self._show = show
        self._changed_most = changed_most
        self._kept = KeptEntries()
        self._seen: Snapshot | None = None
        self._is_due = True
        self._next_look: asyncio.TimerHandle | None = None
        self._waiting: list[_Waiting] = []
        self._arrival = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled; over a new connection after a failure."""
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

    async def find(self, site_ids: Sequence[int]) -> dict[int, bytes]:
        """Those of the ids that are registered. Raises: DatabaseError, OSError."""
        found = self._kept.find(site_ids)
        if len(found) < len(site_ids):
            missing = [site_id for site_id in site_ids if site_id not in found]
            shown = asyncio.get_running_loop().create_future()
            self._waiting.append(_Waiting(missing, shown))
            self._arrival.set()
            found |= await shown
        return found

    async def serve(self, connection: Connection) -> None:
        """Forget what has changed, if that is due, and read all that is waited for."""
        while self._is_due or self._waiting:
            if self._is_due:
                await self._forget_changed(connection)
            if self._waiting:
                await self._read(connection)
        self._arrival.clear()

    async def _forget_changed(self, connection: Connection) -> None:
        """Nothing is read meanwhile, so what is kept was read before it or after."""
        before = self._seen
        if before is None:
            self._seen = await snapshot_of(connection)
        else:
            found = await sites.changed_since(connection, before, self._changed_most)
            changed, self._seen = found
            # A database whose horizon fell is an earlier state of itself.
            if len(changed) >= self._changed_most or self._seen.oldest < before.oldest:
                self._kept.forget_all()
            self._kept.forget(changed)
        self._is_due = False
        if self._next_look is not None:
            self._next_look.cancel()
        loop = asyncio.get_running_loop()
        self._next_look = loop.call_later(PAUSE_S, self.look_again)

    def look_again(self) -> None:
        """Whether something changed, with what is served next."""
        self._is_due = True
        self._arrival.set()

    async def _read(self, connection: Connection) -> None:
        """What waits now; it goes on waiting if that fails."""
        batch = list(self._waiting)
        wanted = {site_id for one in batch for site_id in one.site_ids}
        entries = await sites.find_short(connection, list(wanted))
        shown = {entry.site_id: self._show(entry) for entry in entries}
        self._kept.keep(shown)
        del self._waiting[: len(batch)]
        for one in batch:
            own = {each: shown[each] for each in one.site_ids if each in shown}
            if not one.shown.done():
                one.shown.set_result(own)

    def _turn_away(self, error: Exception) -> None:
        turned, self._waiting = self._waiting, []
        for one in turned:
            if not one.shown.done():
                one.shown.set_exception(error)
