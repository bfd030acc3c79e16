"""Invariance over the demo's town: clean, and with a leak planted on purpose.

No database: what is measured are profile maker, index and search, and whether the trials
find a ranker that knows who pays.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from registry.demo.requests import OTHERS, SHOWN, Request
from registry.demo.town.documents.build import build_document, document_path
from registry.demo.town.member import Member
from registry.demo.town.pages import build_page
from registry.demo.town.resource import json_resource
from registry.demo.town.sites import CAST
from registry.identity.declarations import Declarations
from registry.ranking.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.ranking.profile import Profile
from registry.ranking.quality import ProbeFigures
from registry.sites.entry import SiteEntry
from registry.sites.gazetteer import Gazetteer
from registry.sites.place import Point, cell_of
from registry.sites.site import LocationClaim
from registry.usecases.list_site import Lister
from registry.usecases.perturb import Listing, MakeProfile
from registry.usecases.shadow import maker_of
from registry.usecases.try_invariance import Question, Shadow, try_invariance
from registry.usecases.understand import FetchedBody, Registrant, Understood, understand

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LEAK_TRIALS = 1_400
LEAK = 200  # of 10,000 points of quality, for who pays


def measure_invariance(trials: int, seed: int = 1) -> dict[str, Any]:
    """Keys as `bench report` tells them."""
    lister = Lister(
        gazetteer=Gazetteer.load(), encoder=load_encoder(), policy=DEFAULT_POLICY
    )
    shadow = town_shadow(lister)
    clean = try_invariance(shadow, trials=trials, seed=seed)
    planted = replace(shadow, make=with_leak(shadow.make))
    found = try_invariance(planted, trials=LEAK_TRIALS, seed=seed)
    return {
        "invariance_trials": clean.trials,
        "invariance_violations": clean.violations,
        "invariance_rate_at_most": clean.rate_at_most,
        "planted_leak_found": found.violations > 0,
    }


def with_leak(make: MakeProfile) -> MakeProfile:
    """A profile maker that favours who pays, a little: what the trials must find."""

    def leaking(listing: Listing) -> Profile:
        profile = make(listing)
        favour = LEAK if listing.tier else 0
        return replace(profile, quality=min(FULL, profile.quality + favour))

    return leaking


def town_shadow(lister: Lister, cast: Sequence[Member] = CAST) -> Shadow:
    return Shadow(
        listings=[
            town_listing(member, number, lister)
            for number, member in enumerate(cast, start=1)
        ],
        questions=[
            _question(request, number, lister.gazetteer)
            for number, request in enumerate((*SHOWN, *OTHERS))
        ],
        make=maker_of(lister),
        encoder=lister.encoder,
        policy=lister.policy,
        now=NOW,
    )


def town_listing(member: Member, number: int, lister: Lister) -> Listing:
    """As it is listed a while after its first visit, with probes of its own."""
    declared = Declarations(
        category=member.category,
        location=_location(member.city, member.country),
        commission_percent=member.commission_percent,
        is_independent=member.is_independent,
    )
    body = _document(member)
    registrant = Registrant(site_url=member.url, declarations=declared)
    found = understand([body], registrant, now=NOW)
    return Listing(
        entry=_entry(member, number, found, lister.gazetteer),
        formats=frozenset({member.format}),
        probes=_probed(member),
        documents=(body,),
        declarations=declared,
        size=member.size or "unknown",
    )


def _entry(
    member: Member, number: int, found: Understood, gazetteer: Gazetteer
) -> SiteEntry:
    changed_at = NOW - timedelta(days=_mixed(member)[0])
    return SiteEntry(
        site_id=number,
        host=member.host,
        registrable_domain=member.host,
        status="active",
        seq=1,
        site=found.site,
        place=gazetteer.locate(found.site.location),
        conformance="strict",
        semantic_hash=found.meaning,
        registered_at=changed_at,
        updated_at=NOW,
        changed_at=changed_at,
        proved_at=NOW,
        proof_source="",
    )


def _probed(member: Member) -> ProbeFigures:
    mixed = _mixed(member)
    return ProbeFigures(
        probes=100,
        answers=100 - mixed[1] % 5,
        successes=95 - mixed[2] % 20,
        median_ms=50 + mixed[3],
        observed_at=NOW,
    )


def _mixed(member: Member) -> bytes:
    """Numbers of the member's own, the same every time."""
    return sha256(member.host.encode()).digest()


def _document(member: Member) -> FetchedBody:
    document = build_document(member)
    is_page = document is None
    resource = build_page(member) if document is None else json_resource(document)
    url = member.url if is_page else f"https://{member.host}{document_path(member)}"
    return FetchedBody(
        asked_url=url,
        url=url,
        is_page=is_page,
        body=resource.body,
        content_type="text/html" if is_page else "application/json",
        etag=None,
        last_modified=None,
        fetched_at=NOW,
    )


def _location(city: str, country: str) -> LocationClaim | None:
    return LocationClaim(city=city, country=country) if city or country else None


def _question(request: Request, number: int, gazetteer: Gazetteer) -> Question:
    point = None
    if "lat" in request:
        point = Point(request["lat"], request["lon"])
    elif "city" in request:
        found = gazetteer.locate(
            LocationClaim(city=request["city"], country=request.get("country", ""))
        )
        point = found.point if found else None
    return Question(
        ranking=f"{number:026d}",
        text=request["q"],
        cell=cell_of(point) if point else None,
    )
