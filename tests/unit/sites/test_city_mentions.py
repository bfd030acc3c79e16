"""A city in a request's words is found; a word that means something else is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.sites.city_mentions import MOST_MENTIONS, ORDINARY_NAMES, CityMentions
from registry.sites.regions import REGIONS


@pytest.fixture(scope="module")
def mentions() -> CityMentions:
    return CityMentions.load()


def cities(mentions: CityMentions, text: str, country: str = "") -> list[str]:
    places = [mention.place for mention in mentions.find(text, country)]
    return [f"{place.name}, {place.country}" for place in places]


@pytest.mark.parametrize(
    ("text", "city"),
    [
        ("hotel in Kyoto", "Kyoto, JP"),
        ("hotel in kyoto?", "Kyoto, JP"),
        ("ホテル 京都", "Kyoto, JP"),
        ("pizza, new york", "New York City, US"),
        ("a table in New York City tonight", "New York City, US"),
        ("Hotel in Wien", "Vienna, AT"),
        ("Hotel in Frankfurt am Main", "Frankfurt am Main, DE"),
        ("a room in San José, Costa Rica", "San José, CR"),
        ("a room in San Jose", "San Jose, US"),
        ("hotels in Singapore", "Singapore, SG"),
        ("haircut near Salt Lake City", "Salt Lake City, US"),
        ("hotel in Paris, Texas", "Paris, US"),
        ("hotel in Paris", "Paris, FR"),
        ("Perth, Western Australia", "Perth, AU"),
        ("a table in Toronto, Ontario", "Toronto, CA"),
        ("Atlanta, Georgia", "Atlanta, US"),
        ("hotel in Tbilisi, Georgia", "Tbilisi, GE"),
        ("Kansas City, Missouri", "Kansas City, US"),
    ],
)
def test_city_in_the_words_is_found(
    mentions: CityMentions, text: str, city: str
) -> None:
    assert cities(mentions, text) == [city]


@pytest.mark.parametrize(
    "text",
    [
        "book a table for two",
        "a nice hotel with a reading room",
        "mobile phone repair, best date and time",
        "a flat with mountain view near the old city",
        "Essen bestellen",
        "flights to Peru",
        "enterprise software",
        "split the bill",
        "orange juice",
        "",
        "?!",
        "xyzzy",
    ],
)
def test_ordinary_words_and_countries_name_no_city(
    mentions: CityMentions, text: str
) -> None:
    assert cities(mentions, text) == []


@pytest.mark.parametrize("word", ["nice", "reading", "mobile", "time", "best", "of"])
def test_word_of_the_language_is_no_city(mentions: CityMentions, word: str) -> None:
    assert cities(mentions, f"hotel in {word}") == []


@pytest.mark.parametrize("text", ["Portland, Maine", "Springfield, Illinois"])
def test_a_namesake_in_another_region_is_no_hint(
    mentions: CityMentions, text: str
) -> None:
    assert cities(mentions, text) == []


def test_a_region_in_another_country_than_that_given_is_no_hint(
    mentions: CityMentions,
) -> None:
    assert cities(mentions, "hotel in Paris, Texas", "FR") == []
    assert cities(mentions, "hotel in Paris, Texas", "US") == ["Paris, US"]


def test_boxes_have_their_edges_in_order() -> None:
    for region in REGIONS.values():
        assert -90 <= region.south < region.north <= 90
        assert -180 <= region.west < region.east <= 180


def test_several_cities_come_in_their_order(mentions: CityMentions) -> None:
    text = "train from Berlin to Paris and back to Berlin"
    assert cities(mentions, text) == ["Berlin, DE", "Paris, FR"]
    many = "Berlin Paris Madrid Lisbon Vienna"
    assert len(mentions.find(many)) == MOST_MENTIONS


def test_city_lies_in_the_country_that_was_given(mentions: CityMentions) -> None:
    assert cities(mentions, "hotel in Córdoba", "ES") == ["Córdoba, ES"]
    assert cities(mentions, "hotel in Kyoto", "DE") == []


def test_names_that_are_words_are_folded(mentions: CityMentions) -> None:
    assert all(name == name.casefold().strip() for name in ORDINARY_NAMES)
    assert not any(cities(mentions, name) for name in ORDINARY_NAMES if " " not in name)


def test_what_is_hinted_can_be_asked_with(mentions: CityMentions) -> None:
    gazetteer = mentions.gazetteer
    for city in gazetteer.names[::50]:
        for mention in mentions.find(f"a hotel in {city}"):
            place = mention.place
            assert gazetteer.find(place.name, place.country) == place


@given(st.text(max_size=200))
def test_any_text_is_read(mentions: CityMentions, text: str) -> None:
    assert len(mentions.find(text)) <= MOST_MENTIONS
