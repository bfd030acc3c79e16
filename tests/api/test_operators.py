"""Operators: they register with a signature, ask by key or signature, and are counted."""

import hashlib
import re
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import msgspec
import pytest

from registry.client import ApiKeyAuth, SigningAuth
from registry.identity.keys.private_keys import (
    PrivateKey,
    generate_private_key,
    public_key_of,
)
from registry.identity.keys.public_keys import Algorithm
from registry.identity.requests.message_signature import content_digest
from registry.identity.requests.operator_request import SignedRequest, sign_request
from registry.identity.requests.web_bot_auth import authority_of
from registry.identity.statements.jws import OPERATOR_TYP, REFRESH_TYP, sign_compact
from registry.usecases.operators.operator_access import LIFE_S
from tests.api import expect
from tests.api.expect import Json
from tests.api.running import AUDITOR, RunningRegistry, public_web
from tests.api.test_kept_reports import keep

ACCOUNT = {"name": "Meridian Assistants", "contact": "mailto:ops@meridian.example"}
WANTED = {"q": "book a table for two", "city": "Amman"}


class Operator:
    """Of one key; what it states is a second later than what it stated before."""

    def __init__(self, registry: RunningRegistry, alg: Algorithm = "Ed25519") -> None:
        self.registry = registry
        self.key: PrivateKey = generate_private_key(alg)
        self.id = public_key_of(self.key).kid
        self.api_key = ""
        self._iat = int(time.time()) - 60

    @property
    def jwk(self) -> dict[str, str]:
        return public_key_of(self.key).jwk

    def payload(self, **members: Any) -> Json:
        self._iat += 1
        claims = {
            "aud": self.registry.origin,
            "sub": self.id,
            "iat": self._iat,
            "exp": self._iat + 600,
        }
        statement = {**claims, **members}
        return {name: value for name, value in statement.items() if value is not None}

    def state(
        self, *, typ: str = OPERATOR_TYP, by: PrivateKey | None = None, **members: Any
    ) -> httpx.Response:
        token = sign_compact(self.payload(**members), by or self.key, typ=typ)
        known = members.get("act") in {"update", "rotate", "close"}
        return send(self.registry, token, self.id if known else None)

    def register(self, **members: Any) -> Json:
        claims = {
            "act": "register",
            "jwk": self.jwk,
            **ACCOUNT,
            "api_key": True,
            **members,
        }
        answer = self.state(**claims)
        assert answer.status_code == 201, answer.text
        body: Json = answer.json()
        self.api_key = body["apiKey"] or ""
        return body

    @property
    def bearer(self) -> ApiKeyAuth:
        return ApiKeyAuth(self.api_key)

    @property
    def signing(self) -> SigningAuth:
        return SigningAuth(self.key, self.registry.origin)


def send(
    registry: RunningRegistry, token: str, operator_id: str | None = None
) -> httpx.Response:
    headers = {"Content-Type": "application/jose"}
    path = f"/v1/operators/{operator_id}/statements" if operator_id else "/v1/operators"
    return registry.http.post(path, content=token, headers=headers)


def search(registry: RunningRegistry, auth: httpx.Auth | None = None) -> Json:
    answer = registry.http.get("/v1/search", params=WANTED, auth=auth)
    assert answer.status_code == 200, answer.text
    body: Json = answer.json()
    return body


def record_of(registry: RunningRegistry, answer: Json) -> Json:
    public = answer["ranking"]["id"].partition(".")[0]
    body: Json = registry.http.get(f"/v1/rankings/{public}").json()
    return body


@pytest.fixture
def operator(registry: RunningRegistry) -> Operator:
    result = Operator(registry)
    result.register()
    return result


# --- statements ---


@pytest.mark.parametrize("alg", ["Ed25519", "ES256"])
def test_operator_registers_with_its_key_and_gets_an_api_key_once(
    registry: RunningRegistry, alg: Algorithm
) -> None:
    operator = Operator(registry, alg)
    answer = operator.state(act="register", jwk=operator.jwk, **ACCOUNT, api_key=True)
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"/v1/operators/{operator.id}"
    body = answer.json()
    expect.members(
        body,
        "id status keyThumbprint registeredAt closedAt rankings declared public"
        " apiKeyMadeAt apiKey",
    )
    assert body["id"] == body["keyThumbprint"] == operator.id
    assert (body["status"], body["rankings"], body["public"]) == ("active", 0, False)
    assert body["declared"] == ACCOUNT
    assert body["apiKey"].startswith("frk_")
    own = registry.http.get("/v1/operators/self", auth=ApiKeyAuth(body["apiKey"]))
    assert body["apiKey"] not in own.text
    assert own.json()["declared"] == ACCOUNT


