import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.formats.detect import parse_document
from registry.formats.document import Document, Parsed
from registry.formats.first_document import (
    QUESTIONS,
    find_fault,
    question_of,
    write_first_document,
)
from registry.formats.repair import Incomplete, Repaired

ANSWERS = {
    "url": "https://kitchen.example/menu?x=1",
    "name": "The Corner Kitchen",
    "category": "restaurant",
    "place": "Amman, JO",
    "action": "Book a table for a number of guests",
    "bridge": "/api/wab",
}


def _written(answers: dict[str, str]) -> dict[str, Any]:
    outcome = write_first_document(answers)
    assert isinstance(outcome, Repaired), outcome
    return dict(outcome.document)


def _read(document: Any) -> Document:
    body = json.dumps(document).encode()
    result = parse_document(body, url="https://kitchen.example/agent-bridge.json")
    assert isinstance(result, Parsed)
    return result.document


def test_six_answers_are_a_conforming_document() -> None:
    assert len(QUESTIONS) == 6
    document = _written(ANSWERS)
    assert document == {
        "wab_version": "1.0",
        "provider": {
            "name": "The Corner Kitchen",
            "category": "restaurant",
            "url": "https://kitchen.example/",
            "location": {"city": "Amman", "country": "JO"},
        },
        "capabilities": {
            "commands": [
                {
                    "name": "bookTableNumberGuests",
                    "description": "Book a table for a number of guests",
                    "trigger": "api",
                    "params": [],
                }
            ],
            "permissions": {},
        },
        "transport": {
            "http": {"enabled": True, "base_url": "https://kitchen.example/api/wab"}
        },
    }
    assert _read(document).conformance == "strict"


@pytest.mark.parametrize(
    "url", ["kitchen.example", "kitchen.example:8443/", "xn--80ak6aa92e.example"]
)
def test_a_host_name_is_an_address_too(url: str) -> None:
    document = _written({**ANSWERS, "url": url})
    assert document["provider"]["url"].startswith("https://")


@pytest.mark.parametrize(
    ("place", "location"),
    [
        ("", None),
        ("Graz", {"city": "Graz"}),
        (", JO", {"country": "JO"}),
        ("Graz, at", {"city": "Graz", "country": "AT"}),
        (" Washington, D.C., US ", {"city": "Washington, D.C.", "country": "US"}),
    ],
)
def test_a_place_is_a_city_and_a_country_or_none(place: str, location: Any) -> None:
    provider = _written({**ANSWERS, "place": place})["provider"]
    assert provider.get("location") == location


@pytest.mark.parametrize(
    ("action", "name", "description"),
    [
        ("Tisch für zwei reservieren", "tischFurZweiReservieren", None),
        ("order-bread: Order bread", "order-bread", "Order bread"),
        ("予約する", "action", None),
    ],
)
def test_an_action_is_named_by_its_words(
    action: str, name: str, description: str | None
) -> None:
    (command,) = _written({**ANSWERS, "action": action})["capabilities"]["commands"]
    assert command["name"] == name
    assert command["description"] == (description or action)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("url", "http://kitchen.example/"),
        ("url", "localhost:3000"),
        ("url", "10.0.0.1"),
        ("url", ""),
        ("name", " "),
        ("category", ""),
        ("place", "Berlin, Germany"),
        ("place", ", Germany"),
        ("action", ""),
        ("bridge", ""),
        ("bridge", "http://127.0.0.1/api"),
    ],
)
def test_an_answer_that_will_not_do_is_reported_at_its_question(
    name: str, answer: str
) -> None:
    outcome = write_first_document({**ANSWERS, name: answer})
    assert isinstance(outcome, Incomplete)
    questions = [question_of(deviation) for deviation in outcome.missing]
    assert [question.name for question in questions if question] == [name]
    assert find_fault(name, answer)


def test_sound_answers_have_no_fault() -> None:
    assert [find_fault(name, answer) for name, answer in ANSWERS.items()] == [""] * 6
    assert find_fault("place", "") == ""


def test_development_may_begin_on_this_machine() -> None:
    answers = {**ANSWERS, "url": "http://127.0.0.1:8080"}
    assert isinstance(write_first_document(answers), Incomplete)
    outcome = write_first_document(answers, allow_loopback=True)
    assert isinstance(outcome, Repaired)


_texts = st.text(max_size=12) | st.sampled_from(list(ANSWERS.values()))


@given(st.fixed_dictionaries(dict.fromkeys(ANSWERS, _texts)))
def test_whatever_is_answered_what_is_written_is_strict(
    answers: dict[str, str],
) -> None:
    outcome = write_first_document(answers)
    if isinstance(outcome, Repaired):
        assert _read(outcome.document).conformance == "strict"
    else:
        assert all(question_of(deviation) for deviation in outcome.missing)
