import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.fairness.arrays import group_means, group_sums, shares
from registry.fairness.metrics.attention import equity_of_attention
from registry.fairness.metrics.divergence import (
    attention_weighted_rank_fairness,
    jensen_shannon_divergence,
    kullback_leibler_divergence,
    normalised_discounted_kl,
)
from registry.fairness.metrics.expected_exposure import (
    expected_exposure,
    exposure_disparity,
    exposure_loss,
    exposure_relevance,
    target_exposure,
)
from registry.fairness.metrics.exposure import (
    disparate_treatment_ratio,
    exposure_to_merit,
    item_exposure,
    largest_gap,
)
from registry.fairness.window.position import (
    logarithmic_weights,
    rank_biased_weights,
    top_one_weights,
    trec_weights,
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
        (trec_weights(6), 0.666),
        (rank_biased_weights(6, 0.8), 0.661),
        (1 / np.arange(1, 7), 0.748),
        (rank_biased_weights(6, 0.5), 0.889),
        (top_one_weights(6), 1.0),
    ],
)
def test_the_first_half_of_a_list_gets_what_the_position_model_says(weights, share):
    assert share_of_first_group(AAABBB, weights) == pytest.approx(share, abs=5e-4)


def test_exposure_falls_with_the_logarithm_of_the_rank():
    exposure = item_exposure(
        [9, 8, 7, 6, 5, 4, 3, 2, 1, 0], logarithmic_weights(10), 10
    )
    assert exposure[9] == 1
    assert exposure[0] == pytest.approx(1 / math.log2(11))


def test_an_item_that_is_not_shown_has_no_exposure():
    assert item_exposure([2, 0], trec_weights(5), 4).tolist() == [1, 0, 1, 0]


def test_ranks_beyond_the_model_get_nothing():
    assert item_exposure([0, 1, 2], top_one_weights(2), 3).tolist() == [1, 0, 0]


def test_job_seekers_of_nearly_equal_merit_are_treated_unequally():
    exposure = logarithmic_weights(6)
    merit = np.array([0.82, 0.81, 0.80, 0.79, 0.78, 0.77])
    means = group_means(exposure, AAABBB, 2)
    assert means == pytest.approx([0.710310, 0.391246], abs=5e-7)
    assert means[1] / means[0] == pytest.approx(0.550809, abs=1e-6)
    ratio = disparate_treatment_ratio(exposure, merit, AAABBB, 0, 1)
    assert ratio == pytest.approx(1.7483, abs=5e-5)


def test_the_disparate_treatment_of_the_other_is_the_inverse():
    exposure, merit = logarithmic_weights(6), np.linspace(1, 0.5, 6)
    there = disparate_treatment_ratio(exposure, merit, ABABAB, 0, 1)
    back = disparate_treatment_ratio(exposure, merit, ABABAB, 1, 0)
    assert there * back == pytest.approx(1)


def test_exposure_to_merit_is_one_where_a_group_is_seen_as_it_merits():
    ratios = exposure_to_merit(np.array([0.6, 0.4, 0.0]), np.array([0.6, 0.2, 0.2]))
    assert ratios == pytest.approx([1, 2, 0])
    assert largest_gap(ratios) == pytest.approx(2)


def test_a_group_without_merit_has_no_ratio_and_no_part_in_the_gap():
    ratios = exposure_to_merit(np.array([0.5, 0.25, 0.25]), np.array([0.5, 0.5, 0]))
    assert math.isnan(ratios[2])
    assert largest_gap(ratios) == pytest.approx(0.5)


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
    even = np.full(len(orders), 1 / len(orders))
    exposure = expected_exposure(orders, even, HALVING, 3)
    target = target_exposure(MERIT, HALVING)
    assert target.tolist() == [0.75, 0.75, 0.25]
    assert exposure == pytest.approx(expected)
    assert exposure_disparity(exposure) == pytest.approx(disparity, abs=5e-7)
    assert exposure_relevance(exposure, target) == pytest.approx(relevance, abs=5e-7)
    assert exposure_loss(exposure, target) == pytest.approx(loss, abs=5e-7)


def test_attention_weighted_rank_fairness_in_both_bases():
    parts = shares(group_sums(trec_weights(6), AAABBB, 2))
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


def test_attention_that_evens_out_over_queries_is_equitable():
    alternating = np.array([[1.0, 0.0], [0.0, 1.0]])
    equal = np.ones((2, 2))
    assert equity_of_attention(alternating, equal) == 0
    assert equity_of_attention(alternating[[0, 0]], equal) == 2


@pytest.mark.parametrize("amounts", [[0.0, 0.0], [1.0, -0.5], [], [math.nan, 1]])
def test_nothing_and_less_than_nothing_can_not_be_shared(amounts):
    with pytest.raises(ValueError, match="shares"):
        shares(np.array(amounts))


amounts = st.lists(st.floats(0.001, 1e6), min_size=1, max_size=20).map(np.array)


@given(amounts)
def test_shares_sum_to_one(values):
    assert shares(values).sum() == pytest.approx(1)


@given(st.integers(1, 12), st.randoms(use_true_random=False))
def test_group_exposure_does_not_depend_on_how_items_are_numbered(count, random):
    order = random.sample(range(count), count)
    groups = np.array([random.randrange(3) for _ in range(count)])
    renamed = random.sample(range(count), count)
    new_groups = np.empty(count, np.int64)
    new_groups[renamed] = groups
    weights = logarithmic_weights(count)
    before = group_sums(item_exposure(order, weights, count), groups, 3)
    new_order = [renamed[item] for item in order]
    after = group_sums(item_exposure(new_order, weights, count), new_groups, 3)
    assert after == pytest.approx(before)


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