def test_nobody_else_is_told_what_it_says_of_itself(operator: Operator) -> None:
    response = operator.registry.http.get(f"/v1/operators/{operator.id}")
    assert ACCOUNT["contact"] not in response.text
    body = response.json()
    expect.members(
        body, "id status keyThumbprint registeredAt closedAt rankings declared"
    )
    assert body["declared"] is None
    expect.instant(body["registeredAt"])


def test_unless_it_wants_that(operator: Operator) -> None:
    assert operator.state(act="update", **ACCOUNT, public=True).status_code == 200
    body = operator.registry.http.get(f"/v1/operators/{operator.id}").json()
    assert body["declared"] == ACCOUNT


def test_api_key_is_made_only_when_it_is_asked_for(registry: RunningRegistry) -> None:
    result = Operator(registry).register(api_key=None)
    assert (result["apiKey"], result["apiKeyMadeAt"]) == (None, None)


REFUSED: list[Any] = [
    pytest.param({"act": "grow"}, 400, "operator_act_unknown", "/act", id="act"),
    pytest.param({"act": None}, 400, "payload_member_missing", "/act", id="no act"),
    pytest.param({"jwk": None}, 400, "payload_member_missing", "/jwk", id="no key"),
    pytest.param({"jwk": "x"}, 400, "payload_member_invalid", "/jwk", id="key as text"),
    pytest.param({"jwk": {"kty": "RSA"}}, 400, "key_unsupported", "/jwk", id="RSA"),
    pytest.param({"jwk": {"kty": "OKP", "crv": "Ed25519", "x": "A" * 43}}, 400, "key_small_order", "/jwk/x", id="weak key"),
    pytest.param({"jwk": {"kty": "OKP", "crv": "Ed25519", "x": "A", "d": "A"}}, 400, "key_secret_published", "/jwk/d", id="secret key"),
    pytest.param({"sub": "x"}, 400, "payload_member_invalid", "/sub", id="subject"),
    pytest.param({"sub": "A" * 43}, 400, "operator_subject_wrong", "/sub", id="another's id"),
    pytest.param({"sub": None}, 400, "payload_member_missing", "/sub", id="no subject"),
    pytest.param({"aud": "https://other.example"}, 400, "aud_wrong", "/aud", id="audience"),
    pytest.param({"iat": 1, "exp": 601}, 400, "statement_expired", "/exp", id="old"),
    pytest.param({"iat": "now"}, 400, "payload_member_invalid", "/iat", id="iat as text"),
    pytest.param({"name": ""}, 400, "payload_member_invalid", "/name", id="no name"),
    pytest.param({"name": "a\nb"}, 400, "payload_member_invalid", "/name", id="lines"),
    pytest.param({"name": "x" * 101}, 400, "payload_member_invalid", "/name", id="long name"),
    pytest.param({"name": {"first": "x"}}, 400, "payload_member_invalid", "/name", id="name as object"),
    pytest.param({"contact": None}, 400, "payload_member_missing", "/contact", id="no contact"),
    pytest.param({"contact": "http://x.example"}, 400, "payload_member_invalid", "/contact", id="not https"),
    pytest.param({"contact": "mailto:"}, 400, "payload_member_invalid", "/contact", id="no address"),
    pytest.param({"contact": "javascript:alert(1)"}, 400, "payload_member_invalid", "/contact", id="script"),
    pytest.param({"contact": "mailto:a@b.example?bcc=c@d.example"}, 400, "payload_member_invalid", "/contact", id="mailto with fields"),
    pytest.param({"public": "yes"}, 400, "payload_member_invalid", "/public", id="public as text"),
    pytest.param({"api_key": "mine"}, 400, "payload_member_invalid", "/api_key", id="key of its own"),
    pytest.param({"next_jwk": {}}, 400, "operator_act_member_misplaced", "/next_jwk", id="misplaced"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "status", "code", "pointer"), REFUSED)
