from typing import Any

import pytest

from registry.formats.reading.claims import read_address, read_languages, read_location
from registry.formats.reading.reader import DeviationLog, Reader
from registry.sites.site import LocationClaim


def _reader(value: Any) -> Reader:
    return Reader(value, "", DeviationLog(url="https://site.example/a.json"))


@pytest.mark.parametrize(
    ("declared", "tags", "told"),
    [
        ("de-AT", ("de-AT",), False),
        ("zh-Hant-TW", ("zh-Hant-TW",), False),
        (["ru", "en", "ru"], ("ru", "en"), False),
        ("de_DE", ("de-DE",), True),
        ("de_DE.UTF-8@euro", ("de-DE",), True),
        ("German (Austria)", (), True),
        (7, (), True),
        (None, (), False),
    ],
)
def test_languages_become_bcp_47(
    declared: Any, tags: tuple[str, ...], told: bool
) -> None:
    reader = _reader({"language": declared})
    assert read_languages(reader, "language") == tags
    assert bool(reader.log.deviations) is told


@pytest.mark.parametrize(
    ("declared", "location"),
    [
        ({"city": "Graz", "country": "AT"}, LocationClaim(city="Graz", country="AT")),
        ({"country": "at"}, LocationClaim(country="AT")),
        ({"city": "Graz", "country": "Austria"}, LocationClaim(city="Graz")),
        ({"country": "\u00df"}, None),
        ({}, None),
        ("Graz", None),
    ],
)
def test_a_country_is_a_code_or_unknown(
    declared: Any, location: LocationClaim | None
) -> None:
    assert read_location(_reader(declared)) == location


@pytest.mark.parametrize(
    ("declared", "url", "told"),
    [
        ("https://hof.example", "https://hof.example", False),
        ("/", "https://site.example/", False),
        ("hof.example", "https://hof.example", True),
        ("javascript:x", "", True),
        (None, "", False),
    ],
)
def test_an_address_is_an_https_url_or_none(
    declared: Any, url: str, told: bool
) -> None:
    reader = _reader({"url": declared})
    assert read_address(reader, "homepage", "url") == url
    assert bool(reader.log.deviations) is told
