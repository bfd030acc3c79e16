"""An owner is told of each change once, and of nothing else."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.db.sites.listed_sites import StoredKey
from registry.formats.document import StoredDocument
from registry.identity.keys.key_source import KeyReference
from registry.identity.keys.key_trust import KeyState, KnownKey
from registry.usecases.sites.notices import (
    KINDS,
    MAX_DETAIL,
    MAX_REASONS,
    MAX_STANDING,
    MISSING,
    Condition,
    ConditionChanges,
    Conditions,
    Topic,
    compare,
    compare_probe,
    document_notices,
    key_notices,
    make_notice,
)

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
URL = "https://shop.example/agent-bridge.json"


def condition(topic: Topic, url: str = "", problem: str = "x") -> Condition:
    return Condition(topic=topic, detail="so it is", fix="", problem=problem, url=url)


def codes(condition_changes: ConditionChanges) -> list[str]:
    return [notice.code for notice in condition_changes.notices]


def play(*visits: list[Condition]) -> list[list[str]]:
    standing: Conditions = {}
    messages = []
    for day, visit in enumerate(visits):
        compared = compare(standing, visit, NOON + timedelta(days=day))
        standing = compared.standing
        messages.append(codes(compared))
    return messages


def test_what_lasts_is_told_when_it_begins_and_when_it_is_over() -> None:
    down = [condition("unreachable")]
    assert play([], down, down, down, [], []) == [
        [],
        ["site_unreachable"],
        [],
        [],
        ["site_reachable"],
        [],
    ]


def test_each_cause_of_the_same_outage_is_reported_once() -> None:
    """403, then an expired certificate, then 500: one notice told of the 403 alone."""
    timeout = [condition("unreachable", problem="timeout")]
    refused = [condition("unreachable", problem="connect")]
    begun = ["site_unreachable"]
    assert play(timeout, refused, timeout, refused, []) == [
        *(begun, begun, [], []),
        ["site_reachable"],
    ]


def test_causes_without_end_are_a_few_notices() -> None:
    outages = [[condition("unreachable", problem=f"cause {n}")] for n in range(30)]
    assert play(*outages).count(["site_unreachable"]) == MAX_REASONS


def test_condition_from_before_an_upgrade_is_not_told_anew() -> None:
    old = {"unreachable  ": {"since": NOON.isoformat(), "seen": 3}}
    assert compare(old, [condition("unreachable")], NOON).notices == ()


def test_document_with_another_trouble_is_not_told_to_be_well() -> None:
    expired = [condition("expired", URL)]
    broken = [condition("refused", URL, "json_syntax")]
    assert play(expired, broken, []) == [
        ["document_expired"],
        ["document_refused"],
        ["document_stands"],
    ]


def test_what_could_not_be_looked_at_stands_as_it_stood() -> None:
    begun = compare({}, [condition("expired", URL)], NOON)
    (key,) = begun.standing
    hidden = compare(begun.standing, [], NOON, unseen=[key])
    assert (hidden.standing, hidden.notices) == (begun.standing, ())
    assert codes(compare(hidden.standing, [], NOON)) == ["document_stands"]


def test_it_is_remembered_since_when_and_how_often_it_was_seen() -> None:
    standing: Conditions = {}
    for day in range(3):
        at = NOON + timedelta(days=day)
        standing = compare(standing, [condition("missing")], at).standing
    since = NOON.isoformat()
    assert standing == {MISSING: {"since": since, "seen": 3, "told": ["x"]}}


def test_hundred_troubles_at_once_are_a_few_notices() -> None:
    result = [condition("refused", f"{URL}?{n}") for n in range(100)]
    first = compare({}, result, NOON)
    assert len(first.notices) == len(first.standing) == MAX_STANDING
    again = compare(first.standing, reversed(result), NOON)
    assert again.notices == (), "whatever the order"


TOPICS = st.sampled_from(["robots", "unreachable", "missing", "expired", "bridge"])
FACTS = st.lists(
    st.builds(condition, TOPICS, st.sampled_from(["", URL, f"{URL}?2"])), max_size=6
)


@given(FACTS, FACTS)
def test_the_same_visit_twice_tells_nothing_new(
    first: list[Condition], second: list[Condition]
) -> None:
    before = compare({}, first, NOON)
    after = compare(before.standing, second, NOON)
    assert compare(after.standing, second, NOON).notices == ()
    assert {notice.code for notice in after.notices} <= KINDS.keys()


def outcomes(*seen: str) -> list[list[str]]:
    standing: Any = {}
    messages = []
    for item in seen:
        compared = compare_probe(standing, item, url=URL, detail="")
        standing = compared.standing
        messages.append([notice.detail for notice in compared.notices])
    return messages


def test_probe_that_sees_something_else_twice_is_reported_once() -> None:
    told_notices = outcomes("alive", *["unreachable"] * 4, "alive", "alive", "alive")
    assert [len(item) for item in told_notices] == [0, 0, 1, 0, 0, 0, 1, 0]
    assert "unreachable" in told_notices[2][0]
    assert "it was alive, before that unreachable" in told_notices[6][0]


def test_site_that_was_never_alive_is_not_told_to_have_been() -> None:
    told_notices = outcomes(*["wrong_protocol"] * 3, "alive", "alive")
    assert [len(item) for item in told_notices] == [0, 1, 0, 0, 1]
    assert "never alive before" in told_notices[1][0]
    assert "before that wrong_protocol" in told_notices[4][0]
    assert not any(outcomes("alive", "alive", "alive"))


def test_probe_that_flutters_is_no_news() -> None:
    told_notices = outcomes(*["alive", "unreachable", "alive", "auth_wall"] * 10)
    assert not any(told_notices)


@pytest.mark.parametrize(
    "text",
    ["\0", "a\x08b", "\x1b[31m", "\ud800", "\ufffe", "\uffff", "\x7f\x80"],
    ids=ascii,
)
def test_what_no_text_may_hold_is_replaced(text: str) -> None:
    notice = make_notice("document_refused", text, fix=text, url=text)
    for told_notices in (notice.detail, notice.fix, notice.url or ""):
        assert "\ufffd" in told_notices
        assert told_notices.encode().decode().isprintable() or "\ufffd" in told_notices
        assert not set(told_notices) & set(text) - {"a", "b", "[", "3", "1", "m"}


def test_long_text_is_cut() -> None:
    assert len(make_notice("document_refused", "x" * 100_000).detail) == MAX_DETAIL


def key(state: KeyState, kid: str = "k") -> StoredKey:
    reference = KeyReference(source_url="https://shop.example/keys", kid=kid)
    known = KnownKey(
        reference=reference, state=state, first_seen_at=NOON, last_seen_at=NOON
    )
    return StoredKey(known=known, jwk={})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param([], [key("trusted")], [], id="first registration"),
        pytest.param([key("trusted")], [key("trusted")], [], id="nothing changed"),
        pytest.param(
            [key("trusted")],
            [key("trusted"), key("cooling", "n")],
            ["key_cooling"],
            id="new key",
        ),
        pytest.param(
            [key("cooling")], [key("trusted")], ["key_trusted"], id="promoted"
        ),
        pytest.param([key("trusted")], [key("absent")], ["key_absent"], id="gone"),
        pytest.param([key("trusted")], [key("revoked")], ["key_revoked"], id="revoked"),
        pytest.param(
            [key("trusted")],
            [key("trusted"), key("absent", "n")],
            [],
            id="never trusted, not there",
        ),
    ],
)
def test_keys_are_told_of_when_their_standing_changes(
    before: list[StoredKey], after: list[StoredKey], expected: list[str]
) -> None:
    assert [notice.code for notice in key_notices(before, after)] == expected


DOCUMENT = StoredDocument(
    url=URL,
    format="wab",
    dialect="1.0",
    conformance="tolerated",
    provenance={},
    signature={"status": "unsigned"},
    deviations=[],
    semantic_hash=b"",
    body=b"{}",
    content_type="application/json",
    etag=None,
    last_modified=None,
    first_fetched_at=NOON,
    fetched_at=NOON,
)


def deviating(*pointers: str) -> StoredDocument:
    result = [
        {"pointer": pointer, "rule": "type", "detail": "is no text", "fix": "Quote it."}
        for pointer in pointers
    ]
    return replace(DOCUMENT, deviations=result)


def test_only_new_deviations_are_reported_and_at_once() -> None:
    before = {URL: deviating("/a", "/b")}
    after = [deviating("/b", *(f"/c/{n}" for n in range(50)))]
    (notice,) = document_notices(before, after, refused=())
    assert (notice.code, notice.url, notice.fix) == ("deviations_new", URL, "Quote it.")
    assert notice.detail == (
        "/c/0: is no text; /c/1: is no text; /c/2: is no text; and 47 more"
    )
    assert document_notices({URL: after[0]}, after, refused=()) == []


def test_documents_that_come_and_go_are_reported() -> None:
    other = replace(DOCUMENT, url=f"{URL}?2")
    told_notices = document_notices({URL: DOCUMENT}, [other], refused=())
    assert [(notice.code, notice.url) for notice in told_notices] == [
        ("document_gone", URL),
        ("document_new", other.url),
    ]
    assert document_notices({}, [other], refused=()) == [], "the first of a site"
    messages = document_notices({URL: DOCUMENT}, [other], refused=[URL])
    assert [notice.code for notice in messages] == ["document_new"], (
        "a condition tells of it"
    )


def test_every_code_is_in_the_documentation() -> None:
    page = Path(__file__).parents[3] / "docs" / "notices.md"
    listed = re.findall(r"^\| `(\w+)` \|", page.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(KINDS)