def test_unsound_statement_is_refused_with_its_place(
    registry: RunningRegistry, changed: Json, status: int, code: str, pointer: str
) -> None:
    operator = Operator(registry)
    answer = operator.state(
        **{"act": "register", "jwk": operator.jwk, **ACCOUNT, **changed}
    )
    assert expect.problem(answer, status, code)["pointer"] == pointer
    gone = registry.http.get(f"/v1/operators/{operator.id}")
    expect.problem(gone, 404, "operator_unknown")


def test_statement_of_another_kind_is_refused(registry: RunningRegistry) -> None:
    operator = Operator(registry)
    claims = {"act": "register", "jwk": operator.jwk, **ACCOUNT}
    expect.problem(operator.state(typ=REFRESH_TYP, **claims), 400, "typ_wrong")


def test_key_cannot_be_registered_by_who_does_not_hold_it(
    registry: RunningRegistry,
) -> None:
    operator, thief = Operator(registry), Operator(registry)
    claims = {"act": "register", "jwk": operator.jwk, **ACCOUNT}
    expect.problem(operator.state(by=thief.key, **claims), 400, "kid_mismatch")
    token = sign_compact(operator.payload(**claims), operator.key, typ=OPERATOR_TYP)
    head, payload, signature = token.split(".")
    forged = f"{head}.{payload}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"
    expect.problem(send(registry, forged), 400, "signature_invalid")


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        ("", "application/jose", 400),
        ("a.b", "application/jose", 400),
        ("{}", "application/json", 415),
        ("x" * 16_385, "application/jose", 400),
        ("x" * 70_000, "application/jose", 413),
        ("ü.ü.ü", "application/jose", 400),
    ],
)
def test_what_is_no_statement_is_refused(
    http: httpx.Client, body: str, media_type: str, status: int
) -> None:
    headers = {"Content-Type": media_type}
    expect.problem(http.post("/v1/operators", content=body, headers=headers), status)


def test_key_is_registered_once(operator: Operator) -> None:
    claims = {"act": "register", "jwk": operator.jwk, **ACCOUNT, "api_key": True}
    expect.problem(operator.state(**claims), 409, "operator_known")
    assert search(operator.registry, operator.bearer)["ranking"]["number"] == 1


def test_of_many_registrations_at_once_one_counts(registry: RunningRegistry) -> None:
    operator = Operator(registry)
    tokens = [
        sign_compact(
            operator.payload(act="register", jwk=operator.jwk, **ACCOUNT),
            operator.key,
            typ=OPERATOR_TYP,
        )
        for _ in range(6)
    ]
    with ThreadPoolExecutor(6) as pool:
        statuses = pool.map(lambda item: send(registry, item).status_code, tokens)
    assert sorted(statuses) == [201] + [409] * 5


def test_statement_is_taken_once_and_none_that_is_older(operator: Operator) -> None:
    older = sign_compact(operator.payload(act="close"), operator.key, typ=OPERATOR_TYP)
    newer = operator.payload(act="update", **ACCOUNT)
    token = sign_compact(newer, operator.key, typ=OPERATOR_TYP)
    assert send(operator.registry, token, operator.id).status_code == 200
    for late in (token, older):
        refused = send(operator.registry, late, operator.id)
        expect.problem(refused, 409, "operator_statement_replayed")


def test_nobody_else_speaks_for_an_operator(operator: Operator) -> None:
    thief = Operator(operator.registry)
    refused = operator.state(by=thief.key, act="close")
    expect.problem(refused, 400, "kid_mismatch")
    unknown = thief.state(act="close")
    expect.problem(unknown, 404, "operator_unknown")


def test_statement_is_taken_at_its_own_address(operator: Operator) -> None:
    other = Operator(operator.registry)
    closing = sign_compact(
        operator.payload(act="close"), operator.key, typ=OPERATOR_TYP
    )
    statement = other.payload(act="register", jwk=other.jwk, **ACCOUNT)
    coming = sign_compact(statement, other.key, typ=OPERATOR_TYP)
    for token, place, pointer in (
        (closing, None, "/act"),
        (closing, other.id, "/sub"),
        (coming, other.id, "/act"),
    ):
        refused = send(operator.registry, token, place)
        problem = expect.problem(refused, 400, "operator_address_wrong")
        assert problem["pointer"] == pointer


