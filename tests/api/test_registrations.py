import base64
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from registry.identity.statements.jws import sign_compact
from tests.api import expect
from tests.api.expect import Json
from tests.api.running import DISHONEST, UNLISTED, RunningRegistry
from tests.waiting import awaited

VIEW = "id host act status problems statusUrl submittedAt decidedAt"
STEPS = {"method", "where", "put", "how"}
LISTED_HOST = "zaytoun-table.test"
FREE_HOST = "maple-spoke.test"  # never registered here


def encode(value: bytes | str) -> str:
    raw = value.encode() if isinstance(value, str) else value
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def decode(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


@pytest.fixture
def token(registry: RunningRegistry) -> str:
    """A good statement of a site that is not listed, never submitted."""
    return registry.sign(registry.town.site(FREE_HOST))


def test_a_challenge_has_exactly_the_documented_members(http: httpx.Client) -> None:
    answer = http.post("/v1/challenges", json={"host": "Shop.Müller.de"})
    assert answer.status_code == 201
    body = answer.json()
    expect.members(body, "host nonce expiresAt payload nextSteps")
    assert body["host"] == "shop.xn--mller-kva.de"
    assert len(decode(body["nonce"])) >= 16
    lifetime = expect.instant(body["expiresAt"]) - datetime.now(UTC)
    assert 3500 < lifetime.total_seconds() <= 3600
    payload = body["payload"]
    assert payload["aud"] == str(http.base_url).rstrip("/")
    assert payload["sub"] == body["host"]
    assert payload["jti"] == body["nonce"]
    assert (payload["act"], payload["seq"]) == ("register", 1)
    assert payload["exp"] - payload["iat"] <= 600
    assert {step["method"] for step in body["nextSteps"]} == {"jwks", "dns"}
    assert all(step.keys() == STEPS for step in body["nextSteps"])


def test_a_site_registers_and_is_found(registry: RunningRegistry) -> None:
    site = registry.town.site(UNLISTED[0])
    registry.town.publish_keys(site.host)
    answer = registry.submit(registry.sign(site))
    assert answer.status_code == 202
    submitted = answer.json()
    expect.members(submitted, VIEW)
    assert (submitted["host"], submitted["act"]) == (site.host, "register")
    assert (submitted["status"], submitted["problems"]) == ("verifying", [])
    assert submitted["decidedAt"] is None
    assert answer.headers["Location"] == submitted["statusUrl"]
    assert submitted["statusUrl"] == f"/v1/registrations/{submitted['id']}"
    decided = registry.decided(submitted["id"])
    expect.members(decided, VIEW)
    assert (decided["status"], decided["problems"]) == ("active", [])
    expect.instant(decided["decidedAt"])
    assert registry.http.get(f"/v1/sites/{site.host}").json()["host"] == site.host
    awaited("the site", lambda: registry.search("book a hotel room")["results"])


def events_of(registry: RunningRegistry, registration_id: str) -> list[Json]:
    path = f"/v1/registrations/{registration_id}/events"
    with registry.http.stream("GET", path) as answer:
        assert answer.status_code == 200
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        lines = list(answer.iter_lines())
    assert {line for line in lines if line.startswith("event:")} == {"event: status"}
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data:")]
    return [json.loads(line) for line in data]


def test_a_withdrawn_site_is_gone_and_events_tell_it(
    registry: RunningRegistry,
) -> None:
    site = registry.town.site(UNLISTED[1])
    registry.town.publish_keys(site.host)
    first = registry.submit(registry.sign(site)).json()
    events = events_of(registry, first["id"])
    assert [entry["status"] for entry in events] in (
        ["verifying", "active"],
        ["active"],
    )
    leaving = registry.sign(
        site, act="withdraw", docs=None, **dict.fromkeys(site.declarations)
    )
    answer = registry.submit(leaving)
    assert answer.status_code == 202, answer.text
    outcomes = events_of(registry, answer.json()["id"])
    assert outcomes[-1]["status"] == "withdrawn"
    expect.problem(registry.http.get(f"/v1/sites/{site.host}"), 410, "site_withdrawn")
    hosts = [
        result["host"] for result in registry.http.get("/v1/sites").json()["results"]
    ]
    assert site.host not in hosts


def test_the_events_of_a_decided_registration_end_at_once(
    registry: RunningRegistry,
) -> None:
    site = registry.town.site(DISHONEST[0])
    registry.town.publish_keys(site.host)
    submitted = registry.submit(registry.sign(site)).json()
    registry.decided(submitted["id"])
    [event] = events_of(registry, submitted["id"])
    assert event["status"] == "rejected"


@pytest.mark.parametrize("host", DISHONEST)
def test_a_dishonest_site_is_told_why(registry: RunningRegistry, host: str) -> None:
    site = registry.town.site(host)
    registry.town.publish_keys(host)
    submitted = registry.submit(registry.sign(site)).json()
    decided = registry.decided(submitted["id"])
    assert decided["status"] == "rejected"
    for problem in decided["problems"]:
        expect.members(problem, "code title detail pointer fix")
        assert problem["fix"]
        page = registry.http.get(f"/problems/{problem['code']}")
        assert page.status_code == 200
    expect.problem(registry.http.get(f"/v1/sites/{host}"), 404, "site_unknown")


def changed_header(**members: Any) -> Callable[[str], str]:
    def change(token: str) -> str:
        header, payload, signature = token.split(".")
        changed = json.loads(decode(header)) | members
        return f"{encode(json.dumps(changed))}.{payload}.{signature}"

    return change


def in_part(number: int, change: Callable[[str], str]) -> Callable[[str], str]:
    def changed(token: str) -> str:
        parts = token.split(".")
        parts[number] = change(parts[number])
        return ".".join(parts)

    return changed


def with_trailing_bits(part: str) -> str:
    """The same bytes in another spelling."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return part[:-1] + alphabet[alphabet.index(part[-1]) + 1]


def twice(name: str) -> Callable[[str], str]:
    def change(part: str) -> str:
        text = decode(part).decode()
        return encode(f'{{"{name}":"x",' + text[1:])

    return change


def deep(_: str) -> str:
    return encode("[" * 3000 + "]" * 3000)


FORGED: list[tuple[str, Callable[[str], str], str, str | None]] = [
    ("alg none", changed_header(alg="none"), "alg_unsupported", "/protected/alg"),
    ("alg HS256", changed_header(alg="HS256"), "alg_unsupported", "/protected/alg"),
    ("alg a list", changed_header(alg=["EdDSA"]), "alg_unsupported", "/protected/alg"),
    ("jwk within", changed_header(jwk={"kty": "OKP"}), "header_members", "/protected"),
    ("jku", changed_header(jku="https://evil.example"), "header_members", "/protected"),
    ("crit b64", changed_header(crit=["b64"], b64=False), "header_members", "/protected"),
    ("x5u", changed_header(x5u="https://evil.example"), "header_members", "/protected"),
    ("typ of another", changed_header(typ="JWT"), "typ_wrong", "/protected/typ"),
    ("kid no thumbprint", changed_header(kid="../key"), "kid_malformed", "/protected/kid"),
    ("header key twice", in_part(0, twice("alg")), "json_duplicate_key", None),
    ("payload key twice", in_part(1, twice("sub")), "json_duplicate_key", None),
    ("trailing bits", in_part(2, with_trailing_bits), "token_malformed", None),
    ("padding", in_part(2, lambda part: part + "=="), "token_malformed", None),
    ("not base64url", in_part(1, lambda part: part + "+/"), "token_malformed", None),
    ("four parts", lambda token: token + ".x", "token_malformed", None),
    ("two parts", lambda token: token.rpartition(".")[0], "token_malformed", None),
    ("payload no object", in_part(1, lambda _: encode("[]")), "json_syntax", None),
    ("payload no JSON", in_part(1, lambda _: encode("{")), "json_syntax", None),
    ("header nested deep", in_part(0, deep), "json_too_deep", "/0" * 8),
    ("payload nested deep", in_part(1, deep), "json_too_deep", "/0" * 8),
    ("empty", lambda _: "", "token_malformed", None),
    ("NUL", lambda token: token[:9] + "\0" + token[9:], "token_malformed", None),
    ("not ASCII", lambda token: token + "é", "token_malformed", None),
    ("too large", lambda token: token + "A" * 20_000, "token_too_large", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("forge", "code", "pointer"),
    [row[1:] for row in FORGED],
    ids=[row[0] for row in FORGED],
)
def test_a_forged_token_is_refused_at_once(
    registry: RunningRegistry,
    token: str,
    forge: Callable[[str], str],
    code: str,
    pointer: str | None,
) -> None:
    refused = registry.submit(forge(token).encode())
    assert expect.problem(refused, 400, code).get("pointer") == pointer


NOW = int(time.time())
MISSTATED: list[tuple[str, Json, int, str, str]] = [
    ("wrong aud", {"aud": "https://other.example"}, 400, "aud_wrong", "/aud"),
    ("aud a list", {"aud": ["x"]}, 400, "payload_member_invalid", "/aud"),
    ("no aud", {"aud": None}, 400, "payload_member_missing", "/aud"),
    ("expired", {"iat": NOW - 700, "exp": NOW - 100}, 400, "statement_expired", "/exp"),
    ("from the future", {"iat": NOW + 3000, "exp": NOW + 3500}, 400, "statement_from_future", "/iat"),
    ("lives too long", {"iat": NOW, "exp": NOW + 3600}, 400, "lifetime_invalid", "/exp"),
    ("ends before it begins", {"iat": NOW, "exp": NOW - 1}, 400, "lifetime_invalid", "/exp"),
    ("iat a text", {"iat": "now"}, 400, "payload_member_invalid", "/iat"),
    ("exp beyond time", {"exp": 10**15}, 400, "payload_member_invalid", "/exp"),
    ("nonce invented", {"jti": encode(b"n" * 32)}, 400, "nonce_unknown", "/jti"),
    ("nonce malformed", {"jti": "1"}, 400, "payload_member_invalid", "/jti"),
    ("seq negative", {"seq": -1}, 400, "payload_member_invalid", "/seq"),
    ("seq a text", {"seq": "2"}, 400, "payload_member_invalid", "/seq"),
    ("act unknown", {"act": "destroy"}, 400, "act_unknown", "/act"),
    ("act misplaced", {"next_kid": "A" * 43}, 400, "act_member_misplaced", "/next_kid"),
    ("nothing to update", {"act": "update"}, 409, "site_not_registered", "/act"),
    ("public suffix", {"sub": "co.uk"}, 400, "public_suffix", "/sub"),
    ("address", {"sub": "127.0.0.1"}, 400, "ip_literal", "/sub"),
    ("other spelling", {"sub": FREE_HOST.upper()}, 400, "sub_spelling", "/sub"),
    ("other host", {"sub": LISTED_HOST}, 400, "nonce_of_another_host", "/jti"),
    ("document elsewhere", {"docs": [{"url": "http://x.test/a"}]}, 400, "payload_member_invalid", "/docs/0/url"),
    ("document no URL", {"docs": [{"url": "https://[/"}]}, 400, "payload_member_invalid", "/docs/0/url"),
    ("hash no hash", {"docs": [{"url": f"https://{FREE_HOST}/a", "sha256": "00"}]}, 400, "payload_member_invalid", "/docs/0/sha256"),
    ("too many documents", {"docs": [{"url": f"https://{FREE_HOST}/{n}"} for n in range(9)]}, 400, "payload_member_invalid", "/docs"),
    ("docs a text", {"docs": "x"}, 400, "payload_member_invalid", "/docs"),
    ("commission over 100", {"commission_rate": 101}, 400, "payload_member_invalid", "/commission_rate"),
    ("size unknown", {"size": "vast"}, 400, "payload_member_invalid", "/size"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "status", "code", "pointer"),
    [row[1:] for row in MISSTATED],
    ids=[row[0] for row in MISSTATED],
)
def test_a_false_statement_is_refused_at_once(
    registry: RunningRegistry, changes: Json, status: int, code: str, pointer: str
) -> None:
    refused = registry.submit(registry.sign(registry.town.site(FREE_HOST), **changes))
    assert expect.problem(refused, status, code).get("pointer") == pointer


def test_a_replay_is_refused(registry: RunningRegistry) -> None:
    site = registry.town.site(LISTED_HOST)
    token = registry.sign(site, act="update")
    assert registry.decided(registry.submit(token).json()["id"])["status"] == "active"
    expect.problem(registry.submit(token), 409, "nonce_used")


def test_a_lower_seq_is_refused(registry: RunningRegistry) -> None:
    site = registry.town.site(LISTED_HOST)
    refused = registry.submit(registry.sign(site, act="update", seq=0))
    assert expect.problem(refused, 409, "seq_not_increasing")["pointer"] == "/seq"


def test_another_sites_key_does_not_sign_for_a_host(
    registry: RunningRegistry,
) -> None:
    owner = registry.town.site(LISTED_HOST)
    other = registry.town.site("radhaus-kreuz.test")
    good = registry.sign(owner, act="update")
    payload = json.loads(decode(good.split(".")[1]))
    submitted = registry.submit(sign_compact(payload, other.private_key))
    decided = registry.decided(submitted.json()["id"])
    assert decided["status"] == "rejected"
    assert decided["problems"][0]["code"] == "key_not_published"


def test_an_edited_payload_is_rejected_and_burns_no_nonce(
    registry: RunningRegistry,
) -> None:
    site = registry.town.site(LISTED_HOST)
    good = registry.sign(site, act="update")
    header, payload, signature = good.split(".")
    edited = json.loads(decode(payload)) | {"category": "bank"}
    forged = f"{header}.{encode(json.dumps(edited))}.{signature}"
    decided = registry.decided(registry.submit(forged).json()["id"])
    assert decided["problems"][0]["code"] == "signature_invalid"
    decided = registry.decided(registry.submit(good).json()["id"])
    assert decided["status"] == "active"


@pytest.mark.parametrize(
    "media_type",
    ["", "application/json", "text/plain", "application/jwt", ";", "application/jose2"],
)
def test_a_token_comes_as_application_jose(
    http: httpx.Client, token: str, media_type: str
) -> None:
    headers = {"Content-Type": media_type} if media_type else {}
    refused = http.post("/v1/registrations", content=token, headers=headers)
    problem = expect.problem(refused, 415, "media_type_unsupported")
    assert problem["detail"] == "The body is application/jose"


def test_a_line_end_after_the_token_does_no_harm(
    registry: RunningRegistry, token: str
) -> None:
    """`curl --data-binary @file` sends one."""
    submitted = registry.submit(token + "\n")
    assert submitted.status_code == 202


@pytest.mark.parametrize(
    "registration_id",
    ["x", "0" * 26, "9" * 4000, "%00", "%ff", "🦊", "..%2f", "'--", "01M7X9V14RTW7B5DBF5C4YMN31"],
)  # fmt: skip
@pytest.mark.parametrize("part", ["", "/events"])
def test_an_absurd_id_is_not_found(
    http: httpx.Client, registration_id: str, part: str
) -> None:
    expect.problem(http.get(f"/v1/registrations/{registration_id}{part}"), 404)
