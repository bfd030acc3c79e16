from typing import Any

import pytest

from registry.formats.reading.claims import (
    read_address,
    read_languages,
    read_location,
    read_percent,
)
from registry.formats.reading.reader import DeviationLog, Reader
from registry.formats.wab.discovery import read_wab
from registry.sites.site import LocationClaim

PROVIDER = {"name": "Hof", "category": "farm", "url": "https://site.example/"}
WAB: dict[str, Any] = {
    "wab_version": "1.0",
    "provider": PROVIDER,
    "capabilities": {"commands": [], "permissions": {}},
    "transport": {"http": {"enabled": True, "base_url": "/api/wab"}},
}


def _reader(value: Any) -> Reader:
    return Reader(value, "", DeviationLog(url="https://site.example/a.json"))


@pytest.mark.parametrize(
    ("declared", "tags", "expected"),
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
    declared: Any, tags: tuple[str, ...], expected: bool
) -> None:
    reader = _reader({"language": declared})
    assert read_languages(reader, "language") == tags
    assert bool(reader.log.deviations) is expected


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
    ("declared", "url", "expected"),
    [
        ("https://hof.example", "https://hof.example", False),
        ("/", "https://site.example/", False),
        ("hof.example", "https://hof.example", True),
        ("javascript:x", "", True),
        (None, "", False),
    ],
)
def test_an_address_is_an_https_url_or_none(
    declared: Any, url: str, expected: bool
) -> None:
    reader = _reader({"url": declared})
    assert read_address(reader, "homepage", "url") == url
    assert bool(reader.log.deviations) is expected


@pytest.mark.parametrize("declared", [-1, True, "-1", 101, [], "a tenth"])
def test_what_is_no_percentage_is_reported_once(declared: Any) -> None:
    reader = _reader({"rate": declared})
    assert read_percent(reader, "rate") is None
    (deviation,) = reader.log.deviations
    assert (deviation.rule, deviation.fix) == ("percent", 'Write it as "12.5%".')


@pytest.mark.parametrize(
    ("changes", "pointer", "repair"),
    [
        (
            {"fairness_metrics": {"commission_rate": -1}},
            "/fairness_metrics/commission_rate",
            'Write it as "12.5%".',
        ),
        (
            {"fairness_metrics": {"commission_rate": True}},
            "/fairness_metrics/commission_rate",
            'Write it as "12.5%".',
        ),
        (
            {"provider": {**PROVIDER, "location": {"country": "Germany"}}},
            "/provider/location/country",
            "Use the two-letter code of ISO 3166-1, e.g. AT.",
        ),
        (
            {"provider": {**PROVIDER, "location": {"country": "at"}}},
            "/provider/location/country",
            'Write "AT".',
        ),
        (
            {"transport": None},
            "/transport",
            'Make it an object, e.g. {"http": {"enabled": true, ',
        ),
        ({"security": {"session_ttl": True}}, "/security/session_ttl", "Make it"),
        (
            {"capabilities": {"commands": ["buy"], "permissions": {}}},
            "/capabilities/commands/0",
            'Make it an object, e.g. {"name": "bookTable"',
        ),
    ],
)
def test_one_fault_has_one_repair(
    changes: dict[str, Any], pointer: str, repair: str
) -> None:
    log = DeviationLog(url="https://site.example/agent-bridge.json")
    read_wab(Reader({**WAB, **changes}, "", log))
    (deviation,) = log.deviations
    assert deviation.pointer == pointer
    assert deviation.fix.startswith(repair)


def test_what_is_missing_is_shown_by_an_example() -> None:
    log = DeviationLog(url="https://site.example/agent-bridge.json")
    read_wab(Reader({n: v for n, v in WAB.items() if n != "transport"}, "", log))
    (deviation,) = log.deviations
    assert deviation.fix.startswith('Add transport, e.g. {"http": ')
