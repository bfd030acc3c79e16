import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.reports.arrays import group_means, group_sums, shares
from registry.reports.window.position import (
    logarithmic_weights,
    rank_biased_weights,
    top_result_weights,
)
from tests.unit.reports.plain import (
    attention_weighted_rank_fairness,
    expected_exposure,
    exposure_disparity,
    exposure_loss,
    exposure_relevance,
    jensen_shannon_divergence,
    kullback_leibler_divergence,
    normalised_discounted_kl,
    target_exposure,
)

AAABBB = np.array([0, 0, 0, 1, 1, 1])
ABABAB = np.array([0, 1, 0, 1, 0, 1])
EVEN = np.array([0.5, 0.5])
MERIT = np.array([1.0, 1.0, 0.0])
HALVING = rank_biased_weights(3, 0.5)


def share_of_first_group(groups, weights):
    return shares(group_sums(weights, groups, 2))[0]


@pytest.mark.parametrize(
    ("weights", "share"),
    [
        (logarithmic_weights(6), 0.645),
        (rank_biased_weights(6, 0.8), 0.661),
        (1 / np.arange(1, 7), 0.748),
        (rank_biased_weights(6, 0.5), 0.889),
        (top_result_weights(6), 1.0),
    ],
)
def test_the_first_half_of_a_list_gets_what_the_position_model_says(weights, share):
    assert share_of_first_group(AAABBB, weights) == pytest.approx(share, abs=5e-4)


def test_job_seekers_of_nearly_equal_merit_are_seen_unequally():
    means = group_means(logarithmic_weights(6), AAABBB, 2)
    assert means == pytest.approx([0.710310, 0.391246], abs=5e-7)
    assert means[1] / means[0] == pytest.approx(0.550809, abs=1e-6)


def test_a_group_without_items_has_no_mean():
    assert math.isnan(group_means(np.ones(2), np.array([0, 0]), 2)[1])


@pytest.mark.parametrize(
    ("orders", "expected", "disparity", "relevance", "loss"),
    [
        ([[0, 1, 2]], [1, 0.5, 0.25], 1.3125, 1.1875, 0.125),
        ([[0, 1, 2], [1, 0, 2]], [0.75, 0.75, 0.25], 1.1875, 1.1875, 0),
        (list(permutations(range(3))), [7 / 12] * 3, 1.020833, 1.020833, 0.166667),
        ([[2, 1, 0]], [0.25, 0.5, 1], 1.3125, 0.8125, 0.875),
    ],
    ids=["static", "swap of equals", "uniform", "reversed"],
)
def test_expected_exposure(orders, expected, disparity, relevance, loss):
    exposure = expected_exposure(orders, HALVING)
    target = target_exposure(MERIT, HALVING)
    assert target.tolist() == [0.75, 0.75, 0.25]
    assert exposure == pytest.approx(expected)
    assert exposure_disparity(exposure) == pytest.approx(disparity, abs=5e-7)
    assert exposure_relevance(exposure, target) == pytest.approx(relevance, abs=5e-7)
    assert exposure_loss(exposure, target) == pytest.approx(loss, abs=5e-7)


def test_attention_weighted_rank_fairness_in_both_bases():
    first_two_alike = 1 / np.log2(np.maximum(np.arange(1.0, 7), 2))
    parts = shares(group_sums(first_two_alike, AAABBB, 2))
    assert parts == pytest.approx([0.666318, 0.333682], abs=5e-7)
    for base, divergence, fairness in (
        (math.e, 0.014301, 0.985699),
        (2, 0.020631, 0.979369),
    ):
        assert jensen_shannon_divergence(parts, EVEN, base) == pytest.approx(
            divergence, abs=5e-7
        )
        assert attention_weighted_rank_fairness(parts, EVEN, base) == pytest.approx(
            fairness, abs=5e-7
        )


def test_jensen_shannon_divergence_in_bits():
    p, q = np.array([24, 12, 4, 0]) / 40, np.array([0, 10, 5, 20]) / 35
    assert jensen_shannon_divergence(p, q) == pytest.approx(
        0.588582090634149, abs=1e-14
    )


@pytest.mark.parametrize(("groups", "ndkl"), [(AAABBB, 0.466363), (ABABAB, 0.220674)])
def test_normalised_discounted_kl(groups, ndkl):
    assert normalised_discounted_kl(groups, EVEN) == pytest.approx(ndkl, abs=5e-7)


def test_kullback_leibler_is_infinite_where_the_target_has_no_mass():
    assert kullback_leibler_divergence(EVEN, np.array([1.0, 0.0])) == math.inf


@pytest.mark.parametrize("amounts", [[0.0, 0.0], [1.0, -0.5], [], [math.nan, 1]])
def test_nothing_and_less_than_nothing_can_not_be_shared(amounts):
    with pytest.raises(ValueError, match="shares"):
        shares(np.array(amounts))


amounts = st.lists(st.floats(0.001, 1e6), min_size=1, max_size=20).map(np.array)


@given(amounts)
def test_shares_sum_to_one(values):
    assert shares(values).sum() == pytest.approx(1)


@given(amounts, st.randoms(use_true_random=False))
def test_divergence_is_symmetric_bounded_and_zero_for_equals(values, random):
    p = shares(values)
    q = shares(np.array(random.sample(values.tolist(), len(values))))
    divergence = jensen_shannon_divergence(p, q)
    assert -1e-12 <= divergence <= 1 + 1e-12
    assert divergence == pytest.approx(jensen_shannon_divergence(q, p))
    assert jensen_shannon_divergence(p, p) == 0


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.floats(0.1, 0.9))
def test_target_exposure_deals_out_all_attention_and_the_best_get_most(merits, gamma):
    weights = rank_biased_weights(len(merits), gamma)
    target = target_exposure(np.array(merits, float), weights)
    assert target.sum() == pytest.approx(weights.sum())
    ranked = target[np.argsort(-np.array(merits), kind="stable")]
    assert (np.diff(ranked) <= 1e-12).all()
