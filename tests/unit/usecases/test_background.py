"""Work in a thread of its own ends where it is awaited, at whatever niceness."""

import asyncio
import os
import sys

import pytest

from registry.usecases.background import in_background
from tests.waiting import PATIENCE_S

AWAITED_S = PATIENCE_S
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="threads have no priorities of their own here"
)


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


async def test_priority_that_cannot_be_set_ends_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_which: int, _who: int, _niceness: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refuse)
    with pytest.raises(PermissionError):
        await asyncio.wait_for(in_background(lambda: 7), AWAITED_S)
