"""The index against a scorer written from the definitions, site by site, in fractions.

It shares no arithmetic with the index: BM25F in exact fractions, products in Python
integers, distances by the haversine, the full order by sorting every key.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import cache
from hashlib import blake2b, sha256
from hmac import digest
from itertools import pairwise
from typing import Any

import pytest

from registry.index.building.builder import Builder
from registry.index.columns.filters import Filters
from registry.index.query.index import Index
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import Ranked, RankedSite, search
from registry.ranking.policy import FULL
from registry.ranking.policy import STATIC_POLICY as P
from registry.ranking.profile import Profile
from registry.ranking.relevance import ParsedQuery
from registry.ranking.ties import OrderKey
from registry.sites.identifier import format_site_id
from registry.sites.place import Point, cell_of, centroid_of, distance_km
from tests.unit.index.conftest import APART, request_vector

MORE_FILTERS: list[tuple[str, Any]] = [
    *[("conformance", None)] * 3,
    ("conformance", "strict"),
    ("permission", "click"),
    ("requires_auth", False),
    ("requires_auth", True),
    ("action", "do thing 3"),
    ("language", "de"),
    ("open_to", "anyone"),
    ("open_to", "members"),
    *[("within_km", 500)] * 3,
    ("within_km", 40),
]
SEED = sha256(b"seed").digest()
MakeRandom = Callable[[random.Random, int], Profile]
Standing = tuple[tuple[int, int, int], tuple[int, ...]]
"""Score, tie key and id of a place's best, and the ids behind it."""


def signed(vector: bytes) -> list[int]:
    return [byte - 256 if byte > 127 else byte for byte in vector]


