"""Entries of listed sites, kept in memory until they change."""

from collections.abc import Sequence

from registry.db import sites
from registry.db.engine import Engine
from registry.sites.entry import SiteEntry
from registry.usecases.follow_index import IndexFollower

MAX_KEPT = 20_000


class ListedEntries:
    """What an answer shows of its sites; the follower tells which have changed.

    engine: of the API's role: what is shown is nothing that the ranker may read.
    """

    def __init__(self, engine: Engine, follower: IndexFollower) -> None:
        self._engine = engine
        self._follower = follower
        self._kept: dict[int, SiteEntry] = {}

    async def find(self, site_ids: Sequence[int]) -> dict[int, SiteEntry]:
        """Those of the ids that are listed."""
        self._forget_changed()
        missing = [site_id for site_id in site_ids if site_id not in self._kept]
        if missing:
            if len(self._kept) > MAX_KEPT:
                self._kept.clear()
            async with self._engine.connect() as connection:
                self._kept.update(await sites.find_sites(connection, missing))
        found = ((site_id, self._kept.get(site_id)) for site_id in site_ids)
        return {site_id: entry for site_id, entry in found if entry is not None}

    def _forget_changed(self) -> None:
        while self._follower.changed:
            self._kept.pop(self._follower.changed.pop(), None)
