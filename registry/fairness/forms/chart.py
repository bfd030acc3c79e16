"""Bars with the whiskers of their intervals, as places on a drawing of fixed width.

Read without colour: a bar is the figure, the line across its end the 95% interval, the
diamond what would be expected. Lengths are in the units of the drawing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from registry.fairness.report.estimate import Estimate

WIDTH, LABEL_WIDTH, MARGIN = 700, 240, 24
ROW_HEIGHT, AXIS_HEIGHT = 26, 30
_SPAN = WIDTH - LABEL_WIDTH - MARGIN
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 25)
_TICKS_MAX = 6
_LABEL_LENGTH = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a bar shows. expected: None where nothing is."""

    label: str
    estimate: Estimate
    expected: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """y: of its middle. end, low, high, expected: from the left of the drawing."""

    label: str
    y: float
    end: float
    low: float
    high: float
    expected: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    x: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    height: int
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    start: int = LABEL_WIDTH
    width: int = WIDTH


def draw(told: Sequence[Told], whole: float = 1.0) -> Chart:
    """whole: what 100% is among the values, which are 0 or more and finite."""
    most = max((max(one.estimate.high, one.expected or 0) for one in told), default=0)
    step, top = _scale(most / whole)

    def place(value: float) -> float:
        return round(LABEL_WIDTH + _SPAN * min(1.0, value / whole / top), 1)

    return Chart(
        height=ROW_HEIGHT * len(told) + AXIS_HEIGHT,
        bars=tuple(
            Bar(
                label=_shorten(one.label),
                y=ROW_HEIGHT * (number + 0.5),
                end=place(one.estimate.value),
                low=place(one.estimate.low),
                high=place(one.estimate.high),
                expected=None if one.expected is None else place(one.expected),
            )
            for number, one in enumerate(told)
        ),
        ticks=tuple(
            Tick(x=place(whole * step * number), text=f"{100 * step * number:g}%")
            for number in range(round(top / step) + 1)
        ),
    )


def _scale(most: float) -> tuple[float, float]:
    """A round step, and its multiple that holds the most."""
    step = next((one for one in _STEPS if most <= one * _TICKS_MAX), most)
    return step, step * max(1, math.ceil(round(most / step, 9)))


def _shorten(label: str) -> str:
    whole = len(label) <= _LABEL_LENGTH
    return label if whole else label[: _LABEL_LENGTH - 1] + "…"