def test_new_api_key_takes_the_place_of_the_old_one(operator: Operator) -> None:
    old = operator.bearer
    assert search(operator.registry, old)["ranking"]["number"] == 1
    body = operator.state(act="update", api_key=True).json()
    operator.api_key = body["apiKey"]
    assert search(operator.registry, operator.bearer)["ranking"]["number"] == 2
    until_refused(operator.registry, old)


def test_api_key_can_be_taken_away(operator: Operator) -> None:
    body = operator.state(act="update", api_key=False).json()
    assert (body["apiKey"], body["apiKeyMadeAt"]) == (None, None)
    until_refused(operator.registry, operator.bearer)


def test_key_can_be_replaced_by_another(operator: Operator) -> None:
    old, former = operator.signing, operator.key
    operator.key = generate_private_key("ES256")
    answer = operator.state(by=former, act="rotate", next_jwk=operator.jwk)
    assert answer.status_code == 200, answer.text
    assert answer.json()["id"] == operator.id
    assert answer.json()["keyThumbprint"] == public_key_of(operator.key).kid
    assert search(operator.registry, operator.signing)["ranking"]["number"] == 1
    assert search(operator.registry, operator.bearer)["ranking"]["number"] == 2
    until_refused(operator.registry, old)
    expect.problem(operator.state(by=former, act="close"), 400, "kid_mismatch")


def test_key_of_another_operator_cannot_be_taken_over(operator: Operator) -> None:
    other = Operator(operator.registry)
    other.register()
    refused = operator.state(act="rotate", next_jwk=other.jwk)
    expect.problem(refused, 409, "operator_known")
    former, other.key = other.key, generate_private_key("Ed25519")
    assert other.state(by=former, act="rotate", next_jwk=other.jwk).status_code == 200
    for key in (former, other.key):
        jwk = public_key_of(key).jwk
        refused = operator.state(act="rotate", next_jwk=jwk)
        expect.problem(refused, 409, "operator_known")


def test_closed_account_says_no_more_than_its_count(operator: Operator) -> None:
    search(operator.registry, operator.bearer)
    answer = operator.state(act="close")
    assert answer.status_code == 200, answer.text
    closed = answer.json()
    assert (closed["status"], closed["declared"]) == ("closed", None)
    assert (closed["apiKeyMadeAt"], closed["keyThumbprint"]) == (None, None)
    body = operator.registry.http.get(f"/v1/operators/{operator.id}").json()
    assert (body["status"], body["rankings"]) == ("closed", 1)
    for auth in (operator.bearer, operator.signing):
        until_refused(operator.registry, auth)
    claims = {"act": "register", "jwk": operator.jwk, **ACCOUNT}
    expect.problem(operator.state(**claims), 409, "operator_known")
    expect.problem(operator.state(act="update", **ACCOUNT), 410, "operator_closed")


def until_refused(registry: RunningRegistry, auth: httpx.Auth) -> None:
    """Within the seconds for which a key is remembered."""
    forgotten_s = time.monotonic() + LIFE_S
    while True:
        asked_s = time.monotonic()
        answer = registry.http.get("/v1/operators/self", auth=auth)
        if answer.status_code != 200:
            expect.problem(answer, 401, "operator_key_unknown")
            return
        assert asked_s < forgotten_s, "the key still opens"
        time.sleep(0.2)


@pytest.mark.parametrize(
    "operator_id", ["x", "A" * 43, "%00", "ü", "a" * 3_000, "..", "self%20", "🦊"]
)
def test_unknown_operator_is_not_found(http: httpx.Client, operator_id: str) -> None:
    expect.problem(http.get(f"/v1/operators/{operator_id}"), 404)


# --- asking ---


@pytest.mark.parametrize("how", ["bearer", "signing"])
def test_rankings_of_an_operator_carry_its_id_and_their_number(
    operator: Operator, how: str
) -> None:
    registry, auth = operator.registry, getattr(operator, how)
    for number in (1, 2):
        answer = search(registry, auth)
        assert answer["ranking"]["number"] == number
        record = record_of(registry, answer)
        assert (record["record"]["op"], record["record"]["opn"]) == (
            operator.id,
            number,
        )
        assert record["leafHash"] == answer["ranking"]["leafHash"]
    posted = registry.http.post("/v1/search", json=WANTED, auth=auth).json()
    assert posted["ranking"]["number"] == 3
    record = registry.http.get(f"/v1/operators/{operator.id}").json()
    assert record["rankings"] == 3


