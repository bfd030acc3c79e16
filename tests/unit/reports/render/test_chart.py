"""A drawing says what its figures say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.reports.estimate import Estimate
from registry.reports.metric import BarInput, ChartInput
from registry.reports.render.chart import MARGIN, WIDTH, Chart, draw

SHARES = st.floats(0, 1)


def drawn(*bars: BarInput, whole: float = 1.0) -> Chart:
    return draw(ChartInput(title="Shares", bars=bars, whole=whole))


def bar_input(
    value: float, low: float, high: float, expected: float | None = None
) -> BarInput:
    estimate = Estimate(value=value, low=low, high=high)
    return BarInput(label="Large", estimate=estimate, expected=expected)


def _ordered(ends: tuple[float, float, float, float]) -> BarInput:
    low, value, high = sorted(ends[:3])
    return bar_input(value, low, high, ends[3])


@given(st.lists(st.tuples(SHARES, SHARES, SHARES, SHARES), min_size=1, max_size=8))
def test_everything_lies_on_the_drawing_in_the_order_of_the_figures(
    cells: list[tuple[float, float, float, float]],
) -> None:
    chart = drawn(*map(_ordered, cells))
    for bar in chart.bars:
        places = (bar.end, bar.low, bar.high, bar.expected or MARGIN)
        assert all(MARGIN <= place <= WIDTH for place in places)
        assert bar.low <= bar.end <= bar.high
        assert bar.y < chart.height


def test_lengths_are_in_proportion() -> None:
    [bar] = drawn(bar_input(0.4, 0.2, 0.8, 0.6)).bars
    assert bar.expected is not None
    low, end, expected, high = (
        place - MARGIN for place in (bar.low, bar.end, bar.expected, bar.high)
    )
    assert (end / low, expected / low, high / low) == pytest.approx((2, 3, 4), abs=0.01)


@pytest.mark.parametrize(
    ("most", "last"),
    [
        pytest.param(0.0, "0.1%", id="nothing"),
        pytest.param(0.043, "5%", id="a little"),
        pytest.param(1.0, "100%", id="all"),
    ],
)
def test_the_axis_holds_the_most_and_little_more(most: float, last: str) -> None:
    assert drawn(bar_input(most, most, most)).ticks[-1].text == last


def test_percent_are_drawn_as_shares_of_a_hundred() -> None:
    assert drawn(bar_input(9, 8, 10), whole=100).bars == (
        drawn(bar_input(0.09, 0.08, 0.1)).bars
    )


def test_a_long_label_is_cut() -> None:
    long = BarInput(label="x" * 100, estimate=Estimate(value=0, low=0, high=0))
    [bar] = drawn(long).bars
    assert len(bar.label) < 50


@given(st.lists(st.tuples(*[st.floats(-1, 1)] * 3), min_size=1, max_size=4))
def test_gaps_lie_on_their_side_of_zero(
    cells: list[tuple[float, float, float]],
) -> None:
    bars = [bar_input(value, low, high) for low, value, high in map(sorted, cells)]
    chart = draw(ChartInput(title="Gaps", bars=bars, is_of_gaps=True))
    for bar, given_bar in zip(chart.bars, bars, strict=True):
        assert (bar.end > chart.zero) <= (given_bar.estimate.value > 0)
        assert (bar.end < chart.zero) <= (given_bar.estimate.value < 0)
        assert MARGIN <= bar.low <= bar.end <= bar.high <= WIDTH
