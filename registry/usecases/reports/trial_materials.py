"""The material of days' trials, as it is read of the database, and as it is served."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from weakref import WeakValueDictionary

from registry.db.engine.engines import Connection, Engine
from registry.db.reports import invariance_runs, trial_material
from registry.errors import NotFound
from registry.usecases.reports.shadow import TrialMaterial, question_of, shadow_of
from registry.usecases.reports.try_invariance import Shadow
from registry.usecases.sites.list_site import Lister
from registry.usecases.sites.profile_material import ProfileMaterial
from registry.usecases.sites.read_material import read_material

PIECE_BYTES = 256 * 1024
RANKINGS_MAX = 1_000
SITES_MAX = 1_000
BODIES_MAX = 24 << 20
"""Bytes of all documents; a site with which they would be more is left out."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class SharedMaterial:
    """body: up to 33 MB."""

    body: bytes

    async def pieces(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.body), PIECE_BYTES):
            yield self.body[start : start + PIECE_BYTES]


class TrialMaterials:
    """Materials in use: each once in memory, however many read it slowly."""

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


async def read_trial_material(
    connection: Connection, lister: Lister, now: datetime, trials: int
) -> TrialMaterial:
    """The newest rankings, and sites that the day alone draws.

    Strangers read the material: sites chosen for the rankings would disclose queries.
    """
    recent = await trial_material.recent_rankings(connection, RANKINGS_MAX)
    day = now.toordinal()
    ids = await trial_material.listed_ids(connection, (), SITES_MAX, seed=day)
    return TrialMaterial(
        at=int(now.timestamp()),
        policy=lister.policy.digest,
        trials=trials,
        rankings=tuple(ranking.record_id for ranking in recent),
        sites=tuple(await read_materials(connection, lister, ids, now)),
    )


async def read_materials(
    connection: Connection, lister: Lister, ids: Sequence[int], now: datetime
) -> list[ProfileMaterial]:
    materials, size = [], 0
    for site_id in ids:
        try:
            material = await read_material(
                connection, site_id, now, allow_loopback=lister.allow_loopback
            )
        except NotFound:  # it is listed no more
            continue
        own = sum(len(document.body) for document in material.documents)
        if size + own <= BODIES_MAX:
            materials.append(material)
            size += own
    return materials


async def cast_shadow(
    connection: Connection, material: TrialMaterial, lister: Lister
) -> Shadow:
    """Return the trials of a material, with the questions that are not erased."""
    recent = await trial_material.find_rankings(connection, material.rankings)
    questions = {
        record_id: question_of(record_id, ranking.disclosures)
        for record_id, ranking in recent.items()
        if ranking.disclosures
    }
    return shadow_of(material, questions, lister)