def test_leaf_hash_is_that_of_the_record_with_its_number(operator: Operator) -> None:
    answer = search(operator.registry, operator.bearer)
    record = record_of(operator.registry, answer)["record"]
    body = msgspec.json.encode(dict(sorted(record.items())))
    leaf = hashlib.sha256(b"\0" + body).hexdigest()
    assert leaf == answer["ranking"]["leafHash"]


def test_who_says_nothing_is_anonymous(registry: RunningRegistry) -> None:
    answer = search(registry)
    assert answer["ranking"]["number"] is None
    record = record_of(registry, answer)["record"]
    assert record["op"] == "anon"
    assert "opn" not in record


def test_next_page_is_counted_too(operator: Operator) -> None:
    registry = operator.registry
    first = registry.http.get(
        "/v1/search", params={**WANTED, "limit": 1}, auth=operator.bearer
    ).json()
    params = {**WANTED, "limit": 1, "cursor": first["nextCursor"]}
    second = registry.http.get("/v1/search", params=params, auth=operator.bearer).json()
    assert [item["ranking"]["number"] for item in (first, second)] == [1, 2]


def test_requests_at_once_are_counted_without_gap(operator: Operator) -> None:
    with ThreadPoolExecutor(8) as pool:
        result = pool.map(
            lambda _: search(operator.registry, operator.bearer)["ranking"]["number"],
            range(40),
        )
    assert sorted(result) == list(range(1, 41))


def test_refused_request_is_not_counted(operator: Operator) -> None:
    registry = operator.registry
    params = {"q": "x", "colour": "red"}
    refused = registry.http.get("/v1/search", params=params, auth=operator.bearer)
    expect.problem(refused, 400)
    assert search(registry, operator.bearer)["ranking"]["number"] == 1


def test_selection_is_the_operators(operator: Operator) -> None:
    registry = operator.registry
    ranking = search(registry, operator.bearer)["ranking"]["id"]
    payload = {"rankingId": ranking, "siteId": None}
    reported = registry.http.post("/v1/selections", json=payload, auth=operator.bearer)
    assert reported.status_code == 201
    record = registry.http.get(f"/v1/records/{reported.json()['id']}").json()
    assert record["record"]["op"] == operator.id


def test_selection_from_anothers_ranking_is_refused(operator: Operator) -> None:
    registry, other = operator.registry, Operator(operator.registry)
    other.register()
    ranking = search(registry, operator.bearer)["ranking"]["id"]
    payload = {"rankingId": ranking, "siteId": None}
    refused = registry.http.post("/v1/selections", json=payload, auth=other.bearer)
    expect.problem(refused, 403, "ranking_not_yours")
    assert registry.http.post("/v1/selections", json=payload).status_code == 201


KEYS: list[Any] = [
    pytest.param("Bearer", "credentials_invalid", id="no key"),
    pytest.param("Bearer x", "credentials_invalid", id="no key of ours"),
    pytest.param("Bearer frk_", "credentials_invalid", id="prefix alone"),
    pytest.param("Bearer frk_" + "A" * 42 + "B", "credentials_invalid", id="unused bits"),
    pytest.param("Bearer frk_" + "A" * 44, "credentials_invalid", id="too long"),
    pytest.param("Bearer frk_" + "A" * 9_000, "credentials_invalid", id="oversize"),
    pytest.param("Bearer frk_" + "A" * 43, "operator_key_unknown", id="nobody's"),
    pytest.param("bearer frk_" + "A" * 43, "operator_key_unknown", id="lower case"),
    pytest.param("Bearer frk_" + "é" * 43, "credentials_invalid", id="not ASCII"),
    pytest.param("Basic dXNlcjpwYXNz", "credentials_invalid", id="another scheme"),
    pytest.param("", "credentials_invalid", id="nothing"),
    pytest.param("Bearer a b c", "credentials_invalid", id="many words"),
]  # fmt: skip


