"""The newest index of the machine's index builder, and proofs of its generations."""

import asyncio
import time
from pathlib import Path

import structlog

from registry.errors import NotFound
from registry.index.building.builder import Builder
from registry.index.building.generation_files import read_generation
from registry.index.building.index_reader import IndexReader
from registry.index.segments.array_file import FileDamaged
from registry.ranking.encoders.encoder import Encoder
from registry.ranking.policy import Policy
from registry.records.generation import Generation
from registry.usecases.background import Cadence
from registry.usecases.refusals import GENERATION_UNKNOWN

AT_HAND = 2
"""Generations in memory; one of a million sites takes 60 MB."""


class Generations:
    """Generations that this machine's index had in the last days. folder: its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reading = asyncio.Lock()
        self._at_hand: dict[str, Generation] = {}

    async def find(self, name: str) -> Generation:
        """Raises: NotFound."""
        async with self._reading:  # many calls of one client take one thread
            generation = self._at_hand.pop(name, None) or await asyncio.to_thread(
                read_generation, self._folder, name
            )
            if generation is None:
                raise NotFound(GENERATION_UNKNOWN, pointer="generation")
            self._at_hand[name] = generation
            for oldest in list(self._at_hand)[:-AT_HAND]:
                del self._at_hand[oldest]
            return generation


PAUSE_S, LONGEST_PAUSE_S = 0.03, 0.1

logger = structlog.get_logger()


class IndexFollower:
    """A search takes `index` once and works on it to its end. folder: of the index."""

    def __init__(self, folder: Path, encoder: Encoder, policy: Policy) -> None:
        self.encoder = encoder
        self.policy = policy
        self.index = Builder.build([], policy).index
        self.generations = Generations(folder)
        self.is_loaded = False
        self._index_files = IndexReader(folder, policy)
        self._unreadable_since: float | None = None

    async def run(self) -> None:
        """Follow until cancelled."""
        cadence = Cadence(PAUSE_S, LONGEST_PAUSE_S)
        while True:
            is_read = False
            if self._index_files.is_changed():
                # Its pages are touched first, which takes a while where a base is new.
                is_read = await asyncio.to_thread(self.catch_up)
            await asyncio.sleep(cadence.after(is_read))

    def builder_silence_s(self) -> float | None:
        """Return the seconds since the index builder showed that it works.

        It does not while it leaves an index there that can't be read.
        """
        silence_s = self._index_files.writer_silence_s()
        if silence_s is None or self._unreadable_since is None:
            return silence_s
        return max(silence_s, time.monotonic() - self._unreadable_since)

    def catch_up(self) -> bool:
        """Take the newest index. A file that can't be read leaves the one before.

        Returns: whether it could be read.
        """
        try:
            newest = self._index_files.newest()
        except (FileDamaged, OSError) as error:
            if self._unreadable_since is None:
                self._unreadable_since = time.monotonic()
                logger.warning("index_unreadable", detail=str(error))
            return False
        self._unreadable_since = None
        if newest is not None:
            self.index = newest
            self.is_loaded = True
        return True
