import json
import time

import httpx
import pytest

from registry.identity.statements.jws import REFRESH_TYP, sign_compact
from tests.api import expect
from tests.api.expect import Json
from tests.api.running import UNLISTED, RunningRegistry
from tests.api.test_registrations import decode, encode
from tests.waiting import awaited

# Each has an allowance of its own, and every test that is taken uses it up.
TAKEN, HASTY, REFUSED = "radhaus-kreuz.test", "lingua-ferry.test", "paper-otter.test"
UNHEARD = UNLISTED[2]


def sign(registry: RunningRegistry, host: str, **changes: object) -> str:
    now = int(time.time())
    claims = {"aud": registry.origin, "sub": host, "iat": now, "exp": now + 600}
    members = {**claims, **changes}
    payload = {name: value for name, value in members.items() if value is not None}
    key = registry.town.site(host).private_key
    return sign_compact(payload, key, typ=REFRESH_TYP)  # type: ignore[arg-type]


def send(
    registry: RunningRegistry,
    host: str,
    token: str | bytes,
    media_type: str = "application/jose",
) -> httpx.Response:
    headers = {"Content-Type": media_type} if media_type else {}
    return registry.http.post(
        f"/v1/sites/{host}/refresh", content=token, headers=headers
    )


def crawled(registry: RunningRegistry, status_url: str) -> Json:
    crawl: Json = registry.http.get(status_url).json()["lastOutcomes"]["crawl"]
    return crawl


def test_a_refresh_is_taken_and_the_site_is_read_at_once(
    registry: RunningRegistry,
) -> None:
    status_url = f"/v1/sites/{TAKEN}/quality"
    before = crawled(registry, status_url)
    answer = send(registry, TAKEN, sign(registry, TAKEN))
    assert answer.status_code == 202, answer.text
    taken = answer.json()
    expect.members(taken, "host dueAt statusUrl")
    assert (taken["host"], taken["statusUrl"]) == (TAKEN, status_url)
    assert abs(expect.instant(taken["dueAt"]).timestamp() - time.time()) < 60

    def look() -> Json | None:
        crawl = crawled(registry, status_url)
        return crawl if crawl.get("at") != before.get("at") else None

    after = awaited("the crawl", look)
    assert after["result"] in {"fetched", "unchanged"}
    assert after["nextDueAt"] == before["nextDueAt"], "the schedule stays"


def test_too_many_are_told_when_the_next_one_is_taken(
    registry: RunningRegistry,
) -> None:
    iat = int(time.time()) - 30
    for number in range(3):
        token = sign(registry, HASTY, iat=iat + number, exp=iat + 500)
        assert send(registry, HASTY, token).status_code == 202
    refused = send(registry, HASTY, sign(registry, HASTY))
    expect.problem(refused, 429, "refresh_too_often")
    assert 0 < int(refused.headers["Retry-After"]) <= 600


@pytest.mark.parametrize(
    ("changes", "code", "pointer"),
    [
        pytest.param({"aud": "https://x.test"}, "aud_wrong", "/aud", id="registry"),
        pytest.param({"sub": TAKEN}, "refresh_of_another_host", "/sub", id="host"),
        pytest.param({"iat": 1, "exp": 600}, "statement_expired", "/exp", id="old"),
        pytest.param({"exp": None}, "payload_member_missing", "/exp", id="no exp"),
        pytest.param({"iat": 1.5}, "payload_member_invalid", "/iat", id="fraction"),
        pytest.param({"sub": "co.uk"}, "public_suffix", "/sub", id="public suffix"),
    ],
)
def test_a_false_statement_is_refused(
    registry: RunningRegistry, changes: Json, code: str, pointer: str
) -> None:
    refused = send(registry, REFUSED, sign(registry, REFUSED, **changes))
    assert expect.problem(refused, 400, code)["pointer"] == pointer


def edited(token: str) -> str:
    header, payload, signature = token.split(".")
    changed_part = json.loads(decode(payload)) | {"note": "x"}
    return f"{header}.{encode(json.dumps(changed_part))}.{signature}"


def headed(token: str, **members: object) -> str:
    header, payload, signature = token.split(".")
    changed_part = json.loads(decode(header)) | members
    return f"{encode(json.dumps(changed_part))}.{payload}.{signature}"


def test_tokens_that_were_changed_are_refused(registry: RunningRegistry) -> None:
    good = sign(registry, REFUSED)
    for token, code in (
        (edited(good), "signature_invalid"),
        (headed(good, alg="none"), "alg_unsupported"),
        (headed(good, alg="HS256"), "alg_unsupported"),
        (headed(good, alg="ES256"), "alg_mismatch"),
        (headed(good, jwk={}), "header_members"),
        (headed(good, crit=["b64"]), "header_members"),
        (headed(good, typ="site-registration+jws"), "typ_wrong"),
        (headed(good, kid="A" * 43), "key_not_published"),
        (good + ".", "token_malformed"),
        (good + "=", "token_malformed"),
        ("", "token_malformed"),
        ("[" * 3000, "token_malformed"),
        ("\ud83e\udd8a", "token_malformed"),
    ):
        refused = send(registry, REFUSED, token.encode("utf-8", "surrogatepass"))
        expect.problem(refused, 400, code)


def test_another_sites_key_does_not_refresh_a_host(registry: RunningRegistry) -> None:
    now = int(time.time())
    claims = {"aud": registry.origin, "sub": REFUSED, "iat": now, "exp": now + 60}
    other = registry.town.site(TAKEN).private_key
    token = sign_compact(claims, other, typ=REFRESH_TYP)
    expect.problem(send(registry, REFUSED, token), 400, "key_not_published")


def test_a_registration_refreshes_nothing(registry: RunningRegistry) -> None:
    token = registry.sign(registry.town.site(REFUSED), act="update")
    expect.problem(send(registry, REFUSED, token), 400, "typ_wrong")


@pytest.mark.parametrize(
    "host", [UNHEARD, "localhost", "%00", "%ff", "a..b", "127.0.0.1", "x" * 300]
)
def test_a_host_that_is_not_registered_is_not_found(
    registry: RunningRegistry, host: str
) -> None:
    refused = send(registry, host, sign(registry, UNHEARD))
    expect.problem(refused, 404, "site_unknown")


@pytest.mark.parametrize("media_type", ["", "application/json", "text/plain"])
def test_a_refresh_comes_as_application_jose(
    registry: RunningRegistry, media_type: str
) -> None:
    refused = send(registry, REFUSED, sign(registry, REFUSED), media_type)
    expect.problem(refused, 415, "media_type_unsupported")


def test_refresh_takes_no_other_method(registry: RunningRegistry) -> None:
    refused = registry.http.get(f"/v1/sites/{REFUSED}/refresh")
    expect.problem(refused, 405)
