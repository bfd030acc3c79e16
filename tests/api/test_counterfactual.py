"""POST /v1/counterfactual, from outside."""

import time
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from registry.records.counterfactual import Inquiry
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from tests.api import expect
from tests.api.expect import Json
from tests.api.running import AUDITOR, RunningRegistry

STRANGER = Signer(
    name="stranger.example",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(b"s" * 32),
)
PATH = "/v1/counterfactual"
TEXT = "book a table for two"


@pytest.fixture
def inquiry(registry: RunningRegistry) -> Inquiry:
    """About the first of those who are found."""
    first = registry.search(TEXT)["results"][0]["site"]["id"]
    return Inquiry(
        auditor=format_vkey(AUDITOR.verifier_key),
        audience=registry.settings.log_origin,
        issued_at=int(time.time()),
        perturbation="tier",
        sites=(first,),
        query=TEXT,
        filters={"category": "restaurant"},
    )


def body_of(inquiry: Inquiry, signer: Signer = AUDITOR, **changes: Any) -> Json:
    """changes: after it was signed."""
    return {**inquiry.signed(signer.private).signed_members, **changes}


def test_an_auditor_sees_what_holds(http: httpx.Client, inquiry: Inquiry) -> None:
    answer = http.post(PATH, json=body_of(inquiry))
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["held"] is True
    assert body["expected"] == "identical"
    assert body["changed"] == [*inquiry.sites]
    assert body["before"] == body["after"]
    assert body["before"]["places"][0]["siteId"] == inquiry.sites[0]
    assert body["shadow"] == body["listed"]


def test_a_ranking_is_asked_again_without_telling_its_query(
    registry: RunningRegistry, inquiry: Inquiry
) -> None:
    text = "a table in the quietest corner"
    answer = registry.search(text)
    ranking = answer["ranking"]["id"].partition(".")[0]
    changed = replace(inquiry, query=None, filters={}, ranking=ranking)
    response = registry.http.post(PATH, json=body_of(changed))
    assert response.status_code == 200, response.text
    order = [entry["siteId"] for entry in response.json()["before"]["places"]]
    scores = [entry["score"] for entry in response.json()["before"]["places"]]
    assert {*order} >= {result["site"]["id"] for result in answer["results"]}
    assert scores == sorted(scores, reverse=True)
    assert text not in response.text


def test_no_question_is_counted_as_a_ranking(
    registry: RunningRegistry, inquiry: Inquiry
) -> None:
    def searches() -> str:
        metrics = registry.metrics()
        name = "fair_registry_searches_total "
        return next(line for line in metrics.splitlines() if line.startswith(name))

    before = searches()
    assert registry.http.post(PATH, json=body_of(inquiry)).status_code == 200
    assert searches() == before


@pytest.mark.parametrize(
    ("changes", "code", "pointer"),
    [
        pytest.param(
            {"audience": "other.example"}, "counterfactual_invalid", "/aud", id="aud"
        ),
        pytest.param({"issued_at": 0}, "counterfactual_invalid", "/iat", id="long ago"),
        pytest.param(
            {"issued_at": 2**53 - 1}, "counterfactual_invalid", "/iat", id="to come"
        ),
        pytest.param(
            {"query": None}, "counterfactual_invalid", "/ranking", id="nothing asked"
        ),
        pytest.param(
            {"ranking": "0" * 26}, "counterfactual_invalid", "/ranking", id="two asked"
        ),
        pytest.param(
            {"query": "a\u0007b"}, "text_invalid", "/q", id="a query of no text"
        ),
        pytest.param(
            {"filters": {"country": "Atlantis"}},
            "country_unknown",
            "/filters/country",
            id="no such country",
        ),
        pytest.param(
            {"perturbation": "weather"},
            "perturbation_unfit",
            "/perturbation",
            id="no such perturbation",
        ),
        pytest.param({"sites": ()}, "perturbation_unfit", "/sites", id="of nobody"),
        pytest.param(
            {"sites": ("ZZZZZZZZZZZZZ",)}, "site_unknown", "/sites", id="no site id"
        ),
        pytest.param(
            {"perturbation": "farther"}, "perturbation_unfit", "/cell", id="nowhere"
        ),
    ],
)
def test_questions_that_can_not_stand_are_refused(
    http: httpx.Client, inquiry: Inquiry, changes: Any, code: str, pointer: str
) -> None:
    refused = http.post(PATH, json=body_of(replace(inquiry, **changes)))
    problem = expect.problem(refused, 400)
    assert (problem["code"], problem["pointer"]) == (code, pointer)


def test_what_was_changed_after_it_was_signed_is_refused(
    http: httpx.Client, inquiry: Inquiry
) -> None:
    for change in ({"q": "another"}, {"perturbation": "name"}, {"filters": {}}):
        refused = http.post(PATH, json=body_of(inquiry, **change))
        assert expect.problem(refused, 400)["code"] == "counterfactual_invalid"


def test_a_stranger_is_told_how_to_become_known(
    http: httpx.Client, inquiry: Inquiry
) -> None:
    vkey = format_vkey(STRANGER.verifier_key)
    body = body_of(replace(inquiry, auditor=vkey), STRANGER)
    problem = expect.problem(http.post(PATH, json=body), 403)
    assert problem["code"] == "auditor_unknown"
    forged = http.post(PATH, json=body_of(inquiry, STRANGER))
    assert expect.problem(forged, 400)["code"] == "counterfactual_invalid"


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"more": 1}, id="an unknown member"),
        pytest.param({"sites": ["A"]}, id="a short id"),
        pytest.param({"sites": ["A" * 13] * 17}, id="too many sites"),
        pytest.param({"sites": "A" * 13}, id="a text for a list"),
        pytest.param({"cell": "u33dc"}, id="too fine a cell"),
        pytest.param({"cell": "a"}, id="no cell"),
        pytest.param({"q": ""}, id="an empty query"),
        pytest.param({"q": "x" * 1_001}, id="a long query"),
        pytest.param({"iat": "0"}, id="a text for a number"),
        pytest.param({"iat": -1}, id="before 1970"),
        pytest.param({"sig": "A" * 85}, id="a short signature"),
        pytest.param({"filters": {"colour": "red"}}, id="no such filter"),
        pytest.param({"filters": {"requiresAuth": "true"}}, id="a text for a truth"),
        pytest.param({"ranking": "../" * 8}, id="no id"),
    ],
)
def test_malformed_questions_are_refused(
    http: httpx.Client, inquiry: Inquiry, changes: Json
) -> None:
    assert http.post(PATH, json=body_of(inquiry, **changes)).status_code == 400