@pytest.mark.parametrize(("authorization", "code"), KEYS)
def test_wrong_api_key_is_never_taken_for_anonymous(
    http: httpx.Client, authorization: str, code: str
) -> None:
    headers = {"Authorization": authorization.encode("utf-8")}
    selection = {"rankingId": "x", "siteId": None}
    for refused in (
        http.get("/v1/search", params={"q": "bread"}, headers=headers),
        http.post("/v1/search", json={"q": "bread"}, headers=headers),
        http.post("/v1/selections", json=selection, headers=headers),
        http.get("/v1/operators/self", headers=headers),
        http.get("/v1/operators/self/report", headers=headers),
        http.post("/v1/rankings/01ARZ3NDEKTSV4RRFFQ69G5FAV/erase", headers=headers),
    ):
        expect.problem(refused, 401, code)
        assert refused.headers["WWW-Authenticate"] == "Bearer"


def test_two_keys_are_none(operator: Operator) -> None:
    key = ("Authorization", f"Bearer {operator.api_key}")
    refused = operator.registry.http.get(
        "/v1/search", params={"q": "bread"}, headers=[key, key]
    )
    expect.problem(refused, 401, "credentials_invalid")
    signed = operator.registry.http.get(
        "/v1/search", params=WANTED, headers=[key], auth=operator.signing
    )
    expect.problem(signed, 401, "credentials_invalid")


def signed_search(
    operator: Operator,
    *,
    sign: Callable[[SignedRequest, int], Json] | None = None,
    body: bytes = b"",
) -> httpx.Request:
    """GET /v1/search?q=bread, or a POST with the body, signed by default as it should."""
    registry = operator.registry
    query = "" if body else "q=bread"
    request = SignedRequest(
        method="POST" if body else "GET",
        authority=authority_of(registry.origin),
        path="/v1/search",
        query=query,
        fields={},
        body=body,
    )
    fields = (sign or signing(operator))(request, int(time.time()))
    return registry.http.build_request(
        request.method,
        f"/v1/search?{query}" if query else "/v1/search",
        content=body or None,
        headers={**fields, "Content-Type": "application/json"},
    )


def signing(
    operator: Operator,
    *,
    later: int = 0,
    nonce: str | None = None,
    lifetime_s: int = 60,
    **changed: Any,
) -> Callable[[SignedRequest, int], Json]:
    def sign(request: SignedRequest, now: int) -> Json:
        members = {name: getattr(request, name) for name in request.__slots__}
        return sign_request(
            SignedRequest(**{**members, **changed}),
            operator.key,
            now=now + later,
            nonce=secrets.token_urlsafe() if nonce is None else nonce,
            lifetime_s=lifetime_s,
        )

    return sign


def test_signature_is_taken_once(operator: Operator) -> None:
    request = signed_search(operator)
    http = operator.registry.http
    assert http.send(request).json()["ranking"]["number"] == 1
    expect.problem(http.send(request), 401, "request_replayed")
    again = signed_search(operator)
    assert http.send(again).json()["ranking"]["number"] == 2


def test_of_one_signature_sent_often_at_once_one_counts(operator: Operator) -> None:
    request = signed_search(operator)
    with ThreadPoolExecutor(8) as pool:
        statuses = pool.map(
            lambda _: operator.registry.http.send(request).status_code, range(8)
        )
    assert sorted(statuses) == [200] + [401] * 7


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"method": "POST"}, id="another method"),
        pytest.param({"authority": "other.example"}, id="another registry"),
        pytest.param({"path": "/v1/selections"}, id="another path"),
        pytest.param({"query": "q=bombs"}, id="another query"),
        pytest.param({"later": -400}, id="expired"),
        pytest.param({"later": 300}, id="of the future"),
        pytest.param({"lifetime_s": 301}, id="valid for long"),
        pytest.param({"lifetime_s": -1}, id="valid never"),
        pytest.param({"nonce": ""}, id="without a nonce"),
        pytest.param({"nonce": "n" * 65}, id="long nonce"),
    ],
)
def test_signature_of_something_else_is_refused(
    operator: Operator, changes: Json
) -> None:
    request = signed_search(operator, sign=signing(operator, **changes))
    refused = operator.registry.http.send(request)
    expect.problem(refused, 401, "request_signature_invalid")
    assert search(operator.registry, operator.bearer)["ranking"]["number"] == 1


def test_clock_may_be_a_little_ahead(operator: Operator) -> None:
    request = signed_search(operator, sign=signing(operator, later=40))
    assert operator.registry.http.send(request).status_code == 200


