from collections import Counter, defaultdict

import pytest

from registry.demo.town.member import CAST, Member
from registry.sites.gazetteer import Gazetteer
from registry.sites.host import parse_host

BY_HOST = {member.host: member for member in CAST}


def test_town_has_more_than_forty_sites_with_hosts_of_their_own() -> None:
    assert 44 <= len(CAST) == len(BY_HOST)


@pytest.mark.parametrize(
    ("format_", "least"),
    [("wab", 14), ("awp", 8), ("awas", 8), ("abp", 6), ("webmcp", 6)],
)
def test_every_format_occurs_often(format_: str, least: int) -> None:
    assert sum(member.format == format_ for member in CAST) >= least


def test_dialects_and_both_versions_of_awas_occur() -> None:
    assert {(member.format, member.dialect) for member in CAST} >= {
        ("wab", "site-1.2"),
        ("wab", "edge-3.2"),
        ("awas", ""),
        ("awas", "1.1"),
        ("webmcp", ""),
        ("webmcp", "manifest"),
    }


def test_hosts_are_registrable_names_reserved_for_tests() -> None:
    for host in BY_HOST:
        assert parse_host(host, test_hosts=True).registrable_domain == host


def test_cities_are_spelled_as_in_the_gazetteer(gazetteer: Gazetteer) -> None:
    places = {(member.city, member.country) for member in CAST if member.city}
    for city, country in places:
        place = gazetteer.find(city, country)
        assert (place.name, place.country) == (city, country)
    assert len(places) >= 8
    assert len({country for _, country in places}) >= 6


def test_several_trades_are_found_in_more_than_one_city() -> None:
    cities = defaultdict(set)
    for member in CAST:
        if member.city and member.story != "broken":
            cities[member.category].add(member.city)
    assert len(cities["restaurant"]) >= 4
    assert sum(len(city) > 1 for city in cities.values()) >= 8


def test_every_site_offers_two_to_eight_described_actions() -> None:
    for member in CAST:
        assert 2 <= len(member.actions) <= 8
        assert len({action.name for action in member.actions}) == len(member.actions)
        assert all(action.description for action in member.actions)


def test_every_story_is_told() -> None:
    stories = Counter(member.story for member in CAST)
    assert stories["wrong-key"] == stories["changed-after-signing"] == 1
    assert stories["slow"] == stories["flaky"] == stories["broken"] == 3
    assert stories["honest"] > len(CAST) / 2


def test_broken_sites_are_broken_in_three_ways_and_no_others_are() -> None:
    defects = [member.defect for member in CAST if member.story == "broken"]
    assert sorted(defects) == ["malformed", "missing", "soft-404"]
    assert all(not member.defect for member in CAST if member.story != "broken")


def test_disclosures_vary_and_some_are_withheld() -> None:
    assert {member.commission_percent for member in CAST} == {None, 0, 5, 15}
    assert {member.is_independent for member in CAST} == {None, True, False}
    sizes = {member.size for member in CAST}
    assert sizes == {None, "micro", "small", "medium", "large"}


def test_what_only_ed25519_can_do_is_asked_of_ed25519_alone() -> None:
    assert any(member.algorithm == "ES256" for member in CAST)
    for member in CAST:
        if member.signed or member.proof == "dns":
            assert (member.format, member.algorithm) == ("wab", "Ed25519")


def test_several_wab_documents_are_signed_and_some_sites_prove_by_dns() -> None:
    assert sum(member.signed for member in CAST) >= 5
    assert sum(member.proof == "dns" for member in CAST) == 2


@pytest.mark.parametrize(
    ("wish", "category"),
    [
        ("book a table for two", "restaurant"),
        ("repair my bicycle", "bicycle-repair"),
        ("track a parcel", "parcel-tracking"),
        ("translate a document", "translation"),
        ("order fresh bread", "bakery"),
        ("dentist appointment for toothache", "dentist"),
        ("plumber for a leaking tap", "plumber"),
        ("weather forecast", "weather"),
        ("convert money into another currency", "currency"),
        ("send flowers to a friend", "florist"),
        ("search jobs", "jobs"),
    ],
)
def test_plain_words_meet_the_right_trade(wish: str, category: str) -> None:
    best = max(CAST, key=lambda member: _overlap(wish, member))
    assert best.category == category


def _overlap(wish: str, member: Member) -> int:
    wanted = set(wish.split())
    return max(
        len(wanted & set(action.description.lower().replace(":", "").split()))
        for action in member.actions
    )
