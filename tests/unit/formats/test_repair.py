import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.formats.detect import parse_document
from registry.formats.document import Document, Parsed
from registry.formats.repair import Incomplete, OwnerStatement, Repaired, repair
from registry.sites.site import Site
from tests.unit.formats.strategies import SITES

HOST = "site.example"
STATED = OwnerStatement(name="Hof", category="farm", bridge="/api/wab")
WAB_SAMPLES = (
    "wab-edge-3.2",
    "wab-manifest-1.3",
    "wab-php-bridge",
    "wab-server-1.3",
    "wab-setup-script",
    "wab-site-1.2",
    "wab-spec-1.0",
    "wab-wordpress",
)

Read = Callable[..., Document]
Sample = Callable[[str], dict[str, Any]]


def _reread(repaired: Any) -> Document:
    assert isinstance(repaired, Repaired), repaired
    body = json.dumps(repaired.document).encode()
    result = parse_document(body, url=f"https://{HOST}/agent-bridge.json")
    assert isinstance(result, Parsed)
    return result.document


@pytest.mark.parametrize("name", [*WAB_SAMPLES, "awp-native", "abp-manifest"])
def test_a_repaired_document_is_strict_and_says_the_same(
    name: str, sample: Sample, read: Read
) -> None:
    document = read(sample(name))
    again = _reread(repair(document, STATED, host=HOST))
    assert (again.format, again.conformance) == ("wab", "strict")
    assert [action.name for action in again.site.actions] == [
        action.name for action in document.site.actions
    ]


def test_what_nobody_has_said_is_asked_for(read: Read) -> None:
    document = read(
        {"awp_version": "0.2", "domain": HOST, "intent": "Eggs", "actions": []}
    )
    outcome = repair(document, OwnerStatement(), host=HOST)
    assert isinstance(outcome, Incomplete)
    assert [item.pointer for item in outcome.missing] == [
        "/provider/name",
        "/provider/category",
        "/capabilities/commands",
        "/transport",
    ]
    assert all(item.fix for item in outcome.missing)


def test_the_owner_s_statement_outweighs_the_document(
    sample: Sample, read: Read
) -> None:
    stated = OwnerStatement(name="Neu", category="farm", city="Graz", country="at")
    again = _reread(repair(read(sample("wab-spec-1.0")), stated, host=HOST))
    assert (again.site.name, again.site.category) == ("Neu", "farm")
    location = again.site.location
    assert location is not None
    assert (location.city, location.country) == ("Graz", "AT")


def test_members_the_registry_has_no_use_for_are_kept_if_they_conform(
    sample: Sample, read: Read
) -> None:
    raw = sample("wab-spec-1.0")
    raw["agent_access"] = {"selectors": {"menu": "#menu"}}
    raw["security"] = {"session_ttl": 1}
    raw["fairness_metrics"] = {"direct_benefit": "All of it", "commission_rate": 3}
    repaired = repair(read(raw), OwnerStatement(), host=HOST)
    assert isinstance(repaired, Repaired)
    assert repaired.document["agent_access"] == {"selectors": {"menu": "#menu"}}
    assert repaired.document["fairness_metrics"] == {
        "direct_benefit": "All of it",
        "commission_rate": "3%",
    }
    assert "security" in repaired.left_out


def test_what_stands_in_for_a_missing_member_is_named(read: Read) -> None:
    document = read(
        {
            "wab_version": "1.0",
            "provider": {"name": "Hof", "category": "farm"},
            "capabilities": {"commands": [{"name": "buy", "params": [{"name": "x"}]}]},
            "transport": {"js_global": {"enabled": True}},
        }
    )
    repaired = repair(document, OwnerStatement(), host=HOST)
    assert isinstance(repaired, Repaired)
    assert set(repaired.left_open) == {
        "/url",
        "/capabilities/commands/0/description",
        "/capabilities/commands/0/trigger",
        "/capabilities/commands/0/params/0/type",
        "/capabilities/commands/0/params/0/required",
    }


