"""What a visit's bodies come to: which are believed, left out, or refuse the whole."""

import hashlib
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import Refused
from registry.identity.keys.private_keys import public_key_of
from registry.identity.statements.declarations import Declarations
from registry.identity.statements.document_signature import sign_document
from registry.identity.statements.registration import DocumentClaim
from registry.sites.site import LocationClaim
from tests.db.scene import NOON, body_of, new_host, understood, wab
from tests.unit.identity.envelopes import sign_envelope

HOST = new_host()
URL = f"https://{HOST.name}/agent-bridge.json"
KEY, STRANGER = (Ed25519PrivateKey.from_private_bytes(b * 32) for b in (b"k", b"s"))
PINNED = [public_key_of(KEY)]
TOOLS = b"""<!doctype html><html><body><form toolname="send_flowers"
 tooldescription="Send flowers."><input name="day" required></form></body></html>"""
NO_TOOLS = b"<!doctype html><html><body><h1>Welcome</h1></body></html>"


def code_of(*arguments: Any, **options: Any) -> str:
    with pytest.raises(Refused) as caught:
        understood(HOST, *arguments, **options)
    return caught.value.code


def claim(content: bytes) -> DocumentClaim:
    return DocumentClaim(url=URL, sha256=hashlib.sha256(content).hexdigest())


def test_declared_document_of_the_signed_hash_is_taken() -> None:
    content = json.dumps(wab()).encode()
    parsed = understood(HOST, body_of(HOST, content), claims=[claim(content)])
    assert [document.url for document in parsed.documents] == [URL]


def test_declared_document_of_another_hash_refuses_the_whole() -> None:
    other = body_of(HOST, wab(), path="/agent.json")
    served = body_of(HOST, json.dumps(wab()).encode() + b"\n")
    with pytest.raises(Refused) as caught:
        understood(HOST, other, served, claims=[claim(json.dumps(wab()).encode())])
    assert caught.value.code == "document_hash_mismatch"
    assert caught.value.problem.pointer == "/docs/0/sha256"


def changed_after_signing() -> dict[str, Any]:
    signed = sign_document(wab(), KEY, signed_at=NOON)
    return {**signed, "fairness_metrics": {"commission_rate": "0%"}}


def envelope(key: Ed25519PrivateKey = KEY, **changes: Any) -> dict[str, Any]:
    payload = {
        "version": "wab1",
        "type": "wab.trust",
        "host": HOST.name,
        "endpoint": URL,
        "issued_at": (NOON - timedelta(days=1)).isoformat(),
        "expires_at": (NOON + timedelta(days=1)).isoformat(),
        "capabilities": ["bookTable"],
        **changes,
    }
    return sign_envelope(payload, key)


def test_document_changed_after_its_signing_is_no_document() -> None:
    with pytest.raises(Refused) as caught:
        understood(HOST, body_of(HOST, changed_after_signing()), pinned=PINNED)
    assert caught.value.code == "document_signature_invalid"
    assert caught.value.problem.detail.startswith(f"{URL}: ")
    assert caught.value.problem.pointer == "/signature"


def test_document_changed_after_its_signing_leaves_the_others_standing() -> None:
    other = body_of(HOST, TOOLS, path="/", is_page=True)
    parsed = understood(
        HOST, body_of(HOST, changed_after_signing()), other, pinned=PINNED
    )
    assert [document.format for document in parsed.documents] == ["webmcp"]
    assert [problem.code for problem in parsed.problems] == [
        "document_signature_invalid"
    ]
    assert parsed.problems[0].detail.startswith(f"{URL}: ")
    assert parsed.site.commission_percent is None


def test_signature_that_fails_is_reported_before_what_could_not_be_read() -> None:
    broken = body_of(HOST, b'{"wab_version":', path="/agent.json")
    failing = body_of(HOST, changed_after_signing())
    assert code_of(broken, failing, pinned=PINNED) == "document_signature_invalid"


