"""A drawing says what its figures say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.fairness.forms.chart import LABEL_WIDTH, WIDTH, Told, draw
from registry.fairness.report.estimate import Estimate

SHARES = st.floats(0, 1)


def told(value: float, low: float, high: float, expected: float | None = None) -> Told:
    estimate = Estimate(value=value, low=low, high=high)
    return Told(label="Large", estimate=estimate, expected=expected)


def _ordered(ends: tuple[float, float, float, float]) -> Told:
    low, value, high = sorted(ends[:3])
    return told(value, low, high, ends[3])


@given(st.lists(st.tuples(SHARES, SHARES, SHARES, SHARES), min_size=1, max_size=8))
def test_everything_lies_on_the_drawing_in_the_order_of_the_figures(
    cells: list[tuple[float, float, float, float]],
) -> None:
    chart = draw([_ordered(ends) for ends in cells])
    for bar in chart.bars:
        places = (bar.end, bar.low, bar.high, bar.expected or LABEL_WIDTH)
        assert all(LABEL_WIDTH <= place <= WIDTH for place in places)
        assert bar.low <= bar.end <= bar.high
        assert bar.y < chart.height


def test_lengths_are_in_proportion() -> None:
    [bar] = draw([told(0.4, 0.2, 0.8, 0.6)]).bars
    assert bar.expected is not None
    low, end, expected, high = (
        place - LABEL_WIDTH for place in (bar.low, bar.end, bar.expected, bar.high)
    )
    assert (end / low, expected / low, high / low) == pytest.approx((2, 3, 4), abs=0.01)


@pytest.mark.parametrize(
    ("most", "last"),
    [
        pytest.param(0.0, "1%", id="nothing"),
        pytest.param(0.043, "5%", id="a little"),
        pytest.param(1.0, "100%", id="all"),
    ],
)
def test_the_axis_holds_the_most_and_little_more(most: float, last: str) -> None:
    assert draw([told(most, most, most)]).ticks[-1].text == last


def test_percent_are_drawn_as_shares_of_a_hundred() -> None:
    assert draw([told(9, 8, 10)], whole=100).bars == draw([told(0.09, 0.08, 0.1)]).bars


def test_a_long_label_is_cut() -> None:
    long = Told(label="x" * 100, estimate=Estimate(value=0, low=0, high=0))
    [bar] = draw([long]).bars
    assert len(bar.label) < 40