@pytest.mark.parametrize("bridge", ["javascript:x", "http://10.0.0.1/", "//\\x", ""])
def test_a_bridge_that_agents_must_not_follow_is_none(bridge: str, read: Read) -> None:
    document = read(
        {
            "awp_version": "0.2",
            "domain": HOST,
            "intent": "Eggs",
            "actions": [{"id": "a"}],
        }
    )
    stated = OwnerStatement(name="Hof", category="farm", bridge=bridge)
    assert isinstance(repair(document, stated, host=HOST), Incomplete)


ONE_ACTION = {
    "wab_version": "1.2.0",
    "site": {"name": "X", "category": "shop"},
    "actions": [{"name": "buy", "description": "Buy it", "trigger": "api"}],
}


@pytest.mark.parametrize(
    ("stated", "pointer", "repair_text"),
    [
        ({"country": "Germany"}, "/provider/location/country", "e.g. AT"),
        ({"country": "\u00df"}, "/provider/location/country", "e.g. AT"),
        ({"bridge": "http://shop.example/"}, "/transport/http/base_url", "https URL"),
        ({"bridge": "http://127.0.0.1/"}, "/transport/http/base_url", "the public"),
        ({"bridge": ""}, "/transport", "--bridge"),
        ({"name": "x" * 5_000}, "/provider/name", "Shorten"),
    ],
)
def test_what_the_owner_states_is_judged_like_a_document(
    stated: dict[str, str], pointer: str, repair_text: str, read: Read
) -> None:
    statement = OwnerStatement(**{"bridge": "/api/wab", **stated})
    outcome = repair(read(ONE_ACTION), statement, host=HOST)
    assert isinstance(outcome, Incomplete)
    (deviation,) = outcome.missing
    assert deviation.pointer == pointer
    assert repair_text in deviation.fix


def test_a_country_in_small_letters_is_a_country(read: Read) -> None:
    stated = OwnerStatement(country="de", bridge="/api/wab")
    location = _reread(repair(read(ONE_ACTION), stated, host=HOST)).site.location
    assert location is not None
    assert location.country == "DE"


def test_where_the_document_will_be_is_asked_for_and_not_made_up(read: Read) -> None:
    outcome = repair(read(ONE_ACTION), OwnerStatement(bridge="/api/wab"), host="")
    assert isinstance(outcome, Incomplete)
    (deviation,) = outcome.missing
    assert deviation.pointer == "/provider/url"
    assert "--url" in deviation.fix


def test_a_document_without_actions_is_asked_for_those(read: Read) -> None:
    document = read({"wab_version": "mu-1.0", "site": {"name": "X", "category": "c"}})
    outcome = repair(document, OwnerStatement(bridge="/api/wab"), host=HOST)
    assert isinstance(outcome, Incomplete)
    assert [item.pointer for item in outcome.missing] == ["/capabilities/commands"]


def test_development_may_name_a_bridge_on_loopback(read: Read) -> None:
    stated = OwnerStatement(bridge="http://127.0.0.1:8080/api/wab")
    outcome = repair(read(ONE_ACTION), stated, host=HOST, allow_loopback=True)
    assert isinstance(outcome, Repaired)


def test_an_address_that_agents_must_not_follow_is_not_copied(read: Read) -> None:
    raw = {**ONE_ACTION, "agent_access": {"api_fallback": "https://10.0.0.1/"}}
    stated = OwnerStatement(bridge="/api/wab")
    outcome = repair(read(raw), stated, host=HOST)
    assert isinstance(outcome, Repaired)
    assert "agent_access" in outcome.left_out


@given(site=SITES, texts=st.tuples(*[st.text(max_size=8)] * 5), has_host=st.booleans())
def test_what_is_written_conforms_whatever_is_stated(
    site: Site, texts: tuple[str, ...], has_host: bool
) -> None:
    name, category, city, country, bridge = texts
    stated = OwnerStatement(
        name=name, category=category, city=city, country=country, bridge=bridge
    )
    document = Document(
        format="awp",
        dialect="native",
        version="",
        url=f"https://{HOST}/",
        conformance="tolerated",
        site=site,
    )
    outcome = repair(document, stated, host=HOST if has_host else "")
    if isinstance(outcome, Repaired):
        assert _reread(outcome).conformance == "strict"
    else:
        assert all(item.pointer and item.fix for item in outcome.missing)