def test_envelope_is_valid_and_says_until_when() -> None:
    parsed = understood(HOST, body_of(HOST, envelope()), pinned=PINNED)
    (document,) = parsed.documents
    assert document.signature["status"] == "valid"
    assert document.signature["kind"] == "B"
    assert document.signature["expiresAt"] == "2026-11-21T12:00:00+00:00"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(
            envelope(expires_at=NOON.isoformat()),
            "document_signature_expired",
            id="expired",
        ),
        pytest.param(
            envelope(issued_at=(NOON + timedelta(hours=1)).isoformat()),
            "document_signature_from_future",
            id="from the future",
        ),
        pytest.param(
            envelope(host="another.test"), "document_signature_host", id="another host"
        ),
        pytest.param(
            {**changed_after_signing(), "signature": "ed25519:AAAA"},
            "document_signature_malformed",
            id="malformed",
        ),
    ],
)
def test_document_whose_signature_does_not_hold_is_left_out(
    content: dict[str, Any], code: str
) -> None:
    other = body_of(HOST, wab(), path="/.well-known/wab.json")
    parsed = understood(HOST, body_of(HOST, content), other, pinned=PINNED)
    assert [document.url for document in parsed.documents] == [other.url]
    assert [problem.code for problem in parsed.problems] == [code]
    assert code_of(body_of(HOST, content), pinned=PINNED) == code


def test_envelope_that_stood_and_has_run_out_is_left_out() -> None:
    """Its bytes are those of an earlier visit, the time is now."""
    bodies = [body_of(HOST, envelope()), body_of(HOST, TOOLS, path="/", is_page=True)]
    for days, formats in ((0, {"wab", "webmcp"}), (1, {"webmcp"}), (9, {"webmcp"})):
        at = NOON + timedelta(days=days)
        parsed = understood(HOST, *bodies, pinned=PINNED, at=at)
        assert {document.format for document in parsed.documents} == formats, days


def test_nothing_beside_the_payload_of_an_envelope_is_believed() -> None:
    """It is not signed, so it must not shine in the light of what is."""
    content = {**envelope(), **wab(), "actions": [{"name": "stealMoney"}]}
    parsed = understood(HOST, body_of(HOST, content), pinned=PINNED)
    assert parsed.documents[0].signature["status"] == "valid"
    assert [action.name for action in parsed.site.actions] == ["bookTable"]
    assert (parsed.site.name, parsed.site.category) == ("", "")


def test_endpoint_of_an_envelope_that_is_elsewhere_is_shown_to_be() -> None:
    content = envelope(endpoint="https://elsewhere.example.net/api")
    parsed = understood(HOST, body_of(HOST, content), pinned=PINNED)
    calls = [call for action in parsed.site.actions for call in action.calls]
    assert [call.off_origin for call in calls] == [True]
    assert [document.url for document in parsed.documents] == [URL]


def test_signature_on_a_page_is_text_like_any_other() -> None:
    page = TOOLS.replace(b"<body>", b'<body data-signature="ed25519:AAAA">')
    parsed = understood(
        HOST, body_of(HOST, page, path="/", is_page=True), pinned=PINNED
    )
    assert parsed.documents[0].signature == {"status": "unsigned"}


@pytest.mark.parametrize("signature", ["J. Doe", ["x"], {"alg": "RS256"}, 7, None])
def test_member_of_that_name_in_another_format_is_no_signature(signature: Any) -> None:
    content = {
        "awp_version": "0.2",
        "domain": HOST.name,
        "intent": "Sell bread.",
        "actions": [{"id": "order_bread", "description": "Order bread."}],
        "signature": signature,
    }
    parsed = understood(HOST, body_of(HOST, content, path="/agent.json"), pinned=PINNED)
    (document,) = parsed.documents
    assert (document.format, document.signature) == ("awp", {"status": "unsigned"})


def test_document_of_another_format_may_be_signed_as_wab_does() -> None:
    content = {
        "awp_version": "0.2",
        "domain": HOST.name,
        "intent": "Sell bread.",
        "actions": [{"id": "order_bread", "description": "Order bread."}],
    }
    signed = sign_document(content, KEY, signed_at=NOON)
    served = body_of(HOST, signed, path="/agent.json")
    parsed = understood(HOST, served, pinned=PINNED)
    assert parsed.documents[0].signature["status"] == "valid"
    changed = body_of(HOST, {**signed, "intent": "Sell gold."}, path="/agent.json")
    assert code_of(changed, pinned=PINNED) == "document_signature_invalid"


