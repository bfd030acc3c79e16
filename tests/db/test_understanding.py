"""What a visit's bodies come to: which are believed, left out, or refuse the whole."""

import hashlib
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import Refused
from registry.identity.declarations import Declarations
from registry.identity.document_signature import sign_document
from registry.identity.private_keys import public_key_of
from registry.identity.registration import DocumentClaim
from registry.sites.site import LocationClaim
from tests.db.scene import NOON, body_of, new_host, understood, wab

HOST = new_host()
URL = f"https://{HOST.name}/agent-bridge.json"
KEY, STRANGER = (Ed25519PrivateKey.from_private_bytes(b * 32) for b in (b"k", b"s"))
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
    found = understood(HOST, body_of(HOST, content), claims=[claim(content)])
    assert [one.url for one in found.documents] == [URL]


def test_declared_document_of_another_hash_refuses_the_whole() -> None:
    other = body_of(HOST, wab(), path="/agent.json")
    served = body_of(HOST, json.dumps(wab()).encode() + b"\n")
    with pytest.raises(Refused) as caught:
        understood(HOST, other, served, claims=[claim(json.dumps(wab()).encode())])
    assert caught.value.code == "document_hash_mismatch"
    assert caught.value.problem.pointer == "/docs/0/sha256"


def test_document_changed_after_its_signing_refuses_the_whole() -> None:
    signed = sign_document(wab(), KEY, signed_at=NOON)
    changed = {**signed, "fairness_metrics": {"commission_rate": "0%"}}
    pinned = [public_key_of(KEY)]
    assert code_of(body_of(HOST, changed), pinned=pinned) == (
        "document_signature_invalid"
    )


def test_signature_of_the_sites_own_key_is_shown_as_valid() -> None:
    signed = sign_document(wab(), KEY, signed_at=NOON)
    found = understood(HOST, body_of(HOST, signed), pinned=[public_key_of(KEY)])
    assert found.documents[0].signature["status"] == "valid"
    assert found.documents[0].signature["kind"] == "A"


def test_signature_of_an_unpinned_key_is_shown_and_not_trusted() -> None:
    """Anybody can sign anybody's document anew, with a key inside it."""
    signed = sign_document(wab(), STRANGER, signed_at=NOON)
    found = understood(HOST, body_of(HOST, signed), pinned=[public_key_of(KEY)])
    assert found.documents[0].signature["status"] == "unpinned"


def test_changed_document_of_an_unpinned_key_is_not_even_checked() -> None:
    changed = {**sign_document(wab(), STRANGER, signed_at=NOON), "wab_version": "1.1"}
    found = understood(HOST, body_of(HOST, changed), pinned=[public_key_of(KEY)])
    assert found.documents[0].signature["status"] == "unpinned"


def test_page_without_tools_beside_its_manifest_is_no_problem() -> None:
    page = body_of(HOST, NO_TOOLS, path="/", is_page=True)
    found = understood(HOST, page, body_of(HOST, wab()))
    assert [one.format for one in found.documents] == ["wab"]
    assert found.problems == ()


def test_page_without_tools_alone_is_no_document() -> None:
    page = body_of(HOST, NO_TOOLS, path="/", is_page=True)
    assert code_of(page) == "document_missing"


def test_page_with_tools_is_a_document_of_its_own() -> None:
    page = body_of(HOST, TOOLS, path="/", is_page=True)
    found = understood(HOST, page, body_of(HOST, wab()))
    assert {one.format for one in found.documents} == {"wab", "webmcp"}
    assert {action.name for action in found.site.actions} == {
        "bookTable",
        "send_flowers",
    }


def test_unreadable_document_is_left_out_and_told() -> None:
    broken = body_of(HOST, b'{"wab_version":', path="/agent.json")
    found = understood(HOST, broken, body_of(HOST, wab()))
    assert len(found.documents) == 1
    (problem,) = found.problems
    assert problem.detail.startswith(f"https://{HOST.name}/agent.json: ")


def test_without_one_readable_document_all_reasons_are_told() -> None:
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
