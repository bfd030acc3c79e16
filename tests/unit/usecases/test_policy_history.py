"""What changed from one policy to the next."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from registry.db.log.policies import LoggedPolicy
from registry.interfaces.web.page_wording import describe_changes
from registry.ranking.policy import DEFAULT_POLICY, Policy
from registry.usecases.log.policy_history import Change, find_changes, trace_policies

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def logged(policy: Policy, leaf_index: int) -> LoggedPolicy:
    return LoggedPolicy(
        digest=policy.digest,
        body=policy.canonical_json,
        record_id="0" * 26,
        record=json.dumps({"code": f"sha256:{leaf_index:064}"}).encode(),
        leaf_index=leaf_index,
        accepted_at=NOON,
        published_at=NOON,
    )


def test_newest_policy_comes_first_with_what_changed() -> None:
    words = DEFAULT_POLICY.stop_words
    changed = replace(
        DEFAULT_POLICY, name="fair-next", scored_terms=9, stop_words=(*words[1:], "zzz")
    )
    newest, first = trace_policies([logged(DEFAULT_POLICY, 0), logged(changed, 7)])
    assert (newest.name, first.name) == ("fair-next", DEFAULT_POLICY.name)
    assert first.changes == ()
    assert newest.code_digest == f"sha256:{7:064}"
    assert newest.changes == (
        Change(constant="name", before=DEFAULT_POLICY.name, after="fair-next"),
        Change(constant="scored_terms", before=DEFAULT_POLICY.scored_terms, after=9),
        Change(constant="stop_words", added=("zzz",), removed=(words[0],)),
    )
    assert describe_changes(newest.changes) == (
        f"name: {DEFAULT_POLICY.name} to fair-next; "
        f"scored_terms: {DEFAULT_POLICY.scored_terms} to 9; "
        "stop_words: 1 words more, 1 fewer"
    )


def test_no_policy_is_no_history() -> None:
    assert trace_policies([]) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            {"a": 1}, {"a": 1}, "no constant: other code ranks by it", id="the same"
        ),
        pytest.param({}, {"a": 1}, "a: none to 1", id="a new constant"),
        pytest.param({"a": 1}, {}, "a: 1 to none", id="a constant less"),
        pytest.param(
            {"a": ["x", "y"]}, {"a": ["y", "x"]}, "a: another order", id="order"
        ),
        pytest.param({"a": 1}, {"a": ["x"]}, "a: 1 to ['x']", id="another kind"),
    ],
)
def test_changes_in_words(before: object, after: object, expected: str) -> None:
    assert describe_changes(find_changes(before, after)) == expected
