"""Material of invariance trials: sites and questions. No I/O: an outsider runs them too.

The queries are people's own: they are used here, and nothing stores or publishes them. A
listing is made of what an outsider can get of a site, so that he runs the same trials.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from registry.index.columns.filters import Filters
from registry.ranking.profile import Profile
from registry.records.disclosure import parse_disclosure
from registry.usecases.reports.perturb import MakeProfile, TrialListing
from registry.usecases.reports.try_invariance import Question, Shadow
from registry.usecases.sites.profile_material import (
    MAKES_NONE,
    ProfileMaterial,
    bodies_of,
    entry_of,
    figures_of,
)
from registry.usecases.sites.site_profiler import SiteProfiler


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


def maker_of(profiler: SiteProfiler) -> MakeProfile:
    """Return the code that makes profiles when a site is listed; it is not given the rest."""

    def make(listing: TrialListing) -> Profile:
        return profiler.profile_of(listing.entry, listing.formats, listing.probes)

    return make


def shadow_of(
    material: TrialMaterial, questions: Mapping[str, Question], profiler: SiteProfiler
) -> Shadow:
    """Return the trials of a material. questions: those that are known, by ranking."""
    return Shadow(
        listings=listings_of(material.sites, profiler),
        questions=[questions.get(record_id) for record_id in material.rankings],
        make=maker_of(profiler),
        encoder=profiler.encoder,
        policy=profiler.policy,
        now=datetime.fromtimestamp(material.at, UTC),
    )


def listings_of(
    materials: Iterable[ProfileMaterial], profiler: SiteProfiler
) -> list[TrialListing]:
    """Return the listings of those whose documents make a site still."""
    listings = (_listing_of(material, profiler) for material in materials)
    return [listing for listing in listings if listing]


def _listing_of(
    material: ProfileMaterial, profiler: SiteProfiler
) -> TrialListing | None:
    try:
        entry, formats = entry_of(material, profiler)
        probes = next(figures_of(material))
    except MAKES_NONE:
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
