"""How much work a call does, counted in executed lines: a clock would decide nothing."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def executed_lines(work: Callable[[], object]) -> int:
    """Lines of Python; a regular expression counts as the line that calls it."""
    lines = 0

    def trace(_: FrameType, event: str, __: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Four times the input, at most five times the lines, beside a fixed cost."""
    work(size)  # caches fill, imports happen
    small = executed_lines(lambda: work(size))
    large = executed_lines(lambda: work(4 * size))
    assert large <= 5 * small + 1_000, (small, large)
