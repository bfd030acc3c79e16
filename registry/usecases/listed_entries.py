"""Entries of listed sites as answers show them, kept in memory until they change.

Those that concurrent answers lack are read together, over one connection that is held
for it; the next callers gather meanwhile. So an answer costs a part of a round trip.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import structlog

from registry.db import sites
from registry.db.engine import Connection, DatabaseError, Engine, reading
from registry.sites.entry import ShortEntry
from registry.usecases.following import follow

MAX_KEPT = 100_000
"""Half a kilobyte each."""

FORGOTTEN_AT_ONCE = 1_000
PAUSE_S = 0.25
RECONNECT_PAUSE_S = 0.2

logger = structlog.get_logger()


@dataclass(slots=True)
class _Waiting:
    site_ids: Sequence[int]
    shown: asyncio.Future[dict[int, bytes]]


class ListedEntries:
    """What an answer shows of its sites; `run` reads them and forgets what has changed.

    engine: of the API's role: what is shown is nothing that the ranker may read.
    show: an entry in the form in which it goes out.
    """

    def __init__(self, engine: Engine, show: Callable[[ShortEntry], bytes]) -> None:
        self._engine = reading(engine)
        self._show = show
        self._kept: dict[int, bytes] = {}
        self._horizon: int | None = None
        self._waiting: list[_Waiting] = []
        self._arrival = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._read_wanted())
            group.create_task(
                follow(self.forget_changed, pause_s=PAUSE_S, lost="entries_feed_lost")
            )

    async def forget_changed(self) -> None:
        async with self._engine.connect() as connection:
            changed, horizon = await sites.changed_since(connection, self._horizon)
        if self._horizon is None:
            self._kept.clear()
        self._horizon = horizon
        for site_id in changed:
            self._kept.pop(site_id, None)

    async def find(self, site_ids: Sequence[int]) -> dict[int, bytes]:
        """Those of the ids that are registered. Raises: DatabaseError, OSError."""
        kept = self._kept
        found = {site_id: kept[site_id] for site_id in site_ids if site_id in kept}
        missing = [site_id for site_id in site_ids if site_id not in found]
        if missing:
            shown = asyncio.get_running_loop().create_future()
            self._waiting.append(_Waiting(missing, shown))
            self._arrival.set()
            found |= await shown
        return found

    async def _read_wanted(self) -> None:
        """Over a new connection after a failure; callers are told of one on a new one."""
        while True:
            await self._arrival.wait()
            is_new = True
            try:
                async with self._engine.connect() as connection:
                    while True:
                        await self._arrival.wait()
                        await self._read(connection)
                        is_new = False
            except (DatabaseError, OSError) as error:
                logger.warning("entries_connection_lost", kind=type(error).__name__)
                if is_new:
                    _turn_away(self._waiting, error)
                    self._forget(len(self._waiting))
                    await asyncio.sleep(RECONNECT_PAUSE_S)

    async def _read(self, connection: Connection) -> None:
        """What waits now; it goes on waiting if that fails."""
        batch = list(self._waiting)
        wanted = {site_id for one in batch for site_id in one.site_ids}
        entries = await sites.find_short(connection, list(wanted))
        shown = {entry.site_id: self._show(entry) for entry in entries}
        self._keep(shown)
        for one in batch:
            own = {each: shown[each] for each in one.site_ids if each in shown}
            if not one.shown.done():
                one.shown.set_result(own)
        self._forget(len(batch))

    def _forget(self, count: int) -> None:
        """The first of those who wait."""
        del self._waiting[:count]
        if not self._waiting:
            self._arrival.clear()

    def _keep(self, shown: dict[int, bytes]) -> None:
        if len(self._kept) > MAX_KEPT:
            for site_id in list(islice(self._kept, FORGOTTEN_AT_ONCE)):
                del self._kept[site_id]
        self._kept |= shown


def _turn_away(batch: list[_Waiting], error: Exception) -> None:
    for one in batch:
        if not one.shown.done():
            one.shown.set_exception(error)
