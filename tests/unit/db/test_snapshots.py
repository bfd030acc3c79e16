"""Every transaction's rows are asked for once: after it ended, and never before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.db.engine.snapshots import Snapshot, UnreadRange, ended_between


def xids(parts: list[UnreadRange]) -> list[int]:
    assert all(site == 0 for _, site in (part.end for part in parts)), "whole parts"
    return [xid for part in parts for xid in range(part.first, part.end[0])]


def seen_at(moment: int, spans: list[tuple[int, int]]) -> Snapshot:
    """spans: when each transaction began and how long it ran, in the order of ids."""
    begun = [n for n, (began, _) in enumerate(spans) if began <= moment]
    running = {n for n in begun if sum(spans[n]) > moment}
    following = len(begun)
    return Snapshot(min(running, default=following), following, frozenset(running))


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20)), max_size=20),
    st.lists(st.integers(0, 60), max_size=8),
)
def test_each_transaction_is_told_of_once_after_it_ended(
    spans: list[tuple[int, int]], looks: list[int]
) -> None:
    spans.sort()
    before, seen_ids = Snapshot.at(0), []
    for moment in [*sorted(looks), 100]:
        after = seen_at(moment, spans)
        new = xids(ended_between(before, after))
        assert all(sum(spans[xid]) <= moment for xid in new)
        seen_ids += new
        before = after
    assert sorted(seen_ids) == list(range(len(spans)))


@pytest.mark.parametrize(
    ("expected", "snapshot"),
    [
        pytest.param("10:10:", Snapshot(10, 10), id="nothing runs"),
        pytest.param(
            "10:20:10,14", Snapshot(10, 20, frozenset({10, 14})), id="two run"
        ),
    ],
)
def test_a_snapshot_is_read_as_the_database_tells_it(
    expected: str, snapshot: Snapshot
) -> None:
    assert Snapshot.parse(expected) == snapshot


def test_nothing_ended_in_an_earlier_state_of_the_database() -> None:
    assert ended_between(Snapshot.at(50), Snapshot.at(20)) == []