@pytest.mark.parametrize(
    ("name", "change"),
    [
        pytest.param("Signature", lambda _: "operator=:AAAA:", id="short"),
        pytest.param("Signature", lambda _: "", id="empty"),
        pytest.param("Signature", lambda _: "other=:AAAA:", id="another label"),
        pytest.param("Signature-Input", lambda old: old.replace("keyid", "kid"), id="no key"),
        pytest.param("Signature-Input", lambda old: f"{old}, a{old}", id="two of ours"),
        pytest.param("Signature-Input", lambda old: old.replace(' "@query"', ""), id="query not covered"),
        pytest.param("Signature-Input", lambda old: old.replace('"@query"', '"@query";x'), id="parameter"),
        pytest.param("Signature-Input", lambda old: old + ";" * 5_000, id="not of the form"),
        pytest.param("Signature-Input", lambda old: old.replace("(", "(" * 1_000), id="nested"),
    ],
)  # fmt: skip
def test_bent_signature_is_refused(
    operator: Operator, name: str, change: Callable[[str], str]
) -> None:
    request = signed_search(operator)
    request.headers[name] = change(request.headers[name])
    refused = operator.registry.http.send(request)
    expect.problem(refused, 401, "request_signature_invalid")


@pytest.mark.parametrize(
    "bend",
    [
        pytest.param(lambda request: request.headers.pop("content-digest"), id="without"),
        pytest.param(lambda request: request.headers.update({"content-digest": content_digest(b"x")}), id="of another body"),
        pytest.param(lambda request: request.headers.update({"content-digest": "sha-512=:AAAA:"}), id="another digest"),
        pytest.param(lambda request: request.headers.update({"content-digest": "x"}), id="no digest"),
    ],
)  # fmt: skip
def test_body_has_to_be_the_signed_one(
    operator: Operator, bend: Callable[[httpx.Request], object]
) -> None:
    request = signed_search(operator, body=b'{"q":"bread"}')
    bend(request)
    refused = operator.registry.http.send(request)
    expect.problem(refused, 401, "request_signature_invalid")


def test_signature_by_nobodys_key_is_refused(registry: RunningRegistry) -> None:
    request = signed_search(Operator(registry))
    expect.problem(registry.http.send(request), 401, "operator_key_unknown")


def test_signatures_for_others_are_passed_over(registry: RunningRegistry) -> None:
    """Such as those of crawlers that sign whatever they ask (Web Bot Auth)."""
    headers = {
        "Signature-Input": 'sig=("@authority");created=1;keyid="k";tag="web-bot-auth"',
        "Signature": "sig=:AAAA:",
    }
    answer = registry.http.get("/v1/search", params=WANTED, headers=headers)
    assert answer.status_code == 200
    assert answer.json()["ranking"]["number"] is None


# --- what is the operator's own ---


def test_operator_erases_what_it_asked_for_by_the_public_id(
    operator: Operator,
) -> None:
    registry, other = operator.registry, Operator(operator.registry)
    other.register()
    answer = search(registry, operator.bearer)
    public = answer["ranking"]["id"].partition(".")[0]
    registry.published(public)
    path = f"/v1/rankings/{public}/erase"
    expect.problem(registry.http.post(path), 403, "ranking_not_yours")
    refused = registry.http.post(path, auth=other.bearer)
    expect.problem(refused, 403, "ranking_not_yours")
    erased = registry.http.post(path, auth=operator.bearer)
    assert erased.status_code == 200, erased.text
    assert "query" in record_of(registry, answer)["erased"]


def test_nobodys_ranking_is_not_erased_by_an_operator(operator: Operator) -> None:
    registry = operator.registry
    whole = search(registry)["ranking"]["id"]
    public = whole.partition(".")[0]
    registry.published(public)
    refused = registry.http.post(f"/v1/rankings/{public}/erase", auth=operator.bearer)
    expect.problem(refused, 403, "ranking_not_yours")
    erased = registry.http.post(f"/v1/rankings/{whole}/erase", auth=operator.bearer)
    assert erased.status_code == 200, "it has the whole id"