def test_signature_of_the_sites_own_key_is_shown_as_valid() -> None:
    signed = sign_document(wab(), KEY, signed_at=NOON)
    parsed = understood(HOST, body_of(HOST, signed), pinned=[public_key_of(KEY)])
    assert parsed.documents[0].signature["status"] == "valid"
    assert parsed.documents[0].signature["kind"] == "A"


def test_signature_of_an_unpinned_key_is_shown_and_not_trusted() -> None:
    """Anybody can sign anybody's document anew, with a key inside it."""
    signed = sign_document(wab(), STRANGER, signed_at=NOON)
    for content in (signed, envelope(STRANGER), envelope(STRANGER, host="x.test")):
        parsed = understood(HOST, body_of(HOST, content), pinned=PINNED)
        assert parsed.documents[0].signature["status"] == "unpinned"
        assert "keyId" not in parsed.documents[0].signature


def test_changed_document_of_an_unpinned_key_is_not_even_checked() -> None:
    changed = {**sign_document(wab(), STRANGER, signed_at=NOON), "wab_version": "1.1"}
    parsed = understood(HOST, body_of(HOST, changed), pinned=[public_key_of(KEY)])
    assert parsed.documents[0].signature["status"] == "unpinned"


def test_page_without_tools_beside_its_manifest_is_no_problem() -> None:
    page = body_of(HOST, NO_TOOLS, path="/", is_page=True)
    parsed = understood(HOST, page, body_of(HOST, wab()))
    assert [document.format for document in parsed.documents] == ["wab"]
    assert parsed.problems == ()


def test_page_without_tools_alone_is_no_document() -> None:
    page = body_of(HOST, NO_TOOLS, path="/", is_page=True)
    assert code_of(page) == "document_missing"


def test_page_with_tools_is_a_document_of_its_own() -> None:
    page = body_of(HOST, TOOLS, path="/", is_page=True)
    parsed = understood(HOST, page, body_of(HOST, wab()))
    assert {document.format for document in parsed.documents} == {"wab", "webmcp"}
    assert {action.name for action in parsed.site.actions} == {
        "bookTable",
        "send_flowers",
    }


def test_page_is_read_in_the_encoding_that_it_was_served_in() -> None:
    content = "<form toolname=a tooldescription='Цветы'></form>".encode("cp1251")
    page = body_of(HOST, content, path="/", is_page=True)
    served = replace(page, content_type="text/html; charset=windows-1251")
    (action,) = understood(HOST, served).site.actions
    assert action.description == "Цветы"


def test_unreadable_document_is_left_out_and_reported() -> None:
    broken = body_of(HOST, b'{"wab_version":', path="/agent.json")
    parsed = understood(HOST, broken, body_of(HOST, wab()))
    assert len(parsed.documents) == 1
    (problem,) = parsed.problems
    assert problem.detail.startswith(f"https://{HOST.name}/agent.json: ")


def test_without_one_readable_document_all_reasons_are_reported() -> None:
    bodies = [
        body_of(HOST, b'{"wab_version":', path="/one.json"),
        body_of(HOST, b'{"a": 1, "a": 2}', path="/two.json"),
    ]
    with pytest.raises(Refused) as caught:
        understood(HOST, *bodies)
    assert caught.value.code == "document_missing"
    for path in ("/one.json", "/two.json"):
        assert f"https://{HOST.name}{path}: " in caught.value.problem.detail


def test_registration_fills_only_what_the_documents_leave_open() -> None:
    metrics = {"commission_rate": "3%"}
    declared = Declarations(
        category="bakery",
        location=LocationClaim(city="Lyon", country="FR"),
        commission_percent=9.0,
        is_independent=False,
    )
    served = body_of(HOST, wab(fairness_metrics=metrics))
    site = understood(HOST, served, declarations=declared).site
    assert (site.category, site.commission_percent) == ("restaurant", 3.0)
    assert (site.location, site.is_independent) == (declared.location, False)
