"""Charts: bars with the whiskers of their intervals, on a drawing of fixed width.

Read without colour: a bar is the figure, the line across its end the 95% interval, the
diamond what would be expected. Lengths are in the units of the drawing.
"""

import math
from dataclasses import dataclass

from registry.reports.metric import ChartInput

WIDTH, LABEL_WIDTH, MARGIN = 700, 240, 24
ROW_HEIGHT, AXIS_HEIGHT = 26, 30
_SPAN = WIDTH - LABEL_WIDTH - MARGIN
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 20, 25)
_TICKS_MAX = 6
_LABEL_LENGTH = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Bar in units of the drawing. y: of its middle; the rest: from the left."""

    label: str
    y: float
    end: float
    low: float
    high: float
    expected: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Line of the axis."""

    x: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Drawing, laid out."""

    title: str
    height: int
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    start: int = LABEL_WIDTH
    width: int = WIDTH


def draw(chart: ChartInput) -> Chart:
    """Return a chart's drawing. Its values are finite, 0 or more."""
    bars, whole = chart.bars, chart.whole
    most = max((max(bar.estimate.high, bar.expected or 0) for bar in bars), default=0)
    step, top = _scale(most / whole)

    def at(value: float) -> float:
        return round(LABEL_WIDTH + _SPAN * min(1.0, value / whole / top), 1)

    return Chart(
        title=chart.title,
        height=ROW_HEIGHT * len(bars) + AXIS_HEIGHT,
        bars=tuple(
            Bar(
                label=_shorten(bar.label),
                y=ROW_HEIGHT * (number + 0.5),
                end=at(bar.estimate.value),
                low=at(bar.estimate.low),
                high=at(bar.estimate.high),
                expected=None if bar.expected is None else at(bar.expected),
            )
            for number, bar in enumerate(bars)
        ),
        ticks=tuple(
            Tick(x=at(whole * step * number), text=f"{100 * step * number:g}%")
            for number in range(round(top / step) + 1)
        ),
    )


def _scale(most: float) -> tuple[float, float]:
    """Return a round step, and its multiple that holds the most."""
    step = next((step for step in _STEPS if most <= step * _TICKS_MAX), most)
    return step, step * max(1, math.ceil(round(most / step, 9)))


def _shorten(label: str) -> str:
    whole = len(label) <= _LABEL_LENGTH
    return label if whole else label[: _LABEL_LENGTH - 1] + "…"
