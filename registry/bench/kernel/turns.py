"""Several searchers measured in turns, so that their times can stand in a ratio."""

import time
from collections.abc import Callable, Sequence
from typing import Any

TURN = 20
"""Requests. The machine's pace changes within seconds, and a turn takes some hundredths of
one. Only the first search of a turn finds another engine's memory in the caches."""

Searcher = tuple[Callable[[Any], object], Sequence[Any]]
"""A search function, and its requests: as many as the other searchers have."""


def milliseconds_in_turns(*searchers: Searcher) -> list[list[float]]:
    """Measure the thread's CPU time of each request, by searcher.

    A turn of each goes before, which is not counted.
    """
    for search, requests in searchers:
        _milliseconds(search, requests[:TURN])
    spent: list[list[float]] = [[] for _ in searchers]
    for start in range(0, max(len(requests) for _, requests in searchers), TURN):
        for own, (search, requests) in zip(spent, searchers, strict=True):
            own.extend(_milliseconds(search, requests[start : start + TURN]))
    return spent


def _milliseconds(
    search: Callable[[Any], object], requests: Sequence[Any]
) -> list[float]:
    spent = []
    for request in requests:
        started = time.thread_time()
        search(request)
        spent.append((time.thread_time() - started) * 1000)
    return spent
