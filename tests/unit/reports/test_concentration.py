import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.reports.metrics.concentration import (
    effective_number,
    gini,
    herfindahl_hirschman_index,
)

amounts = st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any)


def test_published_example():
    values = np.array([10.0, 5, 3, 2])
    assert gini(values) == pytest.approx(0.325)
    assert herfindahl_hirschman_index(values) == pytest.approx(0.345)
    assert effective_number(values) == pytest.approx(2.898551, abs=5e-7)


def test_one_takes_all():
    values = np.array([0.0, 0, 7, 0])
    assert gini(values) == pytest.approx(3 / 4)
    assert effective_number(values) == 1


def test_all_have_the_same():
    values = np.full(5, 0.3)
    assert gini(values) == pytest.approx(0)
    assert effective_number(values) == pytest.approx(5)


def test_sites_that_got_nothing_raise_the_inequality():
    assert gini(np.array([1.0, 1, 0, 0])) == pytest.approx(0.5)


def test_nothing_to_share_is_refused():
    with pytest.raises(ValueError, match="shares"):
        gini(np.zeros(3))


@given(amounts, st.randoms(use_true_random=False))
def test_order_and_unit_do_not_matter_and_bounds_hold(values, random):
    shuffled = np.array(random.sample(values, len(values)), float) * 3
    original = np.array(values, float)
    assert gini(shuffled) == pytest.approx(gini(original), abs=1e-9)
    assert -1e-9 <= gini(original) <= 1 - 1 / len(values) + 1e-9
    assert 1 - 1e-9 <= effective_number(original) <= len(values) + 1e-9