def nibbles(vector: bytes) -> list[int]:
    halves = [half for byte in vector for half in (byte % 16, byte // 16)]
    return [half - 16 if half > 7 else half for half in halves]


def length(vector: list[int]) -> float:
    return math.sqrt(sum(number**2 for number in vector))


def cosine_of(site: Profile, request: ParsedQuery) -> int:
    """As in the definition: 2^16 over the site's length is a whole number."""
    item, other = nibbles(site.embedding), signed(request.vector)
    if not any(item) or not any(other):
        return 0
    product = sum(a * b for a, b in zip(item, other, strict=True))
    reciprocal = round(2**16 / length(item))
    square = sum(number**2 for number in other)
    multiplier = (request.confidence_bp << 32) // math.isqrt(square << 32)
    return min(max(product, 0) * reciprocal * multiplier >> 32, FULL)


@cache
def field_weights(site: Profile) -> dict[str, Fraction]:
    """Not to be changed: it is the same for all who ask."""
    fields = [
        ({t for a in site.actions for t in a.name_terms}, Fraction(3)),
        ({t for a in site.actions for t in a.description_terms}, Fraction(1)),
        ({t for a in site.actions for t in a.parameter_terms}, Fraction(1, 2)),
        (set(site.site_terms), Fraction(1)),
    ]
    weights: dict[str, Fraction] = {}
    for terms, weight in fields:
        for term in terms:
            weights[term] = weights.get(term, Fraction(0)) + weight
    return weights


def impact(site: Profile, term: str) -> int:
    weights = field_weights(site)
    if term not in weights:
        return 0
    b, k1, pivot = Fraction(3, 4), Fraction(8, 5), 40
    tf = weights[term] / (1 - b + b * sum(weights.values()) / pivot)
    return max(1, math.floor(255 * tf / (tf + k1)))


def relevance(
    site: Profile, request: ParsedQuery, idf: dict[str, int]
) -> tuple[int, bool]:
    matched = sum(idf[term] * impact(site, term) for term in request.terms)
    best = sum(sorted(idf.values(), reverse=True)[:8]) or 1
    lexical = min(matched * (FULL * 2**32 // (255 * best)) >> 32, FULL)
    cosine = cosine_of(site, request)
    share = min(3500 + 3500 * len(request.terms) // 8, 7000)
    value = min((share * lexical + (FULL - share) * cosine) // 7000, FULL)
    floor = 1300 + 400 * max(0, 6 - len(request.terms))
    return value, value >= floor and (matched > 0 or cosine >= 3000)


def proximity(site: Profile, cell: str | None) -> int:
    if cell is None or not site.local or site.point is None:
        return 5000
    return round(
        FULL * math.exp(-int(distance_km(centroid_of(cell), site.point)) / 100)
    )


def freshness(site: Profile, now: datetime) -> int:
    days = max((now - site.changed_at).days, 0)
    return max(2000, round(FULL * math.exp(-days / 180)))


def passes(site: Profile, filters: Filters, cell: str | None) -> bool:
    return (
        filters.category in (None, site.category)
        and filters.country in (None, site.country)
        and (filters.format is None or filters.format in site.formats)
        and filters.conformance in (None, site.conformance)
        and filters.permission in (None, *site.permissions)
        and filters.requires_auth in (None, *site.requires_auth)
        and filters.action in (None, *site.action_names)
        and filters.language in (None, *site.languages)
        and filters.open_to
        in (None, "members" if True in site.requires_auth else "anyone")
        and (filters.within_km is None or is_within(site, cell, filters.within_km))
    )


def is_within(site: Profile, cell: str | None, radius_km: int) -> bool:
    if cell is None or not site.local or site.point is None:
        return False
    return int(distance_km(centroid_of(cell), site.point)) < radius_km


def same_capabilities(profile: Profile, other: Profile) -> bool:
    a, b = set(field_weights(profile)), set(field_weights(other))
    return len(a & b) >= Fraction(4, 5) * len(a | b)


@cache
def hashed(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=8).digest())


@cache
def signature(site: Profile) -> bytes:
    """32 bytes, of the smallest hash of the words by each permutation."""
    words = {
        *field_weights(site),
        *(f"{n} {t}" for n in "123" for t in site.site_terms),
    }
    smallest = [
        min(
            (hashed(word.encode()) & ~1) * (hashed(b"permutation %d" % n) | 1) % 2**64
            for word in words
        )
        for n in range(32 if words else 0)
    ]
    return bytes(least * (hashed(b"mixed") | 1) % 2**64 >> 56 for least in smallest)


def is_mirror(a: bytes, b: bytes) -> bool:
    bands = [n for n in range(0, 16, 4) if a[n : n + 4] == b[n : n + 4]]
    equal = sum(byte == other for byte, other in zip(a, b, strict=False))
    return bool(a and b and bands) and equal >= 25


def places_of(sites: list[Profile]) -> dict[int, int]:
    """Return by id who leads the place: of its publisher's sites, and of all."""
    own = {site.site_id: representative(site, sites) for site in sites}
    leading: list[tuple[int, bytes]] = []
    of = {}
    for site in sites:
        if own[site.site_id] != site.site_id:
            continue
        own_bytes = signature(site)
        like = [led for led, other in leading if is_mirror(own_bytes, other)]
        if not like:
            leading.append((site.site_id, own_bytes))
        of[site.site_id] = [*like, site.site_id][0]
    return {site_id: of[led] for site_id, led in own.items()}


def representative(site: Profile, sites: list[Profile]) -> int:
    """The id of the first site of the publisher that leads and is like this one."""
    representatives: list[Profile] = []
    for item in sites:
        if item.publisher != site.publisher:
            continue
        like = [
            representative
            for representative in representatives
            if same_capabilities(item, representative)
        ]
        if not like:
            representatives.append(item)
        if item is site:
            return like[0].site_id if like else site.site_id
    raise AssertionError


def rank_score(site: Profile, score: int, relevance: int) -> int:
    """The digits of the policy's order as one number, by decimal rounding."""
    tenths, whole, percents = (
        int(Decimal(value).scaleb(-places).quantize(Decimal(1), ROUND_HALF_UP))
        for value, places in ((score, 5), (relevance, 2), (site.quality, 2))
    )
    digits = (
        f"{tenths:04d}{whole:03d}{percents:03d}{1 - site.commission_tier}{score:09d}"
    )
    return int(digits)


def standings(sites: list[Profile], query: Query, now: datetime) -> list[Standing]:
    """Return the whole order."""
    request, count = query.request, len(sites)
    idf = {}
    for term in request.terms:
        df = sum(term in field_weights(site) for site in sites)
        idf[term] = round(1000 * math.log(1 + (count - df + 0.5) / (df + 0.5)))
    place_of = places_of(sites)
    publisher_of = {site.site_id: site.publisher for site in sites}
    keys = []
    for site in sites:
        relevant, eligible = relevance(site, request, idf)
        if not (eligible and passes(site, query.filters, query.cell)):
            continue
        score = (
            4000 * relevant
            + 2000 * proximity(site, query.cell)
            + 1500 * site.capability_depth
            + 1500 * site.quality
            + 1000 * freshness(site, now)
        )
        text = b"wab-tie-v1\0" + format_site_id(site.site_id).encode()
        tie = int.from_bytes(digest(SEED, text, sha256)[:8], "big")
        keys.append(OrderKey(-rank_score(site, score, relevant), tie, site.site_id))
    places: dict[int, list[OrderKey]] = {}
    further: dict[int, list[OrderKey]] = {}
    of_publisher: dict[int, list[int]] = {}
    for key in sorted(keys):
        place = place_of[key.site_id]
        own = of_publisher.setdefault(publisher_of[key.site_id], [])
        if place not in own and len(own) < P.publisher_answer_places:
            own.append(place)
        if place in own:
            places.setdefault(place, []).append(key)
        else:
            further.setdefault(own[-1], []).append(key)
    return [
        (
            (-head.negative_rank_score % 10**9, head.tie_key, head.site_id),
            tuple(k.site_id for k in sorted([*rest, *further.get(place, [])])),
        )
        for place, (head, *rest) in places.items()
    ]


def standings_of(ranked: Ranked) -> list[Standing]:
    return listed(ranked.sites)


def listed(page: Sequence[RankedSite]) -> list[Standing]:
    return [((s.score, s.order_key.tie_key, s.site_id), s.sharing) for s in page]


def random_query(rng: random.Random, vector: bytes) -> Query:
    known = [f"term{number}" for number in range(34)]  # some are in no site
    terms = rng.sample(known, rng.randint(0, 12))
    point = Point(rng.uniform(-60, 60), rng.uniform(-180, 180))
    return Query(
        request=ParsedQuery(
            term_of={term.upper(): term for term in terms},
            vector=vector,
            confidence_bp=rng.choice([FULL, 4000]),
        ),
        cell=rng.choice([None, cell_of(point)]),
        filters=Filters(
            category=rng.choice([None, None, "hotel"]),
            country=rng.choice([None, None, "JO"]),
            format=rng.choice([None, None, "awp"]),
            **dict([rng.choice(MORE_FILTERS)]),
        ),
    )


def corpus(rng: random.Random, make: MakeRandom, size: int) -> list[Profile]:
    sites = [make(rng, number) for number in rng.sample(range(2**63 - 1), size)]
    return sorted(sites, key=lambda site: site.site_id)


@pytest.mark.parametrize("number", range(8))
def test_search_equals_the_slow_scorer(
    number: int, random_site: MakeRandom, now: datetime
) -> None:
    rng = random.Random(number)
    sites = corpus(rng, random_site, 30)
    index = Builder.build(rng.sample(sites, 30), P).index
    for _ in range(4):
        query = random_query(rng, request_vector(rng.choice(sites)))
        expected = standings(sites, query, now)
        ranked = search(index, query, now=now, seed=SEED, k=100)
        assert standings_of(ranked) == expected
        assert not ranked.has_more
        assert ranked.eligible == sum(1 + len(behind) for _, behind in expected)
        assert all(s.factors.score(P) == s.score for s in ranked.sites)


@pytest.mark.parametrize("number", range(4))
def test_pages_of_few_publishers_equal_the_slow_scorer(
    number: int, random_site: MakeRandom, now: datetime
) -> None:
    rng = random.Random(number)
    sites = [
        replace(site, publisher=rng.randint(1, 3))
        for site in corpus(rng, random_site, 40)
    ]
    builder = Builder.build(rng.sample(sites, 30), P)
    index = builder.with_changes(sites, []).index
    verify_pages(rng, index, sites, now)


def copied(rng: random.Random, site: Profile, others: list[Profile]) -> Profile:
    """The site as it is, or with what another says, mostly with a word more."""
    other = rng.choice([site, *others])
    more = rng.sample(["once", "more", "again"], rng.randint(0, 1))
    return replace(
        site,
        publisher=rng.randint(1, 6),
        site_terms=tuple({*other.site_terms, *more}),
        actions=other.actions,
        embedding=others[0].embedding,
    )


@pytest.mark.parametrize("number", range(12))
def test_mirrors_of_several_publishers_equal_the_slow_scorer(
    number: int, random_site: MakeRandom, now: datetime
) -> None:
    rng = random.Random(number)
    plain = corpus(rng, random_site, 40)
    sites = [copied(rng, site, plain[:8]) for site in plain]
    builder = Builder.build([*rng.sample(sites, 25), random_site(rng, 1)], P)
    builder = builder.with_changes(rng.sample(sites, 10), [1])
    index = builder.with_changes(sites, []).index
    assert len(set(places_of(sites).values())) < 38
    verify_pages(rng, index, sites, now)


def verify_pages(
    rng: random.Random, index: Index, sites: list[Profile], now: datetime
) -> None:
    for _ in range(4):
        query = random_query(rng, request_vector(rng.choice(sites)))
        pages: list[Standing] = []
        after = None
        while page := search(
            index, query, now=now, seed=SEED, k=rng.randint(1, 4), after=after
        ).sites:
            pages += listed(page)
            after = page[-1].order_key
        assert pages == standings(sites, query, now)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_pages_put_together_are_the_whole_order(
    size: int, random_site: MakeRandom, now: datetime
) -> None:
    rng = random.Random(99)
    sites = corpus(rng, random_site, 40)
    # Equal in all but identity, so that every page breaks a tie.
    equal = [random_site(random.Random(5), site.site_id) for site in sites[:12]]
    index = Builder.build([*equal, *sites[12:]], APART).index
    request = ParsedQuery(
        term_of={"term1": "term1"}, vector=request_vector(equal[0]), confidence_bp=FULL
    )
    query = Query(request=request)
    whole = search(index, query, now=now, seed=SEED, k=100).sites
    pages: list[RankedSite] = []
    after = None
    while page := search(index, query, now=now, seed=SEED, k=size, after=after).sites:
        pages.extend(page)
        after = page[-1].order_key
    assert pages == list(whole)
    keys = [site.order_key for site in whole]
    assert all(earlier < later for earlier, later in pairwise(keys))


# Draws whose requests have eligible sites.
@pytest.mark.parametrize("number", [0, 2, 3, 4, 5, 6])
def test_pages_within_a_radius_equal_the_slow_scorer(
    number: int, random_site: MakeRandom, now: datetime
) -> None:
    rng = random.Random(number)
    user = Point(rng.choice([-89.9, -17.0, 0.0, 52.5]), rng.choice([-179.9, 13.4]))

    def near(site: Profile) -> Profile:
        latitude = max(-90, min(90, user.latitude + rng.uniform(-4, 4)))
        longitude = (user.longitude + rng.uniform(-6, 6) + 180) % 360 - 180
        point = Point(latitude, longitude) if rng.random() < 0.9 else None
        return replace(site, point=point, publisher=rng.randint(1, 12))

    sites = [near(site) for site in corpus(rng, random_site, 60)]
    builder = Builder.build(rng.sample(sites, 40), P)
    index = builder.with_changes(sites, []).index
    sizes = set()
    for radius_km in (1, 30, 120, 500):
        query = replace(
            random_query(rng, request_vector(rng.choice(sites))),
            cell=cell_of(user),
            filters=Filters(within_km=radius_km),
        )
        pages: list[Standing] = []
        after = None
        while page := search(index, query, now=now, seed=SEED, k=3, after=after).sites:
            pages += listed(page)
            after = page[-1].order_key
        assert pages == standings(sites, query, now)
        sizes.add(len(pages))
    assert len(sizes) > 1


def test_no_site_is_within_a_radius_of_nowhere(
    random_site: MakeRandom, now: datetime
) -> None:
    rng = random.Random(3)
    sites = corpus(rng, random_site, 30)
    index = Builder.build(sites, P).index
    query = random_query(rng, request_vector(sites[0]))
    query = replace(query, cell=None, filters=Filters(within_km=500))
    assert search(index, query, now=now, seed=SEED, k=10).eligible == 0
