"""Verdicts on kinds of sites, and the words for the size of a gap."""

import numpy as np
import pytest

from registry.reports.estimate import Estimate
from registry.reports.metrics.kinds import KindTest, measure_gap, read_kind
from registry.reports.metrics.parity import PARITY
from tests.unit.reports.test_report import always_large, by_lot, report_on


@pytest.mark.parametrize(
    ("gap", "expected", "magnitude"),
    [
        (0.074, 0.338, "large"),
        (-0.0028, 0.338, "negligible"),
        (0.02, 0.338, "small"),
        (-0.02, 0.05, "large"),
        (0.0, 0.0, "negligible"),
    ],
)
def test_the_size_of_a_gap_is_reported_beside_the_share(gap, expected, magnitude):
    assert measure_gap(gap, expected) == magnitude


@pytest.mark.parametrize(
    ("reading", "gap", "half", "adjusted", "verdict"),
    [
        pytest.param("more", 0.05, 0.03, 0.02, "more", id="more"),
        pytest.param("less", -0.05, 0.03, 0.1, "less", id="less, just"),
        pytest.param("more", 0.05, 0.03, 0.11, "notShown", id="chance"),
        pytest.param("unsettled", 0.05, 0.03, 0.01, "notShown", id="undeclared"),
        pytest.param("less", 0.05, 0.03, 0.01, "notShown", id="categories turn it"),
        pytest.param("more", 0.005, 0.004, 0.01, "negligible", id="certain and tiny"),
        pytest.param("noDifferenceShown", 0.001, 0.008, 1, "negligible", id="none"),
        pytest.param("noDifferenceShown", 0.0, 0.1, 1, "notShown", id="unknown"),
    ],
)
def test_a_verdict_needs_the_sites_the_labels_and_a_size(
    reading, gap, half, adjusted, verdict
):
    kind = KindTest(
        p_value=adjusted,
        adjusted=adjusted,
        gap=Estimate(value=gap, low=gap - half, high=gap + half),
        detectable=half,
    )
    assert read_kind(reading, kind, 0.5) == verdict
    assert read_kind(reading, None, 0.5) == "notShown"


def test_near_parity_a_measure_at_its_boundary_says_so():
    """Perfect fairness is 1, which no sample reaches: the interval must hold it."""
    for cell in report_on(by_lot(300))[PARITY]:
        assert cell.parity == "withinChance"
        assert cell.by_chance <= cell.awrf.value <= cell.awrf.high == 1
    apart = [c for c in report_on(always_large(60))[PARITY] if c.measure == "topOne"]
    assert {cell.parity for cell in apart} == {"apart"}
    assert all(cell.awrf.high < np.float64(cell.by_chance) for cell in apart)
