"""What the client does with answers, without a network."""

from datetime import UTC, datetime

import msgspec
import pytest

from registry.calls.api_call import (
    ApiAnswer,
    ApiCall,
    RetryRule,
    decode,
    retry_after_s,
)
from registry.calls.results import SearchPage, WirePage
from registry.client import (
    AnswerInvalid,
    NotAdmitted,
    NotListed,
    ProblemAnswered,
    RegistryBusy,
    TooManyCalls,
)

NOW = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)
GET = ApiCall(method="GET", path="/x")
POST = ApiCall(method="POST", path="/x", is_repeatable=False)
RULE = RetryRule(most=3, longest_pause_s=30, first_pause_s=0.25)


def answer(status: int = 200, body: bytes = b"{}", **headers: str) -> ApiAnswer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return ApiAnswer(status=status, headers=named, body=body)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("Tue, 24 Nov 2026 12:00:20 GMT", 20.0),
        ("Tue, 24 Nov 2026 11:00:00 GMT", 0.0),
        ("", None),
        ("-1", None),
        ("soon", None),
        ("1e9", None),
        ("9" * 5_000, 9_999_999_999.0),
        ("\u0663", None),
    ],
)
def test_retry_after_is_read_or_passed_over(text: str, seconds: float | None) -> None:
    assert retry_after_s(answer(429, retry_after=text), NOW) == seconds


@pytest.mark.parametrize(
    ("call", "status", "retry_after", "tries", "pause_s"),
    [
        pytest.param(GET, 200, None, 1, None, id="an answer"),
        pytest.param(GET, 429, "7", 1, 7.0, id="as it says"),
        pytest.param(POST, 429, "7", 1, 7.0, id="refused, so nothing happened"),
        pytest.param(POST, 503, None, 2, 0.5, id="doubled"),
        pytest.param(GET, 429, "31", 1, None, id="longer than we wait"),
        pytest.param(GET, 429, "9" * 400, 1, None, id="for ever"),
        pytest.param(GET, 429, "1", 4, None, id="often enough"),
        pytest.param(GET, 502, None, 1, 0.25, id="lost on the way"),
        pytest.param(POST, 502, None, 1, None, id="perhaps done"),
        pytest.param(GET, 500, None, 1, None, id="a fault stays one"),
        pytest.param(GET, 404, "1", 1, None, id="not there"),
    ],
)
def test_a_call_is_made_again_only_where_that_is_safe_and_of_use(
    call: ApiCall,
    status: int,
    retry_after: str | None,
    tries: int,
    pause_s: float | None,
) -> None:
    headers = {} if retry_after is None else {"retry_after": retry_after}
    assert RULE.pause_after(call, answer(status, **headers), tries, NOW) == pause_s


@pytest.mark.parametrize(
    ("call", "was_sent", "pause_s"),
    [(GET, True, 0.25), (GET, False, 0.25), (POST, True, None), (POST, False, 0.25)],
)
def test_a_call_that_may_have_arrived_is_repeated_only_if_it_can_be(
    call: ApiCall, was_sent: bool, pause_s: float | None
) -> None:
    assert RULE.pause_after_failure(call, 1, was_sent=was_sent) == pause_s
    assert RULE.pause_after_failure(call, 4, was_sent=False) is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ProblemAnswered),
        (401, NotAdmitted),
        (404, NotListed),
        (410, NotListed),
        (429, TooManyCalls),
        (500, RegistryBusy),
    ],
)
def test_a_refusal_has_its_class_its_code_and_its_way_out(
    status: int, kind: type[ProblemAnswered]
) -> None:
    problem = {"code": "some_code", "detail": "why", "fix": "do so", "pointer": "/q"}
    body = msgspec.json.encode(problem)
    with pytest.raises(ProblemAnswered) as refused:
        decode(answer(status, body, retry_after="7"), dict)
    assert type(refused.value) is kind
    assert (refused.value.code, refused.value.fix) == ("some_code", "do so")
    assert (refused.value.pointer, refused.value.retry_after_s) == ("/q", 7.0)


DEEP = b'{"ranking":{"id":"x"},"results":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"ranking":{"id":"x"},"results":5}',
        b'{"ranking":{"id":null},"results":[]}',
        b'{"ranking":{"id":"x"},"results":[{"site":"a","score":"high"}]}',
        b'{"ranking":{"id":"x"},"results":[5]}',
        b'{"ranking":{"id":"x"},"results":[]',
        DEEP,
    ],
)
def test_what_is_no_answer_is_not_believed(body: bytes) -> None:
    with pytest.raises(AnswerInvalid):
        decode(answer(200, body), WirePage)


@pytest.mark.parametrize("status", [199, 204, 301, 302, 399])
def test_a_redirect_is_not_followed_and_no_answer(status: int) -> None:
    with pytest.raises(AnswerInvalid):
        decode(answer(status, b"", location="http://10.0.0.1/"), dict)


def test_members_of_a_newer_registry_are_passed_over() -> None:
    body = (
        b'{"ranking":{"id":"R.s","eligible":3,"moons":2},"results":[{"site":"a.example",'
        b'"score":71.5,"why":"books tables","colour":"red","actions":[{"action":"book",'
        b'"by":"http","method":"POST","url":"https://a.example/book","extra":1}]}]}'
    )
    page: SearchPage = decode(answer(200, body), WirePage).page(11)
    (result,) = page
    assert (result.host, result.rank, result.score) == ("a.example", 11, 71.5)
    assert result.actions[0].url == "https://a.example/book"
    assert page.ranking.public_id == "R"


def test_members_that_were_not_picked_are_empty() -> None:
    body = b'{"ranking":{"id":"R.s"},"results":[{"why":"books tables"}]}'
    (result,) = decode(answer(200, body), WirePage).page(1)
    assert (result.host, result.rank, result.why) == ("", 1, "books tables")
