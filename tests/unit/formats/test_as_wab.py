import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from registry.formats.detect import parse_document
from registry.formats.document import Document, Parsed
from registry.formats.extension import EXTENSION
from registry.formats.wab.wab_schema import APPENDIX_A
from registry.formats.writing.as_wab import as_wab
from registry.sites.action import Action, Call, Parameter
from registry.sites.site import LocationClaim, Site
from tests.unit.formats.strategies import CLAIMS, SITE_URL, SITES

HOST = "shop.example"
APPENDIX = Draft202012Validator(APPENDIX_A)


def _parse(written: Any) -> Document:
    body = json.dumps(written, ensure_ascii=False).encode()
    result = parse_document(body, url=f"{SITE_URL}agent-bridge.json")
    assert isinstance(result, Parsed), result
    return result.document


@given(SITES, st.fixed_dictionaries(CLAIMS))
def test_parsing_what_was_written_gives_the_same_site(
    site: Site, claims: dict[str, Any]
) -> None:
    site = replace(site, **claims)
    assert _parse(as_wab(site, host=HOST)).site == site


@given(SITES)
def test_what_is_written_is_strictly_wab(site: Site) -> None:
    written = as_wab(site, host=HOST)
    assert list(APPENDIX.iter_errors(written)) == []
    document = _parse(written)
    assert (document.conformance, document.deviations) == ("strict", ())


BRIDGE = (
    Call(format="wab", transport="http", method="api", target=f"{SITE_URL}wab/execute"),
)
PLAIN = Site(
    name="Acme Restaurant",
    category="restaurant",
    url=SITE_URL,
    location=LocationClaim(city="Amman", country="JO"),
    permissions=(("click", True),),
    commission_percent=12.5,
    is_independent=True,
    actions=(
        Action(
            name="searchMenu",
            description="Search menu items by keyword",
            parameters=(Parameter(name="query", type="string", required=True),),
            auth_required=False,
            calls=BRIDGE,
        ),
    ),
)


def test_a_site_that_says_all_that_wab_asks_needs_no_extension() -> None:
    assert EXTENSION not in json.dumps(as_wab(PLAIN, host=HOST))


def test_the_bridge_stands_where_the_site_has_it() -> None:
    written: Any = as_wab(PLAIN, host=HOST)
    assert written["transport"] == {
        "http": {"enabled": True, "base_url": f"{SITE_URL}wab"}
    }
    assert written["fairness_metrics"]["commission_rate"] == "12.5%"


def test_what_a_site_leaves_open_is_named_as_undeclared() -> None:
    written: Any = as_wab(Site(actions=(Action(name="a b"),)), host=HOST)
    assert written["provider"] == {
        "name": HOST,
        "category": "uncategorised",
        "url": SITE_URL,
    }
    assert set(written[EXTENSION]["undeclared"]) == {
        "name",
        "category",
        "url",
        "transport",
    }
    (command,) = written["capabilities"]["commands"]
    assert command["name"] == "a_b"
    assert command[EXTENSION] == {
        "undeclared": ["description", "trigger"],
        "name": "a b",
    }


@pytest.mark.parametrize(
    ("names", "written"),
    [
        pytest.param(["a b", "a_b"], ["a_b_2", "a_b"], id="a-taken-name-is-kept"),
        pytest.param(["a b", "a.b", "a/b"], ["a_b", "a_b_2", "a_b_3"], id="alike"),
        pytest.param(["42", "-x"], ["action_42", "action_-x"], id="no-letter-first"),
        pytest.param(["قائمة", "菜单"], ["action", "action_2"], id="other-scripts"),
    ],
)
def test_command_names_are_spelled_as_wab_allows(
    names: list[str], written: list[str]
) -> None:
    site = Site(actions=tuple(Action(name=name) for name in names))
    document: Any = as_wab(site, host=HOST)
    commands = document["capabilities"]["commands"]
    assert [command["name"] for command in commands] == written
    assert [action.name for action in _parse(document).site.actions] == names


def test_a_script_interface_is_the_transport_of_a_site_without_a_bridge() -> None:
    call = Call(format="abp", transport="window.abp", operation="convert")
    written: Any = as_wab(Site(actions=(Action(name="a", calls=(call,)),)), host=HOST)
    assert written["transport"] == {
        "js_global": {"enabled": True, "interface": "window.abp"}
    }


@pytest.mark.parametrize(
    "call",
    [
        {"format": "awp", "transport": "http", "url": "javascript:alert(1)"},
        {"format": "awp", "transport": "http", "url": "http://10.0.0.1/"},
        {"format": "gopher", "transport": "http", "url": "/x"},
        {"format": "awp", "url": "/x"},
        "x",
        None,
    ],
)
def test_the_extension_calls_nothing_that_a_document_may_not(call: Any) -> None:
    written: Any = as_wab(PLAIN, host=HOST)
    written["capabilities"]["commands"][0][EXTENSION] = {"calls": [call]}
    (action,) = _parse(written).site.actions
    assert all(not call.target for call in action.calls)
