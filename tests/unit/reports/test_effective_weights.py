import numpy as np
import pytest

from registry.reports.inference.bootstrap import make_clusters
from registry.reports.metrics.effective_weights import (
    PAIRS,
    SWAPS,
    VARIANCES,
    contribution_variances,
    same_length,
    swapped_pairs,
    weight_sums,
)
from registry.reports.window.columns import ScoredColumns

WEIGHTS = (4000, 2000, 1500, 1500, 1000)


def scored(*lists, keys=None):
    """lists: of factor rows, one list a ranking."""
    counts = [len(rows) for rows in lists]
    factors = np.array([row for rows in lists for row in rows], np.int64)
    return ScoredColumns(
        keys=np.array(keys or range(len(lists)), np.uint64),
        counts=np.array(counts, np.int32),
        sites=np.arange(sum(counts), dtype=np.int32),
        factors=factors.reshape(-1, 5),
        tiers=np.zeros(sum(map(len, lists)), np.int64),
        located=np.ones(len(lists), np.bool_),
    )


def test_a_factor_that_is_the_same_for_all_moves_nothing():
    rows = [(9000, 5000, 700, 800, 1000), (1000, 5000, 700, 800, 1000)]
    sums = weight_sums(scored(rows), WEIGHTS, make_clusters(np.zeros(1, np.uint64)))
    assert (sums[0, VARIANCES][1:] == 0).all()
    assert sums[0, VARIANCES][0] > 0
    assert sums[0, SWAPS].tolist() == [0, 0, 0, 0, 0]
    assert sums[0, PAIRS] == 1


def test_a_factor_that_decides_against_the_others_swaps_a_pair():
    first, second = (5000, 1000, 0, 0, 0), (1000, 8000, 0, 0, 0)
    contributions = np.array([[first, second]]) * np.array(WEIGHTS)
    swaps, pairs = swapped_pairs(contributions)
    assert swaps.tolist() == [[1, 0, 0, 0, 0]]
    assert pairs.tolist() == [1]


def test_tied_sites_are_no_pair():
    rows = np.array([[(1, 0, 0, 0, 0)] * 3]) * np.array(WEIGHTS)
    swaps, pairs = swapped_pairs(rows)
    assert pairs.tolist() == [0]
    assert swaps.sum() == 0


def test_variances_are_those_of_the_weighted_values():
    rng = np.random.default_rng(1)
    factors = rng.integers(0, 10_001, (3, 7, 5)) * np.array(WEIGHTS)
    expected = [[np.var(ranking[:, f]) for f in range(5)] for ranking in factors]
    assert contribution_variances(factors) == pytest.approx(np.array(expected))


def test_equal_scales_move_the_order_as_their_weights_say():
    rng = np.random.default_rng(2)
    lists = [rng.integers(0, 10_001, (20, 5)).tolist() for _ in range(300)]
    sums = weight_sums(
        scored(*lists), WEIGHTS, make_clusters(np.arange(300).astype(np.uint64))
    ).sum(axis=0)
    squares = np.square(WEIGHTS) / np.square(WEIGHTS).sum()
    assert sums[VARIANCES] / sums[VARIANCES].sum() == pytest.approx(squares, rel=0.1)
    assert (np.diff(sums[SWAPS])[[0, 1, 3]] < 0).all()


def test_rankings_of_every_length_are_summed_and_those_of_one_site_left_out():
    lists = [[(i, 0, 0, 0, 0) for i in range(length)] for length in (1, 2, 3, 2)]
    blocks = {
        items.shape[1]: rankings.tolist()
        for rankings, items in same_length(scored(*lists).counts)
    }
    assert blocks == {2: [1, 3], 3: [2]}
    sums = weight_sums(
        scored(*lists), WEIGHTS, make_clusters(np.arange(4).astype(np.uint64))
    )
    assert sums[:, PAIRS].tolist() == [0, 1, 3, 1]
