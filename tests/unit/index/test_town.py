"""Eligibility as a whole, on the demo town: plain words in, the right sites out.

The bounds are what the policy reaches, a little loosened; they guard it, and are no
claim that this is enough. What it misses stands here by name.
"""

from datetime import UTC, datetime

import pytest
from msgspec import structs

from registry.demo.town.build_document import build_document, build_page, document_path
from registry.demo.town.member import CAST, Member
from registry.demo.town.resource import json_resource
from registry.formats.assemble import assemble
from registry.formats.detect import parse_document, parse_page
from registry.formats.document import Parsed
from registry.index.building.builder import Builder
from registry.index.query.index import Index
from registry.index.query.search import Ranked, prepare_query, search
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY as P
from registry.ranking.profile import make_profile
from registry.ranking.quality import ProbeFigures
from registry.sites.place import Place, Point, cell_of
from registry.sites.site import Site
from tests.unit.ranking.town_queries import (
    BAKERIES,
    DENTISTS,
    NONSENSE,
    OFF_TOPIC,
    RIGHT_HOSTS,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)

# Found first is another site, or none: nobody here says the word that was used for the
# thing, or another says the word that counts most ("restaurant", "fix").
FIRST_IS_WRONG = {
    "fix leaking tap",
    "hire a cook for my restaurant",
    "i need somebody to fix my toilet",
}


# Whole degrees are near enough: the towns of two countries are never neighbours.
POINTS = {
    "FR": Point(46, 5),
    "JO": Point(32, 36),
    "DE": Point(52, 13),
    "JP": Point(35, 136),
    "PE": Point(-12, -77),
    "TR": Point(41, 29),
    "KE": Point(-1, 37),
    "CA": Point(44, -79),
    "CN": Point(31, 104),
    "TH": Point(19, 99),
    "KZ": Point(43, 77),
    "KR": Point(35, 129),
}


def place_of(member: Member) -> Place | None:
    if not member.city:
        return None
    point = POINTS[member.country]
    return Place(geonames_id=1, name=member.city, country=member.country, point=point)


def read(member: Member) -> Site:
    document = build_document(member)
    url = f"https://{member.host}{document_path(member)}"
    outcome = (
        parse_page(build_page(member).body, url=url)
        if document is None
        else parse_document(json_resource(document).body, url=url)
    )
    assert isinstance(outcome, Parsed)
    site = assemble([outcome.document]).site
    return structs.replace(site, category=site.category or member.category)


@pytest.fixture(scope="module")
def town() -> Index:
    return Builder.build(
        [
            make_profile(
                read(member),
                site_id=number,
                publisher=number,
                host=member.host,
                registrable_domain=member.host,
                formats=(member.format,),
                place=place_of(member),
                probes=ProbeFigures(),
                changed_at=NOW,
                encoder=load_encoder(),
                policy=P,
            )
            for number, member in enumerate(CAST)
        ],
        P,
    ).index


def ask(town: Index, text: str, cell: str | None = None) -> Ranked:
    query = prepare_query(text, load_encoder(), P, cell=cell)
    return search(town, query, now=NOW, seed=bytes(32), k=100)


def hosts(ranked: Ranked) -> list[str]:
    return [CAST[site.site_id].host.removesuffix(".test") for site in ranked.sites]


@pytest.fixture(scope="module")
def answers(town: Index) -> dict[str, list[str]]:
    """By query the hosts in their order, the user being nowhere."""
    return {text: hosts(ask(town, text)) for text in RIGHT_HOSTS}


def test_labels_name_members_of_the_cast() -> None:
    cast = {member.host.removesuffix(".test") for member in CAST}
    assert {host for right in RIGHT_HOSTS.values() for host in right.split()} <= cast


def test_first_is_one_that_can_do_it(answers: dict[str, list[str]]) -> None:
    wrong = {
        text
        for text, right in RIGHT_HOSTS.items()
        if not set(answers[text][:1]) & set(right.split())
    }
    assert wrong <= FIRST_IS_WRONG


def test_eligible_are_most_that_can_do_it_and_few_others(
    answers: dict[str, list[str]],
) -> None:
    right = {(q, host) for q, hosts in RIGHT_HOSTS.items() for host in hosts.split()}
    shown = {(q, host) for q, hosts in answers.items() for host in hosts}
    assert len(right & shown) / len(shown) >= 0.54
    assert len(right & shown) / len(right) >= 0.88


def test_what_nobody_offers_finds_nearly_nothing(town: Index) -> None:
    result = [text for text in (*NONSENSE, *OFF_TOPIC) if ask(town, text).eligible]
    assert set(result) <= {
        "car insurance quote",
        "buy a used tractor",
        "chess openings",
        "grzbl frmpf order",
    }


@pytest.mark.parametrize(
    ("country", "text", "first", "absent"),
    [
        ("FR", "order bread for the weekend", BAKERIES, "petale-et-tige"),
        ("JO", "book a table for two tonight", "zaytoun-table", "cedar-slate"),
        ("JO", "see a dentist", DENTISTS, "zaytoun-table"),
    ],
)
def test_one_common_verb_makes_no_neighbour_eligible(
    town: Index, country: str, text: str, first: str, absent: str
) -> None:
    result = hosts(ask(town, text, cell_of(POINTS[country])))
    assert result[0] in first.split()
    assert absent not in result
