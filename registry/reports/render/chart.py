"""Charts: figures with the whiskers of their intervals, on a drawing of fixed width.

Read without colour. A share is a bar from zero; a gap is a dot on either side of zero,
over the band in which labels drawn by lot would put it. A diamond marks what would be
expected. Lengths are in the units of the drawing, which is as wide as a small screen.
"""

import math
from dataclasses import dataclass

from registry.reports.metric import BarInput, ChartInput
from registry.reports.wording import format_percent, format_points

WIDTH, MARGIN = 380, 20
ROW_HEIGHT, AXIS_HEIGHT = 42, 30
_SPAN = WIDTH - 2 * MARGIN
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 25)
_TICKS_MAX, _TICKS_A_SIDE = 6, 3
_LABEL_LENGTH = 44


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Figure in units of the drawing. y: of its middle; the rest: from the left.

    end: of the value. band: its ends, None without one.
    """

    label: str
    text: str
    y: float
    end: float
    low: float
    high: float
    expected: float | None
    band: tuple[float, float] | None
    is_finding: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Line of the axis."""

    x: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Drawing, laid out. zero: from the left."""

    title: str
    height: int
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    zero: float
    is_of_gaps: bool
    width: int = WIDTH


def draw(chart: ChartInput) -> Chart:
    """Return a chart's drawing. Its values are finite, and 0 or more but for gaps."""
    whole, gaps = chart.whole, chart.is_of_gaps
    most = max((_reach(bar) for bar in chart.bars), default=0)
    step, top = _scale(most / whole, _TICKS_A_SIDE if gaps else _TICKS_MAX)
    least = -top if gaps else 0.0

    def at(value: float) -> float:
        part = (value / whole - least) / (top - least)
        return round(MARGIN + _SPAN * min(1.0, max(0.0, part)), 1)

    def lay_out(number: int, bar: BarInput) -> Bar:
        value = bar.estimate.value
        return Bar(
            label=_shorten(bar.label),
            text=format_points(value) if gaps else format_percent(value / whole),
            y=ROW_HEIGHT * number + 30,
            end=at(value),
            low=at(bar.estimate.low),
            high=at(bar.estimate.high),
            expected=None if bar.expected is None else at(bar.expected),
            band=None if bar.band is None else (at(bar.band.low), at(bar.band.high)),
            is_finding=bar.is_finding,
        )

    marks = range(round(least / step), round(top / step) + 1)
    return Chart(
        title=chart.title,
        height=ROW_HEIGHT * len(chart.bars) + AXIS_HEIGHT,
        bars=tuple(lay_out(number, bar) for number, bar in enumerate(chart.bars)),
        ticks=tuple(
            Tick(
                x=at(whole * step * mark),
                text=_name_tick(100 * step * mark, is_of_gaps=gaps),
            )
            for mark in marks
        ),
        zero=at(0.0),
        is_of_gaps=gaps,
    )


def _name_tick(percent: float, *, is_of_gaps: bool) -> str:
    if not is_of_gaps:
        return f"{percent:g}%"
    return f"{percent:+g}" if percent else "0"


def _reach(bar: BarInput) -> float:
    """Return how far from zero a bar's marks go."""
    marks = [bar.estimate.low, bar.estimate.high, bar.expected or 0.0]
    if bar.band is not None:
        marks += [bar.band.low, bar.band.high]
    return max(map(abs, marks))


def _scale(most: float, ticks: int) -> tuple[float, float]:
    """Return a round step, and its multiple that holds the most."""
    step = next((step for step in _STEPS if most <= step * ticks), most)
    return step, step * max(1, math.ceil(round(most / step, 9)))


def _shorten(label: str) -> str:
    whole = len(label) <= _LABEL_LENGTH
    return label if whole else label[: _LABEL_LENGTH - 1] + "…"
