import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.formats.detect import parse_document
from registry.formats.document import Document, Parsed
from registry.formats.repair import Incomplete, OwnerStatement, Repaired, repair

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
    assert [one.name for one in again.site.actions] == [
        one.name for one in document.site.actions
    ]


def test_what_nobody_has_said_is_asked_for(read: Read) -> None:
    document = read(
        {"awp_version": "0.2", "domain": HOST, "intent": "Eggs", "actions": []}
    )
    outcome = repair(document, OwnerStatement(), host=HOST)
    assert isinstance(outcome, Incomplete)
    assert [one.pointer for one in outcome.missing] == [
        "/provider/name",
        "/provider/category",
        "/transport",
    ]
    assert all(one.fix for one in outcome.missing)


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
