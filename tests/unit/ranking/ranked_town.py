"""A generated town for the second implementation: the same sites in both forms."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import structs

from registry.demo.town.member import CAST
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY as P
from registry.ranking.profile import Subject, make_profiles
from registry.ranking.quality import ProbeFigures
from registry.sites.gazetteer import Gazetteer
from registry.sites.site import LocationClaim, Site
from tests.unit.index.test_town import read

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class TownSite:
    """city, country: as they are claimed."""

    site: Site
    site_id: int
    host: str
    registrable_domain: str
    probes: ProbeFigures
    changed_at: datetime

    @property
    def claim(self) -> LocationClaim:
        return self.site.location or LocationClaim()

    def subject(self, gazetteer: Gazetteer, publisher: int) -> Subject:
        return Subject(
            site=self.site,
            site_id=self.site_id,
            publisher=publisher,
            host=self.host,
            registrable_domain=self.registrable_domain,
            formats=("wab",),
            place=gazetteer.locate(self.site.location),
            probes=self.probes,
            changed_at=self.changed_at,
        )

    def members(self) -> dict[str, Any]:
        """Return it as the vectors have it."""
        site, probes = self.site, self.probes
        return {
            "id": self.site_id,
            "host": self.host,
            "registrableDomain": self.registrable_domain,
            "name": site.name,
            "category": site.category,
            "description": site.description,
            "city": self.claim.city,
            "country": self.claim.country,
            "commission": site.commission_percent,
            "languages": list(site.languages),
            "actions": [
                {
                    "name": action.name,
                    "description": action.description,
                    "authRequired": action.auth_required,
                    "sensitivity": action.sensitivity,
                    "confirmation": action.confirmation,
                    "deprecated": action.deprecated,
                    "parameters": [
                        {
                            "name": parameter.name,
                            "type": parameter.type,
                            "required": parameter.required,
                            "description": parameter.description,
                            "enum": list(parameter.enum),
                        }
                        for parameter in action.parameters
                    ],
                }
                for action in site.actions
            ],
            "probes": {
                "probes": probes.probes,
                "answers": probes.answers,
                "successes": probes.successes,
                "medianMs": probes.median_ms,
            },
            "changedAt": self.changed_at.isoformat(),
        }


def town(copies: int = 2) -> list[TownSite]:
    """Return half the cast, and of some members copies, on their domain and on others."""
    dice = random.Random(22)
    sites = list(_sites(dice, copies))
    ids = dice.sample(range(1, 2**62), len(sites))
    return [replace(site, site_id=own) for site, own in zip(sites, ids, strict=True)]


def _sites(dice: random.Random, copies: int) -> Iterator[TownSite]:
    for number, member in enumerate(CAST[::2]):
        site = read(member)
        claim = LocationClaim(city=member.city, country=member.country)
        commission = dice.choice((None, 0, 0, 7.5))
        site = structs.replace(site, location=claim, commission_percent=commission)
        yield _settled(site, member.host, member.host, dice)
        if number % 5 == 0:
            for copy in range(copies * (1 + number % 3)):
                host = f"s{copy}.{member.host}"
                yield _settled(_varied(site, copy), host, member.host, dice)
        if number % 4 == 0:
            for copy in range(2):
                host = f"copy-{copy}-of-{number}.example"
                other = structs.replace(site, name=f"Copy {copy}")
                if number % 8 == 0:  # it says nothing but its name
                    other = structs.replace(other, description=f"Copy {copy}!")
                yield _settled(_varied(other, copy), host, host, dice)


def _varied(site: Site, copy: int) -> Site:
    """Every second copy says nearly the same, the others offer less."""
    actions = site.actions if copy % 2 else site.actions[: 1 + copy % len(site.actions)]
    return structs.replace(
        site, description=f"{site.description} Desk {copy}", actions=actions
    )


def _settled(site: Site, host: str, domain: str, dice: random.Random) -> TownSite:
    probes = dice.choice((0, 5, 24, 720))
    answers = dice.randint(probes // 2, probes)
    figures = ProbeFigures(
        probes=probes,
        answers=answers,
        successes=dice.randint(answers // 2, answers),
        median_ms=dice.randint(20, 3000) if answers else None,
    )
    changed = NOW - timedelta(hours=dice.randint(0, 24 * 900))
    return TownSite(
        site=site,
        site_id=0,
        host=host,
        registrable_domain=domain,
        probes=figures,
        changed_at=changed,
    )


def profiles_of(sites: Sequence[TownSite], gazetteer: Gazetteer):
    """Return the registry's own profiles."""
    domains = sorted({site.registrable_domain for site in sites})
    subjects = [
        site.subject(gazetteer, domains.index(site.registrable_domain))
        for site in sites
    ]
    return make_profiles(subjects, encoder=load_encoder(), policy=P)
