"""The trace of a visit, as it is printed: complete, and harmless whatever a site sent."""

import io
import json
from typing import Any

import msgspec
import pytest
from rich.console import Console

from crawler import trace
from registry.cli.service.crawling import progress_table
from registry.cli.service.tracing import TraceWriter, duration
from registry.terminal.printable import printable

ESCAPES = "\x1b[2J\x1b]0;owned\x07\r\n\x9b31m\u202egnp.exe\u200b\x00\u2028"
MARKUP = "[bold red]x[/] [link=https://evil.io]y[/link] :skull:"
HOSTILE = ESCAPES + MARKUP
FACTS = {"code": "tls", "detail": HOSTILE, "fix": HOSTILE}

EVENTS: tuple[trace.Event, ...] = (
    trace.VisitBegun(host=HOSTILE, declared=[]),
    trace.VisitBegun(host=HOSTILE, declared=[HOSTILE]),
    trace.Resolved(
        host=HOSTILE, addresses=(trace.Vetted(address=HOSTILE, allowed=False),)
    ),
    trace.RobotsFetched(host=HOSTILE, code="tls", detail=HOSTILE),
    trace.RobotsApply(host=HOSTILE, agent="*", rules=1, permits="some"),
    trace.RequestSent(url=HOSTILE, found_by="linked", conditional=True),
    trace.Redirected.by(HOSTILE, HOSTILE),
    trace.Answered(
        url=HOSTILE,
        final_url=HOSTILE[1:],
        status=200,
        content_type=HOSTILE,
        body_bytes=1,
        elapsed_ms=1,
    ),
    trace.Absent(url=HOSTILE, soft=True, elapsed_ms=1),
    trace.NotTaken(url=HOSTILE, status=0, elapsed_ms=0, **FACTS),
    trace.PassedOver(url=HOSTILE),
    trace.Recognised(
        url=HOSTILE,
        format="wab",
        dialect=HOSTILE,
        conformance="strict",
        actions=1,
        deviations=0,
    ),
    trace.Unrecognised(url=HOSTILE, **FACTS),
    trace.Linked(page=HOSTILE, url=HOSTILE, format="wab"),
    trace.RecordRead(name=HOSTILE, records=1, endpoint=HOSTILE),
    trace.Noted(**FACTS),
    trace.VisitEnded(documents=1, unchanged=0, absent=0, failures=0),
    trace.Understood(
        name=HOSTILE,
        category=HOSTILE,
        actions=2,
        named=[HOSTILE],
        documents=[
            trace.Reading(
                url=HOSTILE,
                format="wab",
                dialect=HOSTILE,
                conformance="strict",
                signature="unsigned",
                deviations=0,
            )
        ],
        problems=0,
    ),
    trace.NotUnderstood(**FACTS),
    trace.Leased(site_id=1, fence=2, lease_s=60),
    trace.NotLeased(host=HOSTILE, why="leased"),
    trace.Scheduled(result=HOSTILE, code=HOSTILE, earliest_s=1, latest_s=90_000),
)


def printed(*events: trace.Event, writer: TraceWriter | None = None) -> str:
    """On a terminal with colours, which rich is then told to leave out."""
    out = io.StringIO()
    console = Console(file=out, width=10_000, no_color=True, color_system=None)
    writer = writer or TraceWriter()
    for event in events:
        for line in writer.lines(msgspec.to_builtins(event)):
            console.print(line, soft_wrap=True)
    return out.getvalue()


@pytest.mark.parametrize(
    "event",
    EVENTS,
    ids=[f"{n}-{type(event).__name__}" for n, event in enumerate(EVENTS)],
)
def test_nothing_that_a_site_sent_reaches_the_terminal_as_it_is(
    event: trace.Event,
) -> None:
    output = printed(event)
    assert output
    assert all(character.isprintable() for character in output.replace("\n", ""))


def test_each_event_has_its_line() -> None:
    direct = set(trace.Event.__subclasses__())
    assert {type(event) for event in EVENTS} == {*direct, *trace.Noted.__subclasses__()}


