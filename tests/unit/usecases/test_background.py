"""Work in a thread of its own ends where it is awaited; looks for work come at its pace."""

import asyncio
import os
import sys

import pytest
from structlog.testing import capture_logs

from registry.usecases import background
from registry.usecases.background import (
    LONGEST_PAUSE_S,
    Cadence,
    follow,
    in_background,
    unfailing,
)
from tests.waiting import PATIENCE_S

AWAITED_S = PATIENCE_S
with_priorities = pytest.mark.skipif(
    sys.platform != "linux", reason="threads have no priorities of their own here"
)


@with_priorities
@pytest.mark.parametrize("own_niceness", [0, 5, 10, 19])
async def test_process_of_any_niceness_does_its_work(
    own_niceness: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ordinary user's thread may become nicer, never less nice."""

    def set_priority(_which: int, _who: int, niceness: int) -> None:
        if niceness < own_niceness:
            raise PermissionError
        given.append(niceness)

    given: list[int] = []
    monkeypatch.setattr(os, "getpriority", lambda _which, _who: own_niceness)
    monkeypatch.setattr(os, "setpriority", set_priority)
    assert await asyncio.wait_for(in_background(lambda: 7, 5), AWAITED_S) == 7
    assert given == [max(5, own_niceness)]


@with_priorities
async def test_priority_that_cannot_be_set_ends_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_which: int, _who: int, _niceness: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refuse)
    with pytest.raises(PermissionError):
        await asyncio.wait_for(in_background(lambda: 7), AWAITED_S)


def test_pauses_grow_while_there_is_no_work_and_are_the_shortest_after_some() -> None:
    cadence = Cadence(0.1)
    assert cadence.after(3) == 0.1
    pauses = [cadence.after(0) for _ in range(12)]
    assert pauses == sorted(pauses)
    assert pauses[0] < 0.13, "work that comes often waits hardly longer"
    assert pauses[-1] == LONGEST_PAUSE_S
    assert cadence.after(1) == 0.1


def test_pause_that_is_long_anyway_stays_as_it_is() -> None:
    cadence = Cadence(2.0)
    assert [cadence.after(work) for work in (0, 0, 1, 0)] == [2.0] * 4


async def test_looks_are_as_far_apart_as_what_came_of_them_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    works = [False] * 9 + [True]
    pauses: list[float] = []

    async def look() -> bool:
        return works.pop(0)

    async def sleep(pause_s: float) -> None:
        pauses.append(pause_s)
        if not works:
            raise asyncio.CancelledError

    monkeypatch.setattr(asyncio, "sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        await follow(look, pause_s=0.1, lost="lost")
    assert pauses[8:] == [LONGEST_PAUSE_S, 0.1]


async def test_work_that_fails_is_logged_and_begins_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its process would go on without it, and nobody would know."""
    runs = iter([ValueError("a query"), KeyError("a query"), None])

    async def work() -> None:
        if failure := next(runs):
            raise failure

    monkeypatch.setattr(background, "DATABASE_PAUSE_S", 0.0)
    with capture_logs() as lines:
        await asyncio.wait_for(unfailing(work), AWAITED_S)
    assert [line["kind"] for line in lines] == ["ValueError", "KeyError"]
    assert {line["event"] for line in lines} == {"task_failed"}
    assert "a query" not in str(lines)
    assert lines[0]["at"][-1].endswith(" work")


async def test_an_outage_is_logged_as_it_begins_and_when_it_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = [True, False, False, False, True, True, False, True]

    async def look() -> None:
        if not looks.pop(0):
            raise ConnectionRefusedError

    async def sleep(_seconds: float) -> None:
        if not looks:
            raise asyncio.CancelledError

    monkeypatch.setattr(asyncio, "sleep", sleep)
    with capture_logs() as lines, pytest.raises(asyncio.CancelledError):
        await follow(look, pause_s=0.1, lost="lost")
    refused = {
        "event": "lost",
        "kind": "ConnectionRefusedError",
        "log_level": "warning",
    }
    back = {"event": "database_back", "after": "lost", "log_level": "info"}
    assert lines == [
        refused,
        {**back, "failures": 3},
        refused,
        {**back, "failures": 1},
    ]
