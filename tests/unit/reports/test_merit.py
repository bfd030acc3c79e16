"""The vectorised figures of a window against the plain ones of a single list."""

import numpy as np
import pytest

from registry.reports.arrays import shares
from registry.reports.inference.bootstrap import make_clusters
from registry.reports.metrics.consistency import (
    DISPARITY,
    LOSS,
    QUERIES,
    RELEVANCE,
    expected_exposure_sums,
    inequity_of_attention,
    target_exposures,
)
from registry.reports.metrics.merit import EXPOSURE, MERIT, merit_sums
from registry.reports.metrics.parity import awrf_of_sums, ndkl_sums
from registry.reports.window.classes import Classes
from registry.reports.window.columns import ScoredColumns
from registry.reports.window.position import logarithmic_weights
from tests.unit.reports.plain import (
    attention_weighted_rank_fairness,
    exposure_disparity,
    exposure_loss,
    exposure_relevance,
    normalised_discounted_kl,
    target_exposure,
)

EVEN = np.array([0.5, 0.5])


def scored(*lists, keys):
    sites = [site for sites in lists for site in sites]
    return ScoredColumns(
        keys=np.array(keys, np.uint64),
        counts=np.array([len(sites) for sites in lists], np.int32),
        sites=np.array(sites, np.int32),
        factors=np.zeros((len(sites), 5), np.int64),
        tiers=np.zeros(sum(map(len, lists)), np.int64),
        located=np.ones(len(lists), np.bool_),
    )


def two_classes(*code):
    return Classes(dimension="size", names=("a", "b"), code=np.array(code), joined={})


def test_ndkl_of_a_window_is_the_mean_over_its_rankings():
    classes = two_classes(0, 0, 0, 1, 1, 1)
    rows = scored([0, 1, 2, 3, 4, 5], [0, 3, 1, 4, 2, 5], keys=[1, 2])
    sums = ndkl_sums(rows, classes, EVEN, make_clusters(rows.keys))
    assert sums[:, 0] == pytest.approx([0.466363, 0.220674], abs=5e-7)
    assert sums[:, 1].tolist() == [1, 1]
    plain = normalised_discounted_kl(np.array([0, 0, 0, 1, 1, 1]), EVEN)
    assert sums[0, 0] == pytest.approx(plain)


def test_awrf_of_sums_is_that_of_their_shares():
    received, eligible = np.array([3.0, 1.0]), np.array([5.0, 5.0])
    plain = attention_weighted_rank_fairness(shares(received), shares(eligible))
    assert awrf_of_sums(received, eligible) == pytest.approx(plain)
    assert awrf_of_sums(eligible, eligible) == pytest.approx(1)


def test_targets_of_many_lists_are_those_of_each():
    rng = np.random.default_rng(1)
    merits = rng.integers(0, 3, (20, 6))
    weights = logarithmic_weights(6)
    together = target_exposures(merits, weights)
    for row, merit in zip(together, merits, strict=True):
        assert row == pytest.approx(target_exposure(merit, weights))


def test_repeated_answers_of_a_query_share_their_exposure():
    rows = scored([0, 1, 2], [1, 0, 2], [0, 1, 2], keys=[7, 7, 8])
    scores = np.array([9, 9, 1, 9, 9, 1, 9, 9, 1])
    sums = expected_exposure_sums(rows, scores, make_clusters(rows.keys))
    weights = logarithmic_weights(3)
    target = target_exposure(np.array([9.0, 9, 1]), weights)
    swapped = (weights[[0, 1, 2]] + weights[[1, 0, 2]]) / 2
    for row, exposure in zip(sums, (swapped, weights), strict=True):
        assert row[DISPARITY] == pytest.approx(exposure_disparity(exposure))
        assert row[RELEVANCE] == pytest.approx(exposure_relevance(exposure, target))
        assert row[LOSS] == pytest.approx(exposure_loss(exposure, target))
        assert row[QUERIES] == 1
    assert sums[0, LOSS] == pytest.approx(0)


def test_merit_and_exposure_of_a_ranking_are_one_whole_each():
    rows = scored([0, 1], [1, 0], keys=[1, 1])
    sums = merit_sums(
        rows, np.array([30, 10, 30, 10]), two_classes(0, 1), make_clusters(rows.keys)
    )
    assert sums.sum(axis=2).tolist() == [[2, 2]]
    assert sums[0, MERIT].tolist() == [1, 1]
    assert sums[0, EXPOSURE] == pytest.approx([1, 1])


def test_attention_that_evens_out_over_rankings_is_equitable():
    fair = scored([0, 1], [1, 0], keys=[1, 2])
    assert inequity_of_attention(fair, np.full(4, 5), 2) == pytest.approx(0)
    unfair = scored([0, 1], [0, 1], keys=[1, 2])
    expected = 2 * (1 / (1 + 1 / np.log2(3)) - 0.5)
    assert inequity_of_attention(unfair, np.full(4, 5), 2) == pytest.approx(expected)
