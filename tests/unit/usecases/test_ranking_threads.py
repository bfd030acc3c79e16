"""Strangers who search without end take no operator's turn."""

import asyncio
import threading
from functools import partial

import pytest

from registry.errors import Unavailable
from registry.usecases.search import ranking_threads
from registry.usecases.search.ranking_threads import RankingThreads
from tests.waiting import PATIENCE_S

OPERATOR = "operator"


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_an_operator_is_ranked_while_strangers_hold_their_lane() -> None:
    threads, free = RankingThreads(cores=3), threading.Event()
    began: list[int] = []

    def rank(number: int) -> None:
        began.append(number)
        free.wait(PATIENCE_S)

    strangers = [
        asyncio.create_task(threads.run(partial(rank, number), None))
        for number in range(50)
    ]
    try:
        await settle()
        async with asyncio.timeout(PATIENCE_S):
            assert await threads.run(lambda: "ranked", OPERATOR) == "ranked"
        assert len(began) <= 2
    finally:
        free.set()
    await asyncio.gather(*strangers)
    assert sorted(began) == list(range(50))


async def test_an_operator_waits_for_no_more_than_one_stranger_on_the_event_loop() -> (
    None
):
    threads, ranked = RankingThreads(cores=2), list[str | None]()
    askers = [*[None] * 50, OPERATOR, *[None] * 50]
    await asyncio.gather(
        *(
            threads.run(partial(ranked.append, asker), asker, is_short=True)
            for asker in askers
        )
    )
    assert len(ranked) == len(askers)
    assert ranked.index(OPERATOR) <= 1


async def test_no_stranger_begins_while_an_operator_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ranking_threads, "YIELD_MAX_S", PATIENCE_S)
    threads = RankingThreads(cores=2)
    with threads.serving(OPERATOR):
        with threads.serving(OPERATOR):
            stranger = asyncio.create_task(threads.run(str, None))
            await settle()
        await threads.run(str, OPERATOR)
        await settle()
        assert not stranger.done()
    async with asyncio.timeout(PATIENCE_S):
        assert await stranger == ""


async def test_a_stranger_whose_turn_is_long_due_begins_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ranking_threads, "YIELD_MAX_S", 0.001)
    threads = RankingThreads(cores=1)
    with threads.serving(OPERATOR):
        async with asyncio.timeout(PATIENCE_S):
            assert await threads.run(str, None) == ""


async def test_strangers_wait_in_a_line_of_bounded_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ranking_threads, "WAITING_MOST", 3)
    threads = RankingThreads(cores=2)
    with threads.serving(OPERATOR):
        waiting = [asyncio.create_task(threads.run(str, None)) for _ in range(3)]
        await settle()
        with pytest.raises(Unavailable) as refused:
            await threads.run(str, None)
        assert refused.value.problem.code == "searches_waiting"
        assert await threads.run(str, OPERATOR) == ""
    assert await asyncio.gather(*waiting) == ["", "", ""]
    assert await threads.run(str, None) == ""


async def test_a_ranking_that_fails_leaves_its_place() -> None:
    threads = RankingThreads(cores=1)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            await threads.run(lambda: 1 // 0, None)
    assert await threads.run(str, None) == ""
