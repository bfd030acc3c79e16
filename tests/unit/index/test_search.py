import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import msgspec
import pytest

from registry.index.building.builder import Builder
from registry.index.columns.filters import FILTERS, Filters
from registry.index.query.index import Index
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import Ranked, prepare_query, search
from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.encoders.vectors import DIMENSIONS
from registry.ranking.policy import FULL, STATIC_POLICY
from registry.ranking.profile import Profile, make_profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.relevance import ParsedQuery
from registry.sites.action import Action
from registry.sites.place import Point, cell_of
from registry.sites.site import Site
from tests.unit.index.conftest import APART as P
from tests.unit.index.conftest import request_vector

MakeProfile = Callable[..., Profile]
AMMAN = Point(31.95, 35.93)
TABLE = ParsedQuery(
    term_of={"tables": "tabl"}, vector=bytes(DIMENSIONS), confidence_bp=0
)
SEED = bytes(range(32))


def find(
    sites: list[Profile],
    query: Query,
    now: datetime,
    *,
    seed: bytes = SEED,
    k: int = 30,
) -> Ranked:
    return search(Builder.build(sites, P).index, query, now=now, seed=seed, k=k)


def ids(ranked: Ranked) -> list[int]:
    return [site.site_id for site in ranked.sites]


def local(
    site: MakeProfile, site_id: int, latitude: float, **changes: object
) -> Profile:
    point = Point(latitude, AMMAN.longitude)
    return site(site_id, point=point, local=True, **changes)


def test_an_empty_index_answers(now: datetime) -> None:
    ranked = find([], Query(request=TABLE, cell="sv8w"), now)
    assert (ranked.eligible, ranked.has_more, ranked.sites) == (0, False, ())


def test_nearer_stands_before_farther(site: MakeProfile, now: datetime) -> None:
    sites = [local(site, n, 31.95 + n) for n in (3, 1, 0, 2)]
    assert ids(find(sites, Query(request=TABLE, cell=cell_of(AMMAN)), now)) == [
        0,
        1,
        2,
        3,
    ]


def test_without_a_user_location_place_makes_no_difference(
    site: MakeProfile, now: datetime
) -> None:
    sites = [local(site, 1, 31.95), local(site, 2, -60), site(3)]
    ranked = find(sites, Query(request=TABLE), now)
    assert {site.factors.proximity for site in ranked.sites} == {P.proximity_neutral}
    assert {
        site.explanation.proximity.facts.distance_band for site in ranked.sites
    } == {None}


def test_a_site_without_a_place_stands_between_near_and_far(
    site: MakeProfile, now: datetime
) -> None:
    sites = [local(site, 1, -60), site(2), local(site, 3, 31.95)]
    ranked = find(sites, Query(request=TABLE, cell=cell_of(AMMAN)), now)
    assert ids(ranked) == [3, 2, 1]
    assert ranked.sites[0].explanation.proximity.facts.distance_band == "under 25 km"


def test_fresher_stands_before_older(site: MakeProfile, now: datetime) -> None:
    sites = [site(n, changed_at=now - timedelta(days=n)) for n in (30, 1, 60)]
    ranked = find(sites, Query(request=TABLE), now)
    assert ids(ranked) == [1, 30, 60]
    assert ranked.sites[0].explanation.freshness.facts.days_since_change == 1


