"""Material of invariance trials: sites and questions, from the database or an outsider's.

The queries are people's own: they are used here, and nothing stores or publishes them. A
listing is made of what an outsider can get of a site, so that he runs the same trials.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from registry.db.engine.engines import Connection
from registry.db.reports import trial_material
from registry.errors import NotFound, RegistryError
from registry.index.columns.filters import Filters
from registry.ranking.profile import Profile
from registry.records.disclosure import parse_disclosure
from registry.usecases.reports.perturb import MakeProfile, TrialListing
from registry.usecases.reports.try_invariance import Question, Shadow
from registry.usecases.sites.list_site import Lister
from registry.usecases.sites.profile_material import (
    ProfileMaterial,
    bodies_of,
    entry_of,
    figures_of,
)
from registry.usecases.sites.read_material import read_material

RANKINGS_MAX = 1_000
SITES_MAX = 1_000
BODIES_MAX = (
    24 << 20
)  # of all documents; a site with which they would be more is left out


class TrialMaterial(msgspec.Struct, rename="camel", kw_only=True):
    """Material of a day's trials, which the log commits to by its digest.

    at: seconds since 1970. policy: its digest. trials: how many are to run. rankings:
    ids of the records whose queries are asked, which are not here.
    """

    at: int
    policy: str
    trials: int
    rankings: tuple[str, ...]
    sites: tuple[ProfileMaterial, ...]

    @property
    def body(self) -> bytes:
        return msgspec.json.encode(self)


def maker_of(lister: Lister) -> MakeProfile:
    """Return the code that makes profiles when a site is listed; it is not given the rest."""

    def make(listing: TrialListing) -> Profile:
        return lister.profile_of(listing.entry, listing.formats, listing.probes)

    return make


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


def shadow_of(
    material: TrialMaterial, questions: Mapping[str, Question], lister: Lister
) -> Shadow:
    """Return the trials of a material. questions: those that are known, by ranking."""
    return Shadow(
        listings=listings_of(material.sites, lister),
        questions=[questions.get(record_id) for record_id in material.rankings],
        make=maker_of(lister),
        encoder=lister.encoder,
        policy=lister.policy,
        now=datetime.fromtimestamp(material.at, UTC),
    )


def listings_of(
    materials: Iterable[ProfileMaterial], lister: Lister
) -> list[TrialListing]:
    """Return the listings of those whose documents make a site still."""
    listings = (_listing_of(material, lister) for material in materials)
    return [listing for listing in listings if listing]


def _listing_of(material: ProfileMaterial, lister: Lister) -> TrialListing | None:
    try:
        entry, formats = entry_of(material, lister)
        probes = next(figures_of(material))
    except (RegistryError, ValueError, OverflowError, OSError):
        return None
    return TrialListing(
        entry=entry,
        formats=formats,
        probes=probes,
        documents=tuple(bodies_of(material.documents)),
        declarations=material.declared.declarations,
    )


def question_of(record_id: str, disclosures: Sequence[str]) -> Question:
    """Return the question of a ranking. disclosures: with query, location, filters."""
    values: dict[str, Any] = {
        disclosure.name: disclosure.value
        for disclosure in map(parse_disclosure, disclosures)
    }
    return Question(
        ranking=record_id,
        text=values["query"],
        cell=values["location"],
        filters=Filters.from_record(values["filters"]),
    )