def test_markup_is_shown_and_not_obeyed() -> None:
    assert MARKUP in printed(trace.Unrecognised(url="https://a.io/", **FACTS))


def test_names_of_events_are_stable() -> None:
    names = [msgspec.to_builtins(event)["event"] for event in EVENTS]
    assert list(dict.fromkeys(names)) == [
        *("visit_begun", "resolved", "robots_fetched", "robots_apply", "asked"),
        *("redirected", "answered", "absent", "not_taken", "passed_over"),
        *("recognised", "unrecognised", "linked", "record_read", "noted"),
        *("visit_ended", "understood", "not_understood", "leased", "not_leased"),
        "scheduled",
    ]


def test_an_event_of_a_newer_crawler_is_passed_over() -> None:
    assert list(TraceWriter().lines({"event": "dreamt", "of": "sheep"})) == []


def test_what_the_dns_says_is_told_again_only_if_it_is_something_else() -> None:
    def resolved(address: str, *, allowed: bool) -> trace.Resolved:
        vetted = trace.Vetted(address=address, allowed=allowed)
        return trace.Resolved(host="a.io", addresses=(vetted,))

    public = resolved("8.8.8.8", allowed=True)
    output = printed(public, public, resolved("10.0.0.1", allowed=False))
    assert output.splitlines() == [
        "  dns        a.io: 8.8.8.8 allowed",
        "  dns        a.io: 10.0.0.1 NOT ALLOWED",
    ]


def test_robots_of_the_cache_are_told_apart() -> None:
    rules = trace.RobotsApply(host="a.io", agent="", rules=0, permits="everything")
    assert "from the cache" in printed(rules)
    assert "from the cache" not in printed(trace.RobotsFetched(host="a.io"), rules)


def test_addresses_of_the_host_are_told_by_their_paths() -> None:
    begun = trace.VisitBegun(host="a.io", declared=[])
    request_sent = trace.RequestSent(
        url="https://a.io/b", found_by="page", conditional=False
    )
    other = trace.RequestSent(url="https://c.io/b", found_by="page", conditional=True)
    assert printed(begun, request_sent, other).splitlines()[1:] == [
        "  ask        /b (page)",
        "  ask        https://c.io/b (page, conditionally)",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain ä ☕", "plain ä ☕", id="what can be printed"),
        pytest.param("\x1b[0m", r"\u001b[0m", id="a control"),
        pytest.param("a\nb", r"a\u000ab", id="a new line"),
        pytest.param("\u202e", r"\u202e", id="a mark of direction"),
        pytest.param("\U000e0041", r"\ue0041", id="a tag"),
        pytest.param("x" * 400, "x" * 300 + "…", id="too long"),
    ],
)
def test_harmless_text_is_printable_and_short(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0 s"), (119, "119 s"), (7200, "2 h"), (200_000, "2 d")],
)
def test_durations_are_reported_in_one_unit(seconds: float, expected: str) -> None:
    assert duration(seconds) == expected


@pytest.mark.parametrize(
    ("freshness", "expected"), [(None, "not known yet"), (0.8766, "87.7% of copies")]
)
def test_progress_is_a_table(freshness: float | None, expected: str) -> None:
    figures: dict[str, Any] = {
        "due": {"crawl": 3, "probe": 0},
        "lag_s": 30,
        "under_way": {},
        "leased": {"crawl": 7},
        "ended": {"done": 6},
        "visits": {"fetched": 6},
        "probes": {},
        "proofs": {},
        "requests": 90,
        "requests_per_s": 4.5,
        "circuits": {"open": 2, "closed": 1},
        "freshness": freshness,
    }
    out = io.StringIO()
    Console(file=out, width=100).print(progress_table(json.loads(json.dumps(figures))))
    for item in (
        "3 crawl; longest 30 s",
        "7 crawl",
        "90, 4.5 a second",
        "2 open",
        expected,
    ):
        assert item in out.getvalue()