def test_only_relevant_sites_are_eligible(site: MakeProfile, now: datetime) -> None:
    near_and_fresh = local(site, 1, 31.95, actions=(), changed_at=now, quality=10_000)
    ranked = find(
        [near_and_fresh, site(2, quality=0)],
        Query(request=TABLE, cell=cell_of(AMMAN)),
        now,
    )
    assert ids(ranked) == [2]
    assert ranked.sites[0].explanation.relevance.facts.matched_terms == ("tables",)
    assert ranked.sites[0].explanation.relevance.facts.best_action == "bookTable"


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), [1, 2, 3]),
        (Filters(category="Hotel "), [2]),
        (Filters(country="de"), [3]),
        (Filters(format="awp"), [1]),
        (Filters(country="JO", format="wab"), [1, 2]),
        (Filters(category="bank"), []),
        (Filters(format="none"), []),
        (Filters(conformance="Strict"), [1]),
        (Filters(permission="readContent"), [1, 2]),
        (Filters(permission="READ_CONTENT "), [1, 2]),
        (Filters(requires_auth=True), [2, 3]),
        (Filters(requires_auth=False), [1, 2]),
        (Filters(action="add-to-cart"), [1, 3]),
        (Filters(action="addToCart"), [1, 3]),
        (Filters(action="Add to cart"), [1, 3]),
        (Filters(language="de-AT"), [2]),
        (Filters(language="DE"), [2]),
        (Filters(action="addToCart", country="de"), [3]),
        (Filters(permission="readContent", requires_auth=False, language="de"), [2]),
        (Filters(action="addToCart", language="de"), []),
        (Filters(conformance="refused"), []),
        (Filters(action="add"), []),
        (Filters(language="d"), []),
    ],
)
def test_filters_let_pass_what_matches(
    site: MakeProfile, now: datetime, filters: Filters, expected: list[int]
) -> None:
    sites = [
        site(
            1,
            formats=("awp", "wab"),
            conformance="strict",
            permissions=("click", "read content"),
            requires_auth=(False,),
            action_names=("add to cart",),
        ),
        site(
            2,
            category="hotel",
            conformance="tolerated",
            permissions=("read content",),
            requires_auth=(False, True),
            languages=("de", "en"),
        ),
        site(
            3,
            country="DE",
            requires_auth=(True,),
            action_names=("add to cart", "pay"),
            languages=("en",),
        ),
    ]
    ranked = find(sites, Query(request=TABLE, filters=filters), now)
    assert sorted(ids(ranked)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param("", id="nothing"),
        pytest.param(" \t\n", id="space"),
        pytest.param("\0", id="NUL"),
        pytest.param("-_-", id="no word"),
        pytest.param("?!" * 5_000, id="long"),
        pytest.param("\U0010ffff\u202e", id="no letters"),
    ],
)
@pytest.mark.parametrize("name", [item for item in FILTERS if item != "requires_auth"])
def test_who_asks_for_nothing_does_not_find_who_tells_nothing(
    site: MakeProfile, now: datetime, name: str, expected: str
) -> None:
    silent = site(1, category="", country="", formats=())
    filters = Filters(**{name: expected})
    assert ids(find([silent], Query(request=TABLE), now)) == [1]
    assert ids(find([silent], Query(request=TABLE, filters=filters), now)) == []


def test_order_of_registration_changes_nothing(
    random_site: Callable[[random.Random, int], Profile], now: datetime
) -> None:
    rng = random.Random(1)
    sites = [random_site(rng, number) for number in range(40)]
    request = ParsedQuery(
        term_of={"term1": "term1"}, vector=request_vector(sites[0]), confidence_bp=FULL
    )
    query = Query(request=request)
    straight = find(sites, query, now)
    assert straight.eligible > 0
    assert find(sites[::-1], query, now) == straight


def test_equals_are_shuffled_by_the_seed_and_by_nothing_else(
    site: MakeProfile, now: datetime
) -> None:
    sites = [site(n) for n in range(1, 9)]
    query = Query(request=TABLE)
    orders = {tuple(ids(find(sites, query, now, seed=bytes([n])))) for n in range(20)}
    assert len(orders) > 15
    assert find(sites, query, now) == find(sites, query, now)


def test_an_added_equal_never_reorders_the_others(
    site: MakeProfile, now: datetime
) -> None:
    sites = [site(n) for n in range(1, 9)]
    before = ids(find(sites, Query(request=TABLE), now))
    after = ids(find([*sites, site(77)], Query(request=TABLE), now))
    assert [item for item in after if item != 77] == before


def test_commission_free_stands_first_among_equals_only(
    site: MakeProfile, now: datetime
) -> None:
    """Equals as shown: site 4 has more quality than 2 has, but no percent more."""
    sites = [
        *(site(1), site(2, commission_tier=0), site(3, quality=7100)),
        site(4, quality=7001),
    ]
    assert ids(find(sites, Query(request=TABLE), now)) == [3, 2, 4, 1]


def test_seventy_five_subdomains_take_one_place(
    site: MakeProfile, now: datetime
) -> None:
    flood = [site(n, publisher=5, quality=7000 - n) for n in range(100, 175)]
    honest = [site(n, quality=6000) for n in (1, 2)]
    ranked = find([*flood, *honest], Query(request=TABLE), now)
    assert ranked.eligible == 77
    assert sorted(ids(ranked)) == [1, 2, 100]
    best = next(site for site in ranked.sites if site.site_id == 100)
    assert best.sharing == tuple(range(101, 175))


