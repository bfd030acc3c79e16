import json
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.demo.town.house import House, HttpRequest, Reply
from registry.demo.town.member import CAST
from registry.errors import Refused
from registry.identity.keys.jwk import parse_jwks
from registry.identity.keys.key_source import KEY_SET_PATH
from registry.identity.keys.private_keys import public_key_of
from registry.identity.statements.document_signature import (
    Signed,
    verify_document_signature,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = public_key_of(KEY)


def settle(host: str) -> House:
    return House(next(site for site in CAST if site.host == host), KEY, NOW)


def ask(house: House, path: str, method: str = "GET", if_none_match: str = "") -> Reply:
    request = HttpRequest(
        method=method,
        host=house.member.host,
        path=path,
        if_none_match=if_none_match,
    )
    return house.answer(request, NOW)


def field(reply: Reply, name: str) -> str:
    return dict(reply.headers)[name]


def test_keys_are_absent_until_published() -> None:
    house = settle("otter-pipe.test")
    assert ask(house, KEY_SET_PATH).status == 404
    house.publish_keys([PUBLIC])
    reply = ask(house, KEY_SET_PATH)
    assert parse_jwks(reply.body) == (PUBLIC,)
    assert field(reply, "Content-Type").startswith("application/json")


def test_known_entity_tag_is_answered_without_a_body() -> None:
    house = settle("lark-barometer.test")
    first = ask(house, "/agent.json")
    again = ask(house, "/agent.json", if_none_match=f'"x", W/{field(first, "ETag")}')
    assert (first.status, again.status, again.body) == (200, 304, b"")
    assert field(again, "ETag") == field(first, "ETag")


def test_other_entity_tag_gets_the_document() -> None:
    house = settle("lark-barometer.test")
    assert ask(house, "/agent.json", if_none_match='"other"').status == 200


def test_changed_document_has_one_action_more_and_another_tag() -> None:
    house = settle("lark-barometer.test")
    before = ask(house, "/agent.json")
    house.change_document(NOW)
    after = ask(house, "/agent.json", if_none_match=field(before, "ETag"))
    assert after.status == 200
    counts = [len(json.loads(reply.body)["actions"]) for reply in (before, after)]
    assert counts[1] == counts[0] + 1


def test_changed_page_has_one_form_more() -> None:
    house = settle("kyoto-clay.test")
    before = ask(house, "/").body.count(b"<form ")
    house.change_document(NOW)
    assert ask(house, "/").body.count(b"<form ") == before + 1


def test_signed_document_verifies_also_after_a_change() -> None:
    house = settle("zaytoun-table.test")
    house.change_document(NOW)
    document = json.loads(ask(house, "/agent-bridge.json").body)
    verdict = verify_document_signature(
        document, host="zaytoun-table.test", pinned=[PUBLIC], now=NOW
    )
    assert isinstance(verdict, Signed)


def test_document_altered_after_signing_does_not_verify() -> None:
    house = settle("lucky-lantern.test")
    document = json.loads(ask(house, "/agent-bridge.json").body)
    with pytest.raises(Refused) as refused:
        verify_document_signature(
            document, host="lucky-lantern.test", pinned=[PUBLIC], now=NOW
        )
    assert refused.value.code == "document_signature_invalid"


def test_every_signed_member_serves_a_signature_and_no_other_does() -> None:
    for member in CAST:
        if member.format == "wab" and member.story != "broken":
            body = ask(settle(member.host), "/agent-bridge.json").body
            assert (b'"signature"' in body) == member.signed


def test_wab_sites_answer_a_ping() -> None:
    reply = ask(settle("maple-spoke.test"), "/api/wab/ping")
    pong = json.loads(reply.body)
    assert (pong["type"], pong["result"]["status"]) == ("success", "ok")
    assert field(reply, "Cache-Control") == "no-store"


def test_sites_of_other_formats_know_no_ping() -> None:
    assert ask(settle("otter-pipe.test"), "/api/wab/ping").status == 404


def test_robots_are_welcome_but_for_one_path_of_one_site() -> None:
    closed = {
        member.host: ask(settle(member.host), "/robots.txt").body.decode()
        for member in CAST
    }
    assert closed.pop("almond-door-clinic.test").endswith("Disallow: /patients/\n")
    assert set(closed.values()) == {"User-agent: *\nDisallow: \n"}


def test_request_for_another_host_is_misdirected() -> None:
    request = HttpRequest(method="GET", host="zaytoun-table.test", path="/")
    assert settle("khubz-street.test").answer(request, NOW).status == 421


def test_only_reading_is_allowed() -> None:
    reply = ask(settle("khubz-street.test"), "/", method="POST")
    assert (reply.status, field(reply, "Allow")) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    ("host", "path", "status"),
    [
        ("llama-loop.test", "/agent.json", 404),
        ("knot-and-pile.test", "/.well-known/ai-actions.json", 200),
        ("dust-and-spine.test", "/agent-bridge.json", 200),
    ],
)
def test_broken_sites_serve_no_readable_document(
    host: str, path: str, status: int
) -> None:
    reply = ask(settle(host), path)
    assert reply.status == status
    with pytest.raises(ValueError, match=r"Expect|Unterminated"):
        json.loads(reply.body)