@pytest.mark.parametrize(("form", "media_type"), [("json", "application/json"), ("csv", "text/csv"), ("html", "text/html")])  # fmt: skip
@pytest.mark.parametrize("how", ["bearer", "signing"])
def test_operator_gets_the_report_of_its_own_rankings(
    operator: Operator, how: str, form: str, media_type: str
) -> None:
    registry, other = operator.registry, Operator(operator.registry)
    other.register()
    for item in (operator, operator, other):
        search(registry, item.bearer)
    search(registry)
    answer = registry.http.get(
        "/v1/operators/self/report",
        params={"form": form},
        auth=getattr(operator, how),
    )
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].startswith(media_type)
    assert answer.headers["X-JWS-Signature"]
    assert operator.id in answer.text
    assert other.id not in answer.text
    if form == "json":
        body = answer.json()
        assert body["terms"]["operator"] == operator.id
        assert body["counts"]["rankings"] == 2
        values = {
            breakdown["value"]
            for breakdown in body["breakdowns"]
            if breakdown["by"] == "operator"
        }
        assert values <= {operator.id}


def test_nobody_else_gets_it(operator: Operator) -> None:
    http = operator.registry.http
    expect.problem(http.get("/v1/operators/self/report"), 401, "credentials_missing")
    expect.problem(http.get("/v1/operators/self"), 401, "credentials_missing")
    params = {"operator": operator.id}
    for auth in (None, operator.bearer):
        refused = http.get("/v1/reports/fairness", params=params, auth=auth)
        expect.problem(refused, 403, "report_not_yours")
    anybody = http.get("/v1/reports/fairness", params={"operator": "anon"})
    assert anybody.status_code == 200


@pytest.fixture(scope="module")
def auditor(registry: RunningRegistry) -> Operator:
    auditor = Operator(registry)
    auditor.key = AUDITOR.private
    auditor.id = public_key_of(auditor.key).kid
    auditor.register()
    return auditor


def test_a_known_auditor_has_the_most_reports(
    registry: RunningRegistry, auditor: Operator
) -> None:
    other = Operator(registry)
    other.register()
    quotas = []
    for item in (other, auditor):
        answer = registry.http.get("/v1/reports/fairness", auth=item.bearer)
        [quota] = re.findall(r";q=(\d+)", answer.headers["RateLimit-Policy"])
        quotas.append(int(quota))
    assert quotas == [1_200, 3_000], "a hundred times those of docs/limits.md"


def test_strangers_of_a_public_registry_get_what_is_kept_alone(
    operator: Operator, auditor: Operator
) -> None:
    """Else a minute, or what was erased between two reports, tells of single requests."""
    registry, path = operator.registry, "/v1/reports/fairness"
    registry.run(keep(registry, None))
    month = {"from": "2026-10-01T00:00:00Z", "to": "2026-11-01T00:00:00Z"}
    minute = {**month, "to": "2026-10-01T00:01:00Z"}
    with public_web(registry, allow_loopback=False, hosts_file=None) as http:
        stored = http.get("/v1/reports/2026-10")
        for auth in (None, operator.bearer):
            for part in ({"category": "restaurant"}, {"operator": "anon"}, minute):
                refused = http.get(path, params=month | part, auth=auth)
                expect.problem(refused, 400, "window_not_months")
            answer = http.get(path, params=month, auth=auth)
            assert answer.content == stored.content
            for name in ("X-JWS-Signature", "ETag"):
                assert answer.headers[name] == stored.headers[name]
        before = {"to": "2026-01-01T00:00:00Z"}
        expect.problem(http.get(path, params=before), 404, "report_not_kept")
        by_auditor = http.get(path, auth=auditor.bearer)
        own = http.get("/v1/operators/self/report", params=minute, auth=operator.bearer)
    assert by_auditor.json()["counts"]["rankings"] > 0
    assert own.status_code == 200


# --- secrets ---


@pytest.fixture
def logged(registry: RunningRegistry) -> Callable[[], str]:
    before = len(registry.log.read_text())
    return lambda: registry.log.read_text()[before:]


def test_no_key_reaches_the_log(operator: Operator, logged: Callable[[], str]) -> None:
    registry = operator.registry
    search(registry, operator.bearer)
    search(registry, operator.signing)
    wrong = {"Authorization": f"Bearer {operator.api_key}x"}
    registry.http.get("/v1/search", params={"q": "bread"}, headers=wrong)
    registry.http.get(f"/v1/{operator.api_key}")
    operator.state(act="update", api_key=True)
    time.sleep(0.1)
    assert logged() == ""


def test_registrations_are_limited(http: httpx.Client) -> None:
    headers = {"Content-Type": "application/jose"}
    refused = http.post("/v1/operators", content="x", headers=headers)
    assert "account" in refused.headers["RateLimit-Policy"]
