import gzip
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.sites import gazetteer as gazetteer_module
from registry.sites.gazetteer import fold, strip_diacritics
from registry.sites.place import Point, distance_km


def city_of(gazetteer, city, country=""):
    place = gazetteer.find(city, country)
    return place.name, place.country


def test_a_city_has_a_name_a_country_and_a_point(gazetteer):
    amman = gazetteer.find("Amman", "JO")
    assert (amman.name, amman.country, amman.geonames_id) == ("Amman", "JO", 250441)
    assert distance_km(amman.point, Point(31.955, 35.945)) < 5


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("MUNICH", "Munich"),
        ("münchen", "Munich"),
        ("Mu\u0308nchen", "Munich"),
        ("munchen", "Munich"),
        ("Ｔｏｋｙｏ", "Tokyo"),  # noqa: RUF001 -- full width
        ("東京", "Tokyo"),
        ("Москва", "Moscow"),
        ("عمان", "Amman"),
        ("दिल्ली", "Delhi"),
        ("İSTANBUL", "Istanbul"),
        ("  new   york-city ", "New York City"),
        ("Xi'an", "Xi’an"),  # noqa: RUF001 -- as GeoNames writes it
        ("Xian", "Xi’an"),  # noqa: RUF001 -- as GeoNames writes it
        ("st louis", "St. Louis"),
        ("Łódź", "Łódź"),
        ("Lodz", "Łódź"),
        ("sao paulo", "São Paulo"),
    ],
)
def test_any_common_spelling_finds_the_city(gazetteer, spelling, name):
    assert gazetteer.find(spelling).name == name


@pytest.mark.parametrize(
    ("city", "country"),
    [
        ("Paris", "FR"),
        ("London", "GB"),
        ("Birmingham", "GB"),
        ("San Jose", "US"),
    ],
)
def test_of_one_name_the_most_populous_city_is_meant(gazetteer, city, country):
    assert gazetteer.find(city).country == country


@pytest.mark.parametrize(
    ("city", "country"),
    [("Islamabad", "PK"), ("Zaragoza", "ES"), ("Porto", "PT"), ("Parma", "IT")],
)
def test_a_larger_citys_old_name_does_not_take_a_citys_own(gazetteer, city, country):
    assert gazetteer.find(city).country == country


@pytest.mark.parametrize(("city", "country"), [("Medina", "SA"), ("Geneva", "CH")])
def test_a_town_does_not_take_the_name_of_a_metropolis(gazetteer, city, country):
    assert gazetteer.find(city).country == country


def test_accents_as_written_come_first(gazetteer):
    assert city_of(gazetteer, "San José") == ("San José", "CR")


@pytest.mark.parametrize(
    ("city", "country", "code"),
    [
        ("London", "CA", "CA"),
        ("London", "canada", "CA"),
        ("Paris", "USA", "US"),
        ("Paris", "U.S.A.", "US"),
        ("Dili", "Timor-Leste", "TL"),
        ("Cordoba", "Spain", "ES"),
    ],
)
def test_the_country_decides_between_cities_of_one_name(gazetteer, city, country, code):
    assert gazetteer.find(city, country).country == code


@pytest.mark.parametrize(
    ("country", "code"),
    [
        ("jo", "JO"),
        ("JOR", "JO"),
        ("Jordan", "JO"),
        ("UK", "GB"),
        ("Great Britain", "GB"),
        ("The Netherlands", "NL"),
        ("netherlands", "NL"),
        ("Côte d'Ivoire", "CI"),
        ("Cote d’Ivoire", "CI"),  # noqa: RUF001 -- a typographer's apostrophe
        ("Czech Republic", "CZ"),
        ("Türkiye", "TR"),
        ("turkiye", "TR"),
        ("Russian Federation", "RU"),
        ("Korea, Republic of", "KR"),
        ("Republic of Congo", "CG"),
        ("Cape Verde", "CV"),
        ("Bonaire, Saint Eustatius and Saba", "BQ"),
        (" United  States ", "US"),
    ],
)
def test_a_country_is_known_by_code_and_name(gazetteer, country, code):
    assert gazetteer.find_country(country) == code


@pytest.mark.parametrize("country", ["Narnia", "XX", "", "-", "J0", "\x00", "a" * 9999])
def test_an_unknown_country_is_refused(gazetteer, country):
    with pytest.raises(Refused) as refusal:
        gazetteer.find_country(country)
    assert refusal.value.code == "country_unknown"
    assert refusal.value.problem.pointer == "country"
    assert "ISO 3166-1" in refusal.value.problem.fix
    assert len(refusal.value.problem.detail) < 200


def test_an_unknown_country_is_not_passed_over_for_the_city(gazetteer):
    with pytest.raises(Refused, match="country_unknown"):
        gazetteer.find("Amman", "Narnia")


@pytest.mark.parametrize(
    "city",
    ["Atlantis on Sea", "", " ", "---", "'", "\n", "Paris\nLondon", "\x00", "Q" * 9999],
)
def test_an_unknown_city_is_refused(gazetteer, city):
    with pytest.raises(Refused) as refusal:
        gazetteer.find(city)
    assert refusal.value.code == "city_unknown"
    assert refusal.value.problem.pointer == "city"
    assert "15,000" in refusal.value.problem.fix
    assert len(refusal.value.problem.detail) < 400


def test_a_city_of_another_country_is_refused_with_the_countries_that_have_it(
    gazetteer,
):
    with pytest.raises(Refused, match="no city of JO, only of GB, CA"):
        gazetteer.find("London", "Jordan")


def test_an_empty_country_restricts_nothing(gazetteer):
    assert gazetteer.find("Amman", " ") == gazetteer.find("Amman", "JO")


def test_every_city_is_found_by_its_own_name_in_its_country(gazetteer):
    for city in range(0, len(gazetteer.names), 97):
        place = gazetteer.find(gazetteer.names[city], gazetteer.country_codes[city])
        assert place.country == gazetteer.country_codes[city]


def test_the_columns_stay_compact(gazetteer):
    arrays = (
        gazetteer.geonames_ids,
        gazetteer.points,
        gazetteer.hashes,
        gazetteer.owners,
    )
    assert sum(array.nbytes for array in arrays) < 8_000_000
    assert (np.diff(gazetteer.hashes) >= 0).all()


@given(st.text(max_size=30))
def test_folding_twice_changes_nothing(text):
    once = fold(text)
    assert fold(once) == once
    bare = strip_diacritics(once)
    assert strip_diacritics(bare) == bare


def test_the_tables_are_those_that_their_readme_names():
    folder = Path(gazetteer_module.__file__).with_name("geonames")
    noted = re.findall(
        r"^\| `(\S+)` \|.*`([0-9a-f]+)` \|$",
        (folder / "README.md").read_text(),
        re.MULTILINE,
    )

    tables = sorted(folder.glob("*.gz"))
    assert noted == [
        (table.name, hashlib.sha256(gzip.decompress(table.read_bytes())).hexdigest())
        for table in tables
    ]
    assert max(table.stat().st_size for table in tables) < 4_000_000


def test_the_licence_of_the_tables_goes_with_them():
    folder = Path(gazetteer_module.__file__).with_name("geonames")
    notice = folder.parents[2] / "NOTICE"

    for text in ((folder / "README.md").read_text(), notice.read_text()):
        assert "https://www.geonames.org/" in text
        assert "https://creativecommons.org/licenses/by/4.0/" in text
