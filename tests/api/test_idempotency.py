"""Idempotency-Key: once is once, for who sent it, whatever breaks in between."""

import secrets
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.api import expect
from tests.api.running import RunningRegistry

HEADER = "Idempotency-Key"


def new_key() -> str:
    return secrets.token_hex(16)


def selection(registry: RunningRegistry) -> dict[str, Any]:
    answer = registry.search()
    site = answer["results"][0]["site"]["id"]
    return {"rankingId": answer["ranking"]["id"], "siteId": site}


def select(registry: RunningRegistry, body: dict[str, Any], key: str) -> httpx.Response:
    return registry.http.post("/v1/selections", json=body, headers={HEADER: key})


@pytest.mark.parametrize("form", ["{}", '"{}"'])
def test_a_repeated_selection_answers_as_the_first(
    registry: RunningRegistry, form: str
) -> None:
    body, key = selection(registry), new_key()
    first = select(registry, body, form.format(key))
    again = select(registry, body, key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    without = registry.http.post("/v1/selections", json=body)
    expect.problem(without, 409, "ranking_has_selection")


def test_another_body_with_the_key_is_refused(registry: RunningRegistry) -> None:
    body, key = selection(registry), new_key()
    assert select(registry, body, key).status_code == 201
    for other in ({**body, "outcome": "failed"}, selection(registry)):
        refused = select(registry, other, key)
        expect.problem(refused, 422, "idempotency_key_reused")
    elsewhere = registry.http.post(
        "/v1/challenges", json={"host": "shop.test"}, headers={HEADER: key}
    )
    expect.problem(elsewhere, 422, "idempotency_key_reused")


def test_a_refusal_has_no_effect_and_is_not_what_a_correction_gets(
    registry: RunningRegistry,
) -> None:
    body, key = selection(registry), new_key()
    wrong = select(registry, {**body, "siteId": "nobody.example"}, key)
    expect.problem(wrong, 400, "site_not_in_ranking")
    assert select(registry, body, key).status_code == 201


@pytest.mark.parametrize(
    "value", ["", '""', "a b", "x" * 256, '"open', 'a"b', "schlüssel", "a\tb"]
)
def test_a_key_that_is_none_is_refused(registry: RunningRegistry, value: str) -> None:
    refused = registry.http.post(
        "/v1/challenges",
        json={"host": "shop.test"},
        headers=[(HEADER.encode(), value.encode())],
    )
    expect.problem(refused, 400, "idempotency_key_invalid")


def test_two_keys_are_none(registry: RunningRegistry) -> None:
    refused = registry.http.post(
        "/v1/challenges",
        json={"host": "shop.test"},
        headers=[(HEADER, new_key()), (HEADER, new_key())],
    )
    expect.problem(refused, 400, "idempotency_key_invalid")


def challenge(registry: RunningRegistry, key: str) -> httpx.Response:
    return registry.http.post(
        "/v1/challenges", json={"host": "shop.test"}, headers={HEADER: key}
    )


def registration(registry: RunningRegistry) -> Callable[[str], httpx.Response]:
    token = registry.sign(registry.town.site("zaytoun-table.test"), act="update")

    def submit(key: str) -> httpx.Response:
        headers = {"Content-Type": "application/jose", HEADER: key}
        return registry.http.post("/v1/registrations", content=token, headers=headers)

    return submit


def test_a_challenge_is_the_same_one(registry: RunningRegistry) -> None:
    key = new_key()
    first, again = challenge(registry, key), challenge(registry, key)
    assert first.json()["nonce"] == again.json()["nonce"]
    assert challenge(registry, new_key()).json()["nonce"] != first.json()["nonce"]


def test_a_statement_is_taken_once_and_its_location_given_again(
    registry: RunningRegistry,
) -> None:
    submit, key = registration(registry), new_key()
    first, again = submit(key), submit(key)
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json() == again.json()
    assert first.headers["Location"] == again.headers["Location"]


def test_at_once_one_takes_effect_and_the_others_wait_or_get_its_answer(
    registry: RunningRegistry,
) -> None:
    body, key = selection(registry), new_key()
    answers: list[httpx.Response] = []
    threads = [
        threading.Thread(target=lambda: answers.append(select(registry, body, key)))
        for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    accepted = [answer for answer in answers if answer.status_code == 201]
    assert accepted
    assert len({answer.content for answer in accepted}) == 1
    for answer in answers:
        if answer.status_code != 201:
            expect.problem(answer, 409, "idempotency_in_flight")
            assert answer.headers["Retry-After"] == "1"
    assert select(registry, body, key).content == accepted[0].content
