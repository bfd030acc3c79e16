"""A town's registry as an outsider sees it: generations with proofs, and materials."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import msgspec

from registry.index.building.builder import Builder
from registry.interfaces.rest.sites.profile_proofs import view_generation
from registry.ranking.profile import Profile
from registry.ranking.quality import StoredProbe, summarise_probes
from registry.sites.identifier import parse_site_id
from registry.usecases.reports.perturb import TrialListing
from registry.usecases.reports.try_invariance import Shadow
from registry.usecases.sites.profile_material import ProfileMaterial, material_of

KEPT_BY = timedelta(hours=1)


def with_profiles(town: Shadow) -> Shadow:
    """Return the town with the profiles of its own listings made once for all tests."""
    own = {id(listing): town.make(listing) for listing in town.listings}

    def make(listing: TrialListing) -> Profile:
        """Make what is perturbed; `town` holds the others, so that no id is given twice."""
        return own.get(id(listing)) or town.make(listing)

    return replace(town, make=make)


def probed(listing: TrialListing) -> TrialListing:
    """The listing with the figures of single probes, which `probes_of` has."""
    return replace(listing, probes=summarise_probes(probes_of(listing)))


def probes_of(listing: TrialListing) -> list[StoredProbe]:
    figures = listing.probes
    outcomes = ["alive"] * figures.successes
    outcomes += ["mismatch"] * (figures.answers - figures.successes)
    outcomes += ["unreachable"] * (figures.probes - figures.answers)
    return [
        StoredProbe(
            observed_at=figures.observed_at - number * KEPT_BY,
            outcome=outcome,
            elapsed_ms=figures.median_ms,
        )
        for number, outcome in enumerate(outcomes)
    ]


def served_material(listing: TrialListing) -> ProfileMaterial:
    """Return what a registry has of the listing for outsiders; its probes are single ones."""
    return material_of(
        listing.entry,
        listing.declarations,
        documents=listing.documents,
        keys=(),
        probes=probes_of(listing),
        allow_loopback=False,
    )


class ServedTown:
    """place, get_json: of a `LogSource`. materials: as JSON, which a test may falsify.

    newest: builder of the index in use, which is called `latest`.
    """

    place = "the town"

    def __init__(self, listings: Sequence[TrialListing], builder: Builder) -> None:
        self.builder = self.newest = builder
        self.materials = {
            listing.entry.site_id: msgspec.to_builtins(served_material(listing))
            for listing in listings
        }

    async def get_json(self, path: str):
        return self.answer(path)

    def answer(self, path: str):
        parts = urlsplit(path)
        *_, kind, name = parts.path.split("/")
        if kind == "profiles":
            return self.materials[parse_site_id(name)]
        wanted = {key: own for key, (own,) in parse_qs(parts.query).items()}
        newest = self.newest.generation
        is_newest = name in {"latest", newest.roots.name}
        generation = newest if is_newest else self.builder.generation
        return msgspec.to_builtins(view_generation(generation, **wanted))