def test_one_publishers_different_sites_keep_their_places(
    site: MakeProfile, now: datetime
) -> None:
    other = site(2, publisher=5, site_terms=("car", "rent", "tabl", "van", "truck"))
    assert len(ids(find([site(1, publisher=5), other], Query(request=TABLE), now))) == 2


def test_one_offer_of_ten_publishers_takes_one_place(
    site: MakeProfile, now: datetime
) -> None:
    offers = [site(n, quality=8000 - n) for n in range(1, 10)]
    other = site(10, site_terms=("car", "rent", "tabl", "van", "truck"))
    index = Builder.build([*offers, other], STATIC_POLICY).index
    ranked = search(index, Query(request=TABLE), now=now, seed=SEED, k=9)
    assert ids(ranked) == [1, 10]
    assert ranked.sites[0].sharing == (*range(2, 10),)


def test_a_crowded_publisher_takes_nobodys_place(
    site: MakeProfile, now: datetime
) -> None:
    """What it says as another does, beyond its own three places, is led by the other."""
    words = [tuple(f"t{n}w{i}" for i in range(30)) for n in range(5)]
    own = [
        site(10 + n, publisher=5, quality=9000 - n, site_terms=words[n])
        for n in range(5)
    ]
    others = [site(n, quality=5000 - n, site_terms=words[n]) for n in (1, 3, 4)]
    index = Builder.build([*own, *others], STATIC_POLICY).index
    pages, after = [], None
    while page := search(
        *(index, Query(request=TABLE)), now=now, seed=SEED, k=2, after=after
    ).sites:
        pages += [(row.site_id, row.sharing) for row in page]
        after = page[-1].order_key
    assert pages == [(10, ()), (11, (1,)), (12, (13, 14)), (3, ()), (4, ())]


def test_a_publisher_has_no_more_than_its_places(
    site: MakeProfile, now: datetime
) -> None:
    policy = replace(P, publisher_places_max=3)
    sites = [
        site(n, publisher=5, site_terms=tuple(f"t{n}w{i}" for i in range(30)))
        for n in range(1, 11)
    ]
    ranked = search(
        Builder.build(sites, policy).index,
        Query(request=TABLE),
        now=now,
        seed=SEED,
        k=30,
    )
    assert (ranked.eligible, len(ranked.sites)) == (10, 3)


def flooded(site: MakeProfile) -> list[Profile]:
    """Sixty different sites of one publisher, better than twenty of others."""
    flood = [
        site(n, publisher=999, quality=9000 - n, site_terms=(f"a{n}", f"b{n}", f"c{n}"))
        for n in range(100, 160)
    ]
    return [*flood, *(site(n, quality=6000 - n) for n in range(1, 21))]


def test_sixty_different_subdomains_take_three_places(
    site: MakeProfile, now: datetime
) -> None:
    ranked = find(flooded(site), Query(request=TABLE), now, k=20)
    assert ids(ranked) == [100, 101, 102, *range(1, 18)]
    assert [row.sharing for row in ranked.sites[:3]] == [(), (), (*range(103, 160),)]
    assert ranked.eligible == 80
    assert ranked.has_more


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_publisher_takes_no_more_places_on_later_pages(
    size: int, site: MakeProfile, now: datetime
) -> None:
    index = Builder.build(flooded(site), P).index
    shown: list[int] = []
    after = None
    while page := search(
        *(index, Query(request=TABLE)), now=now, seed=SEED, k=size, after=after
    ).sites:
        shown += [row.site_id for row in page]
        after = page[-1].order_key
    assert shown == [100, 101, 102, *range(1, 21)]


def test_a_publisher_is_crowded_however_its_sites_came_and_went(
    site: MakeProfile, now: datetime
) -> None:
    sites = flooded(site)
    builder = Builder.build(sites[:2] + sites[60:], P)
    for number in range(2, 60, 3):
        builder = builder.with_changes(sites[number : number + 3], [])
    ranked = search(builder.index, Query(request=TABLE), now=now, seed=SEED, k=20)
    assert ids(ranked) == [100, 101, 102, *range(1, 18)]
    builder = builder.with_changes([], range(101, 158))
    ranked = search(builder.index, Query(request=TABLE), now=now, seed=SEED, k=20)
    assert ids(ranked) == [100, 158, 159, *range(1, 18)]
    assert not any(len(part.segment.crowded_rows) for part in builder.index.parts[-1:])


