"""Generations of the index, and the proofs of what they commit to."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from registry.errors import NotFound
from registry.index.building.generation_files import read_generation
from registry.records.generation import Generation
from registry.tlog.keyed_tree import KeyedTree
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
        async with self._reading:  # whoever asks for many takes no more than a thread
            generation = self._at_hand.pop(name, None) or await asyncio.to_thread(
                read_generation, self._folder, name
            )
            if generation is None:
                raise NotFound(GENERATION_UNKNOWN, pointer="generation")
            self._at_hand[name] = generation
            for oldest in list(self._at_hand)[:-AT_HAND]:
                del self._at_hand[oldest]
            return generation


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenBucket:
    """Bucket of a table, see `keyed_tree`. path: nodes from it to the root."""

    number: int
    entries: bytes
    path: tuple[bytes, ...]


def prove_buckets(tree: KeyedTree, numbers: Iterable[int]) -> tuple[ProvenBucket, ...]:
    """Return each bucket once, ascending."""
    return tuple(
        ProvenBucket(
            number=number, entries=tree.buckets[number], path=tree.path(number)
        )
        for number in sorted(set(numbers))
    )
