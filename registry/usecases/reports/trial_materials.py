"""The material of days' trials, as it is served: one in memory, however many read it slowly."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date
from weakref import WeakValueDictionary

from registry.db.engine.engines import Engine
from registry.db.reports import invariance_runs

PIECE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True, weakref_slot=True)
class SharedMaterial:
    """body: up to 33 MB."""

    body: bytes

    async def pieces(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.body), PIECE_BYTES):
            yield self.body[start : start + PIECE_BYTES]


class TrialMaterials:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._in_use: WeakValueDictionary[date, SharedMaterial] = WeakValueDictionary()

    async def find(self, day: date) -> SharedMaterial | None:
        """Return None if no trials of the day are on record."""
        material = self._in_use.get(day)
        if material is None:  # the pool lets few load it at once
            async with self._engine.connect() as connection:
                body = await invariance_runs.find_material(connection, day)
            if body is not None:
                material = self._in_use.setdefault(day, SharedMaterial(body))
        return material
