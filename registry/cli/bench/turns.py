"""Several searchers asked in turns, so that what they take stands in a ratio."""

import time
from collections.abc import Callable, Sequence
from typing import Any

TURN = 20
"""Requests. The machine's pace changes within seconds, and a turn takes some hundredths of
one. But a search after one of another engine would find that engine's memory in the
caches, which no server's does: of a turn only the first one does."""

Asked = tuple[Callable[[Any], object], Sequence[Any]]
"""What searches, and its requests: as many as anyone's."""


def milliseconds_in_turns(*asked: Asked) -> list[list[float]]:
    """CPU time of each request, of one thread, for each searcher.

    Each has a turn before, which is not counted.
    """
    for search, requests in asked:
        _milliseconds(search, requests[:TURN])
    spent: list[list[float]] = [[] for _ in asked]
    for start in range(0, max(len(requests) for _, requests in asked), TURN):
        for own, (search, requests) in zip(spent, asked, strict=True):
            own.extend(_milliseconds(search, requests[start : start + TURN]))
    return spent


def _milliseconds(
    search: Callable[[Any], object], requests: Sequence[Any]
) -> list[float]:
    spent = []
    for one in requests:
        started = time.thread_time()
        search(one)
        spent.append((time.thread_time() - started) * 1000)
    return spent
