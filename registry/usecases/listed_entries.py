"""Entries of listed sites as answers show them, kept in memory until they change."""

from collections.abc import Callable, Sequence
from itertools import islice

from registry.db import sites
from registry.db.engine import Engine, reading
from registry.sites.entry import SiteEntry
from registry.usecases.following import follow

MAX_KEPT = 100_000
"""Half a kilobyte each."""

FORGOTTEN_AT_ONCE = 1_000
PAUSE_S = 0.25


class ListedEntries:
    """What an answer shows of its sites; `run` forgets what has changed.

    engine: of the API's role: what is shown is nothing that the ranker may read.
    show: an entry in the form in which it goes out.
    """

    def __init__(self, engine: Engine, show: Callable[[SiteEntry], bytes]) -> None:
        self._engine = reading(engine)
        self._show = show
        self._kept: dict[int, bytes] = {}
        self._horizon: int | None = None

    async def run(self) -> None:
        """Follow the changes until cancelled."""
        await follow(self.forget_changed, pause_s=PAUSE_S, lost="entries_feed_lost")

    async def forget_changed(self) -> None:
        async with self._engine.connect() as connection:
            changed, horizon = await sites.changed_since(connection, self._horizon)
        if self._horizon is None:
            self._kept.clear()
        self._horizon = horizon
        for site_id in changed:
            self._kept.pop(site_id, None)

    async def find(self, site_ids: Sequence[int]) -> dict[int, bytes]:
        """Those of the ids that are listed."""
        kept = self._kept
        found = {site_id: kept[site_id] for site_id in site_ids if site_id in kept}
        missing = [site_id for site_id in site_ids if site_id not in found]
        if missing:
            found |= await self._fetch(missing)
        return found

    async def _fetch(self, site_ids: Sequence[int]) -> dict[int, bytes]:
        async with self._engine.connect() as connection:
            entries = await sites.find_sites(connection, site_ids)
        shown = {site_id: self._show(entry) for site_id, entry in entries.items()}
        if len(self._kept) > MAX_KEPT:
            for site_id in list(islice(self._kept, FORGOTTEN_AT_ONCE)):
                del self._kept[site_id]
        self._kept |= shown
        return shown
