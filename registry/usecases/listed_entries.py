"""Entries of listed sites, kept in memory until they change."""

from collections.abc import Sequence

from registry.db import sites
from registry.db.engine import Engine
from registry.sites.entry import SiteEntry
from registry.usecases.following import follow

MAX_KEPT = 20_000
PAUSE_S = 0.25


class ListedEntries:
    """What an answer shows of its sites; `run` forgets what has changed.

    engine: of the API's role: what is shown is nothing that the ranker may read.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: dict[int, SiteEntry] = {}
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

    async def find(self, site_ids: Sequence[int]) -> dict[int, SiteEntry]:
        """Those of the ids that are listed."""
        missing = [site_id for site_id in site_ids if site_id not in self._kept]
        if missing:
            if len(self._kept) > MAX_KEPT:
                self._kept.clear()
            async with self._engine.connect() as connection:
                self._kept.update(await sites.find_sites(connection, missing))
        found = ((site_id, self._kept.get(site_id)) for site_id in site_ids)
        return {site_id: entry for site_id, entry in found if entry is not None}
