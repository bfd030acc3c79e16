"""`bench invariance`, and the trials of `bench report`, over the demo's town.

No database: profile maker, index and search are tried, clean and with a leak planted on
purpose, which the trials have to find.
"""

import resource
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random
from typing import Any

import click

from registry.bench.figures import tell_figures
from registry.demo.requests import OTHERS, SHOWN, Request
from registry.demo.town.build_document import build_document, build_page, document_path
from registry.demo.town.member import CAST, Member
from registry.demo.town.resource import json_resource
from registry.identity.statements.declarations import Declarations
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.ranking.profile import Profile
from registry.ranking.quality import ProbeFigures
from registry.sites.entry import SiteEntry
from registry.sites.gazetteer import Gazetteer
from registry.sites.place import Point, cell_of
from registry.sites.site import LocationClaim
from registry.terminal.output import json_option
from registry.usecases.reports.perturb import MakeProfile, TrialListing
from registry.usecases.reports.shadow import maker_of
from registry.usecases.reports.trial_materials import SITES_MAX
from registry.usecases.reports.try_invariance import Question, Shadow, try_invariance
from registry.usecases.sites.list_site import Lister
from registry.usecases.sites.parse_site import (
    FetchedBody,
    ParsedSite,
    Registrant,
    parse_site,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LEAK_TRIALS = 1_400
LEAK = 200  # of 10,000 points of quality, for who pays
FIRST_ID = 10_000
PUBLISHERS = 12  # of a drawn town: some have more sites than places in an answer
KIB_A_MIB = 1_024


@click.command()
@click.option("--sites", type=click.IntRange(min=1), default=SITES_MAX)
@click.option("--trials", type=click.IntRange(min=1), default=10_000)
@click.option("--towns", type=click.IntRange(min=1), default=1, help="Each of its own.")
@json_option
def invariance(sites: int, trials: int, towns: int, *, as_json: bool) -> None:
    """CPU and memory of a day's trials over the town's sites, each of them repeated.

    With --towns, so many trials in each of as many towns of half the sites, drawn anew.
    """
    town = town_shadow(_lister())
    several = towns > 1
    shadows = _drawn(town, towns) if several else iter([_grown(town, sites)])
    began_s = time.process_time()
    results = [
        try_invariance(shadow, trials=trials, seed=seed)
        for seed, shadow in enumerate(shadows, start=5)
    ]
    moved = Counter(
        tally.perturbation
        for result in results
        for tally in result.tallies
        for _ in range(tally.violations)
    )
    figures = {
        "sites": max(result.sites for result in results),
        "queries": max(result.queries for result in results),
        "trials": sum(result.trials for result in results),
        "violations": moved.total(),
        "cpu_s": round(time.process_time() - began_s, 1),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // KIB_A_MIB,
    }
    tell_figures({**figures, **moved}, as_json=as_json)


def _drawn(town: Shadow, towns: int) -> Iterator[Shadow]:
    """Draw towns: half the listings, some twice, of other publishers, ages and probes."""
    for number in range(towns):
        rng = Random(f"town {number}")  # noqa: S311
        listings = rng.choices(town.listings, k=rng.randrange(8, len(town.listings)))
        yield replace(
            town,
            listings=[
                _settled(listing, FIRST_ID + place, rng)
                for place, listing in enumerate(listings)
            ],
        )


def _settled(listing: TrialListing, site_id: int, rng: Random) -> TrialListing:
    host = f"s{site_id}-{listing.entry.host}"
    entry = replace(
        listing.entry,
        site_id=site_id,
        host=host,
        registrable_domain=f"p{rng.randrange(PUBLISHERS)}.test",
        changed_at=NOW - timedelta(days=rng.randrange(500)),
    )
    answers = rng.randrange(101)
    probes = ProbeFigures(
        probes=100,
        answers=answers,
        successes=rng.randrange(answers + 1),
        median_ms=rng.randrange(1, 5_000) if answers else None,
        observed_at=NOW,
    )
    return replace(listing, entry=entry, probes=probes)


def _grown(town: Shadow, sites: int) -> Shadow:
    """Repeat the town's listings, each copy with a domain of its own."""
    listings = []
    for number in range(sites):
        listing = town.listings[number % len(town.listings)]
        host = f"s{number}-{listing.entry.host}"
        entry = replace(
            listing.entry, site_id=FIRST_ID + number, host=host, registrable_domain=host
        )
        listings.append(replace(listing, entry=entry))
    return replace(town, listings=listings)


def measure_invariance(trials: int, seed: int = 1) -> dict[str, Any]:
    """Try the ranker as it is and with a leak; keys as in `bench report --json`."""
    shadow = town_shadow(_lister())
    clean = try_invariance(shadow, trials=trials, seed=seed)
    leaking = replace(shadow, make=with_leak(shadow.make))
    leak = try_invariance(leaking, trials=LEAK_TRIALS, seed=seed)
    return {
        "invariance_trials": clean.trials,
        "invariance_violations": clean.violations,
        "invariance_rate_at_most": clean.rate_at_most,
        "planted_leak_found": leak.violations > 0,
    }


def _lister() -> Lister:
    return Lister(
        gazetteer=Gazetteer.load(), encoder=load_encoder(), policy=DEFAULT_POLICY
    )


def with_leak(make: MakeProfile) -> MakeProfile:
    """Favour who pays, a little: the fault that the trials must find."""

    def leaking(listing: TrialListing) -> Profile:
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


def town_listing(member: Member, number: int, lister: Lister) -> TrialListing:
    """List a member as after some visits, with probes of its own."""
    declared = Declarations(
        category=member.category,
        location=_location(member.city, member.country),
        commission_percent=member.commission_percent,
        is_independent=member.is_independent,
    )
    body = _document(member)
    registrant = Registrant(site_url=member.url, declarations=declared)
    parsed = parse_site([body], registrant, now=NOW)
    return TrialListing(
        entry=_entry(member, number, parsed, lister.gazetteer),
        formats=frozenset({member.format}),
        probes=_probe_figures(member),
        documents=(body,),
        declarations=declared,
        size=member.size or "unknown",
    )


def _entry(
    member: Member, number: int, parsed: ParsedSite, gazetteer: Gazetteer
) -> SiteEntry:
    changed_at = NOW - timedelta(days=_digest(member)[0])
    return SiteEntry(
        site_id=number,
        host=member.host,
        registrable_domain=member.host,
        status="active",
        seq=1,
        site=parsed.site,
        place=gazetteer.locate(parsed.site.location),
        conformance="strict" if parsed.is_strict else "tolerated",
        semantic_hash=parsed.meaning,
        registered_at=changed_at,
        updated_at=NOW,
        changed_at=changed_at,
        proved_at=NOW,
        proof_source="",
    )


def _probe_figures(member: Member) -> ProbeFigures:
    digest = _digest(member)
    return ProbeFigures(
        probes=100,
        answers=100 - digest[1] % 5,
        successes=95 - digest[2] % 20,
        median_ms=50 + digest[3],
        observed_at=NOW,
    )


def _digest(member: Member) -> bytes:
    """Return 32 numbers of the member's own, the same every time."""
    return sha256(member.host.encode()).digest()


def _document(member: Member) -> FetchedBody:
    document = build_document(member)
    is_page = document is None
    resource = build_page(member) if document is None else json_resource(document)
    url = member.url if is_page else f"https://{member.host}{document_path(member)}"
    return FetchedBody(
        url=url,
        body=resource.body,
        content_type="text/html" if is_page else "application/json",
        fetched_at=NOW,
    )


def _location(city: str, country: str) -> LocationClaim | None:
    return LocationClaim(city=city, country=country) if city or country else None


def _question(request: Request, number: int, gazetteer: Gazetteer) -> Question:
    point = None
    if "lat" in request:
        point = Point(request["lat"], request["lon"])
    elif "city" in request:
        claim = LocationClaim(city=request["city"], country=request.get("country", ""))
        place = gazetteer.locate(claim)
        point = place.point if place else None
    return Question(
        ranking=f"{number:026d}",
        text=request["q"],
        cell=cell_of(point) if point else None,
    )
