"""Holding the newest index that the machine's index builder has put out."""

import asyncio
from pathlib import Path

import structlog

from registry.index.building.builder import Builder
from registry.index.building.shelf import ShelfReader
from registry.index.segments.array_file import FileDamaged
from registry.ranking.encoder import Encoder
from registry.ranking.policy import Policy

PAUSE_S = 0.1

logger = structlog.get_logger()


class IndexFollower:
    """A search takes `index` once and works on it to its end. folder: of the index."""

    def __init__(self, folder: Path, encoder: Encoder, policy: Policy) -> None:
        self.encoder = encoder
        self.policy = policy
        self.index = Builder.build([], policy).index
        self.is_loaded = False
        self._shelf = ShelfReader(folder, policy)

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            # Its pages are touched first, which takes a while where a base is new.
            await asyncio.to_thread(self.catch_up)
            await asyncio.sleep(PAUSE_S)

    def catch_up(self) -> None:
        """Take the newest index. A file that can't be read leaves the one before."""
        try:
            newest = self._shelf.newest()
        except (FileDamaged, OSError) as error:
            logger.warning("index_unreadable", detail=str(error))
            return
        if newest is not None:
            self.index = newest
            self.is_loaded = True