def test_sample_is_of_eligible_sites_and_follows_the_seed(
    site: MakeProfile, now: datetime
) -> None:
    sites = [site(n) for n in range(1, 400)] + [site(n, actions=()) for n in (500, 501)]
    eligible_sample = find(sites, Query(request=TABLE), now, k=1).eligible_sample
    assert len(set(eligible_sample)) == P.eligible_sample
    assert set(eligible_sample) <= set(range(1, 400))
    assert list(eligible_sample) == sorted(eligible_sample)
    assert (
        find(sites, Query(request=TABLE), now, k=1, seed=b"other seed").eligible_sample
        != eligible_sample
    )
    few = find(sites[:9], Query(request=TABLE), now, k=1).eligible_sample
    assert few == tuple(range(1, 10))


def test_a_cell_that_is_none_is_refused(site: MakeProfile, now: datetime) -> None:
    with pytest.raises(ValueError, match="geohash"):
        find([site(1)], Query(request=TABLE, cell="a!"), now)


SITES = [
    Site(
        category="restaurant",
        actions=(Action(name="bookTable", description="Reserve a table for dinner"),),
    ),
    Site(
        category="travel",
        actions=(Action(name="searchFlights", description="Find flights to a city"),),
    ),
    Site(
        category="cinema",
        actions=(Action(name="buyTicket", description="Tickets for tonight's movie"),),
    ),
]


def profile_of(site: Site, number: int, publisher: int) -> Profile:
    return make_profile(
        site,
        site_id=number,
        publisher=publisher,
        host=f"xq{number}.test",
        registrable_domain=f"xq{number}.test",
        formats=("wab",),
        place=None,
        probes=ProbeFigures(),
        changed_at=datetime.fromisoformat("2026-11-01T00:00:00Z"),
        encoder=load_encoder(),
        policy=P,
    )


@pytest.fixture(scope="module")
def town() -> Index:
    return Builder.build(
        [profile_of(site, number, number) for number, site in enumerate(SITES)], P
    ).index


VARIED = ["dinner", "lunch", "brunch", "party", "terrace", "garden", "rooftop", "sushi"]
VARIED += ["pizza", "tapas", "vegan", "birthday", "wedding", "business", "family"]


@pytest.mark.parametrize(
    "query",
    ["restaurant reservation for dinner", "reserve a table at a restaurant tonight"],
)
def test_varied_texts_of_sixty_subdomains_take_three_of_twenty_places(
    query: str, now: datetime
) -> None:
    rng = random.Random(11)
    booking = Action(name="bookTable", description="Reserve a table for dinner")
    flood = [
        Site(
            category="restaurant",
            description=" ".join(["restaurant", *rng.sample(VARIED, 6)]),
            actions=(
                Action(
                    name="reserveTable",
                    description=" ".join(
                        ["Restaurant reservation tonight", *rng.sample(VARIED, 5)]
                    ),
                ),
            ),
        )
        for _ in range(60)
    ]
    honest = [Site(category="restaurant", actions=(booking,)) for _ in range(20)]
    index = Builder.build(
        [
            *(profile_of(site, n, 999) for n, site in enumerate(flood, 100)),
            *(profile_of(site, n, n) for n, site in enumerate(honest, 1)),
        ],
        P,
    ).index
    ranked = search(
        *(index, prepare_query(query, load_encoder(), P)), now=now, seed=SEED, k=20
    )
    assert len(ids(ranked)) == 20
    assert sum(site_id >= 100 for site_id in ids(ranked)) <= 3


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load_encoder()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("please book a table for two", 0),
        ("cheap flights to Paris", 1),
        ("watch a film", 2),  # by meaning: the site says movie
    ],
)
def test_plain_words_find_the_site(
    town: Index, encoder: Encoder, now: datetime, text: str, first: int
) -> None:
    query = prepare_query(text, encoder, P)
    assert ids(search(town, query, now=now, seed=SEED, k=3))[0] == first


@pytest.mark.parametrize(
    "text",
    ["", " \n", "who are you", "qwrtz plimf vorgon", "zzzz 12345", "!!!", "x" * 5000],
)
def test_who_asks_for_nothing_finds_nothing(
    town: Index, encoder: Encoder, now: datetime, text: str
) -> None:
    query = prepare_query(text, encoder, P)
    assert search(town, query, now=now, seed=SEED, k=3).eligible == 0


def test_filters_of_a_record_are_those_that_were_given() -> None:
    """A record names them by field; requests and answers in camel case."""
    filters = Filters(requires_auth=False, language="de")

    assert Filters.from_record(filters.given()) == filters
    with pytest.raises(msgspec.ValidationError):
        Filters.from_record({"brand": "x"})
