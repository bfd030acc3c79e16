"""A reading of a log, driven by a function that has its files."""

from collections.abc import Callable, Generator

from registry.tlog.follow import FollowedLog


def read_log(
    reading: Generator[str, bytes | None, FollowedLog],
    fetch: Callable[[str], bytes | None],
) -> FollowedLog:
    """Drive a reading. fetch: returns the bytes at a path, None if there are none."""
    try:
        path = next(reading)
        while True:
            path = reading.send(fetch(path))
    except StopIteration as done:
        followed: FollowedLog = done.value
        return followed
