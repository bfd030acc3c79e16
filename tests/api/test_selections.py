from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from registry import keyring
from registry.usecases.search.receipts import make_receipt
from tests.api import expect
from tests.api.expect import Json
from tests.api.running import RunningRegistry

AT_ONCE = 8


def select(http: httpx.Client, ranking_id: str, site_id: str | None) -> httpx.Response:
    payload = {"rankingId": ranking_id, "siteId": site_id}
    return http.post("/v1/selections", json=payload)


@pytest.fixture
def answer(registry: RunningRegistry) -> Json:
    return registry.search("book a table for two")


def test_the_asker_reports_a_choice(http: httpx.Client, answer: Json) -> None:
    chosen = answer["results"][0]["site"]["id"]
    payload = {
        "rankingId": answer["ranking"]["id"],
        "siteId": chosen,
        "outcome": "succeeded",
    }
    reported = http.post("/v1/selections", json=payload)
    assert reported.status_code == 201
    body = reported.json()
    expect.members(body, "id leafHash promise")
    expect.members(body["promise"], "time keyId signature")
    assert len(bytes.fromhex(body["leafHash"])) == 32


def test_that_none_was_chosen_can_be_reported(http: httpx.Client, answer: Json) -> None:
    assert select(http, answer["ranking"]["id"], None).status_code == 201


def test_a_second_report_is_a_conflict(http: httpx.Client, answer: Json) -> None:
    ranking_id = answer["ranking"]["id"]
    assert select(http, ranking_id, None).status_code == 201
    chosen = answer["results"][0]["site"]["id"]
    again = select(http, ranking_id, chosen)
    assert (
        expect.problem(again, 409, "ranking_has_selection")["pointer"] == "/rankingId"
    )


def test_of_reports_at_once_one_counts(http: httpx.Client, answer: Json) -> None:
    ranking_id = answer["ranking"]["id"]
    site_id = answer["results"][0]["site"]["id"]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = pool.map(
            lambda _: select(http, ranking_id, site_id).status_code, range(AT_ONCE)
        )
    assert sorted(statuses) == [201] + [409] * (AT_ONCE - 1)


@pytest.mark.parametrize(
    "forge",
    [
        lambda ranking_id: ranking_id.partition(".")[0],
        lambda ranking_id: ranking_id.partition(".")[0] + ".",
        lambda ranking_id: ranking_id[:-1] + ("A" if ranking_id[-1] != "A" else "B"),
        lambda ranking_id: ranking_id.partition(".")[0] + "." + "A" * 20,
        lambda ranking_id: ranking_id.partition(".")[0] + ".é",
    ],
    ids=["public half", "empty secret", "changed secret", "invented", "not ASCII"],
)
def test_only_the_asker_may_report(http: httpx.Client, answer: Json, forge) -> None:
    site_id = answer["results"][0]["site"]["id"]
    refused = select(http, forge(answer["ranking"]["id"]), site_id)
    expect.problem(refused, 403, "ranking_not_yours")
    assert select(http, answer["ranking"]["id"], site_id).status_code == 201


def test_a_receipt_for_another_ranking_is_refused(registry: RunningRegistry) -> None:
    item, two = (registry.search()["ranking"]["id"] for _ in range(2))
    mixed = f"{item.partition('.')[0]}.{two.partition('.')[2]}"
    expect.problem(select(registry.http, mixed, None), 403, "ranking_not_yours")


def test_an_unknown_ranking_is_not_found(registry: RunningRegistry) -> None:
    web_key = keyring.load_web_key(registry.settings.keys)
    ranking_id = make_receipt(web_key, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    refused = select(registry.http, ranking_id, None)
    expect.problem(refused, 404, "ranking_unknown")


@pytest.mark.parametrize("ranking_id", ["", "x", ".", "0" * 100, "🦊", "../..", "\t"])
def test_what_is_no_ranking_id_is_not_found(
    http: httpx.Client, ranking_id: str
) -> None:
    expect.problem(select(http, ranking_id, None), 404, "ranking_unknown")


def test_a_site_that_was_not_returned_is_refused(
    http: httpx.Client, answer: Json
) -> None:
    returned = {result["site"]["id"] for result in answer["results"]}
    listed = http.get("/v1/sites").json()["results"]
    other = next(listing["id"] for listing in listed if listing["id"] not in returned)
    for site_id in (other, "0000000000000", "", "zaytoun"):
        refused = select(http, answer["ranking"]["id"], site_id)
        problem = expect.problem(refused, 400, "site_not_in_ranking")
        assert problem["pointer"] == "/siteId"
    assert select(http, answer["ranking"]["id"], None).status_code == 201
