import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.reports.inference import permutation
from registry.reports.inference.bootstrap import (
    CLUSTERS_MAX,
    draw_clusters,
    few_clusters_factor,
    make_clusters,
    percentile_interval,
    student_95,
)
from registry.reports.inference.permutation import permute_labels
from registry.reports.inference.rates import (
    Interval,
    katz_rate_ratio,
    proportion_interval,
    rule_of_three,
)
from tests.unit.reports.intervals import excludes


def generator(seed=7):
    return np.random.default_rng(seed)


def permutation_p_value(values, in_group, strata, rng, shuffles=2_000):
    """Of one group and one kind of value."""
    columns = values[:, None], in_group[:, None]
    return permute_labels(*columns, strata, rng, shuffles=shuffles).p_values[0, 0]


@pytest.fixture
def normal(monkeypatch):
    """Have the normal curve in place of shuffles."""
    monkeypatch.setattr(permutation, "EXACT_MAX", 0)


def ratio_interval(hits, keys, seed=7, most=CLUSTERS_MAX):
    """Of a share of hits, with the cluster bootstrap over the keys."""
    clusters = make_clusters(keys.astype(np.uint64), most)
    number = clusters.number(keys.astype(np.uint64))
    sums = np.stack([np.bincount(number, hits), np.bincount(number)], axis=1)
    resampled = draw_clusters(len(clusters), generator(seed)) @ sums
    return percentile_interval(resampled[:, 0] / resampled[:, 1])


def test_katz_rate_ratio_of_the_published_example():
    ratio, interval = katz_rate_ratio(30, 100, 50, 100)
    assert ratio == pytest.approx(0.6)
    assert interval.low == pytest.approx(0.41951, abs=5e-6)
    assert interval.high == pytest.approx(0.85814, abs=5e-6)
    assert excludes(interval, 1)


def test_a_group_without_a_hit_still_has_a_finite_interval():
    ratio, interval = katz_rate_ratio(0, 30, 4, 30)
    assert 0 < interval.low < ratio < interval.high < math.inf
    assert not excludes(interval, 1)


def test_all_hits_in_both_groups_have_the_ratio_one():
    assert katz_rate_ratio(5, 5, 8, 8)[1] == Interval(low=1, high=1)


@pytest.mark.parametrize(("hits", "trials"), [(-1, 5), (6, 5), (0, 0)])
def test_what_is_no_proportion_is_refused(hits, trials):
    with pytest.raises(ValueError, match="no proportion"):
        katz_rate_ratio(hits, trials, 1, 2)
    with pytest.raises(ValueError, match="no proportion"):
        proportion_interval(hits, trials)


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 50), st.integers(1, 50))
def test_turning_a_rate_ratio_round_inverts_it(hits, misses, other_hits, other_misses):
    first, second = (hits, hits + misses), (other_hits, other_hits + other_misses)
    ratio, there = katz_rate_ratio(*first, *second)
    inverse, back = katz_rate_ratio(*second, *first)
    assert ratio * inverse == pytest.approx(1)
    assert there.low * back.high == pytest.approx(1)


def test_wilson_interval_of_a_textbook_case():
    interval = proportion_interval(10, 100)
    assert interval.low == pytest.approx(0.05523, abs=5e-6)
    assert interval.high == pytest.approx(0.17437, abs=5e-6)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_interval_holds_the_share_and_stays_in_range(proportion):
    hits, trials = proportion
    interval = proportion_interval(hits, trials)
    assert 0 <= interval.low <= hits / trials + 1e-12
    assert hits / trials - 1e-12 <= interval.high <= 1


def test_rule_of_three():
    assert rule_of_three(300) == 0.01
    assert rule_of_three(2) == 1
    with pytest.raises(ValueError, match="at least one"):
        rule_of_three(0)


def test_the_same_seed_gives_the_same_interval():
    hits = (np.arange(50) % 3 == 0).astype(float)
    assert ratio_interval(hits, np.arange(50)) == ratio_interval(hits, np.arange(50))


def test_samples_draw_as_many_clusters_as_there_are():
    drawn = draw_clusters(40, generator())
    assert drawn.shape == (2000, 40)
    assert (drawn.sum(axis=1) == 40).all()


def test_rows_of_one_cluster_stand_or_fall_together():
    hits = np.repeat((np.arange(20) % 2).astype(float), 10)
    alone = ratio_interval(hits, np.arange(200))
    together = ratio_interval(hits, np.repeat(np.arange(20), 10))
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_more_clusters_than_fit_a_block_still_give_every_replicate():
    drawn = draw_clusters(600, generator(), 2001)
    assert drawn.shape == (2001, 600)
    assert (drawn.sum(axis=1) == 600).all()


def test_queries_beyond_the_most_are_drawn_in_groups_with_an_interval_as_wide():
    rng = generator(3)
    keys = rng.integers(0, 2**63, 4000).astype(np.uint64)
    hits = (rng.random(4000) < 0.3).astype(float)
    grouped = make_clusters(keys, 512)
    assert len(grouped) == 512
    assert (grouped.number(keys) == keys % 512).all()
    alone = ratio_interval(hits, keys)
    together = ratio_interval(hits, keys, most=512)
    width = alone.high - alone.low
    assert together.high - together.low == pytest.approx(width, rel=0.2)


def test_one_query_is_one_cluster_however_often_it_is_asked():
    keys = np.array([9, 4, 9, 9], np.uint64)
    clusters = make_clusters(keys)
    assert len(clusters) == 2
    assert clusters.number(keys).tolist() == [1, 0, 1, 1]


def test_too_few_replicates_are_refused():
    with pytest.raises(ValueError, match="2000 replicates"):
        draw_clusters(3, generator(), 1999)


def test_the_bootstrap_covers_the_true_share_about_as_often_as_it_says():
    rng = generator(11)
    covered = [
        not excludes(
            ratio_interval((rng.random(80) < 0.3).astype(float), np.arange(80), seed),
            0.3,
        )
        for seed in range(100)
    ]
    assert 0.88 <= np.mean(covered) <= 1


def test_replicates_without_a_value_do_not_count():
    values = np.append(np.linspace(0, 1, 101), np.nan)
    interval = percentile_interval(values, level=0.9)
    assert (interval.low, interval.high) == pytest.approx((0.05, 0.95))


@given(
    st.lists(st.floats(-1e9, 1e9) | st.just(math.nan), max_size=30),
    st.sampled_from([0.0, 0.5, 0.9, 0.95, 1.0]),
)
def test_percentiles_are_those_of_numpy(values, level):
    result = percentile_interval(np.array(values, np.float64), level)
    valued = [value for value in values if not math.isnan(value)]
    ends = (1 - level) / 2, 1 - (1 - level) / 2
    quantiles = np.quantile(valued, ends).tolist() if valued else [math.nan] * 2
    assert [result.low, result.high] == pytest.approx(
        quantiles, rel=0, abs=0, nan_ok=True
    )


def test_a_group_that_takes_the_best_of_every_category_is_no_chance():
    strata = np.repeat(np.arange(5), 8)
    in_group = np.tile(np.arange(8) < 4, 5)
    values = np.where(in_group, 2.0, 1.0)
    assert permutation_p_value(values, in_group, strata, generator()) == 1 / 2001


def test_what_differs_between_categories_only_is_not_held_against_a_group():
    strata = np.repeat([1, 0], 20)
    in_group = np.append(np.arange(20) < 16, np.arange(20) < 4)
    values = np.where(strata == 1, 5.0, 1.0)
    assert permutation_p_value(values, in_group, strata, generator()) == 1
    blind = permutation_p_value(values, in_group, np.zeros(40, int), generator())
    assert blind < 0.01


def test_fair_groups_have_p_values_of_any_size():
    rng = generator(5)
    in_group = np.arange(30) < 12
    p_values = [
        permutation_p_value(rng.random(30), in_group, np.zeros(30, int), rng, 200)
        for _ in range(100)
    ]
    assert 0.4 < np.mean(p_values) < 0.6
    assert np.mean(np.array(p_values) <= 0.05) < 0.13


def test_the_normal_curve_agrees_with_shuffled_labels(monkeypatch):
    rng = generator(8)
    strata = np.repeat(np.arange(4), 50)
    in_group = rng.random(200) < 0.3
    values = rng.exponential(size=200) + strata
    columns = values[:, None], in_group[:, None], strata, rng
    shuffled = permute_labels(*columns)
    assert 0.01 < shuffled.p_values[0, 0] < 0.9
    monkeypatch.setattr(permutation, "EXACT_MAX", 0)
    normal = permute_labels(*columns)
    assert normal.p_values == pytest.approx(shuffled.p_values, abs=0.04)
    assert normal.half_width == pytest.approx(shuffled.half_width, rel=0.08)
    assert normal.detectable == pytest.approx(shuffled.detectable, rel=0.08)


def test_values_that_do_not_differ_within_a_category_tell_nothing(normal):
    strata = np.repeat([0, 1], 3)
    in_group = np.array([True, False, False, True, True, False])
    assert permutation_p_value(strata.astype(float), in_group, strata, None) == 1


def test_one_rate_holds_for_all_groups_and_kinds_of_value_together():
    """Of fair tables a tenth has any family value of a tenth or less; by cells more."""
    rng = generator(6)
    strata = np.zeros(30, int)
    groups = np.arange(30)[:, None] % 5 == np.arange(5)
    family, alone = [], []
    for _ in range(150):
        result = permute_labels(rng.random((30, 4)), groups, strata, rng, shuffles=200)
        family.append(result.family.min() <= 0.1)
        alone.append(result.p_values.min() <= 0.1)
    assert 0.03 < np.mean(family) < 0.18
    assert np.mean(alone) > 0.5


def test_what_is_detectable_is_found_four_times_in_five():
    rng = generator(9)
    strata, group = np.zeros(60, int), np.arange(60)[:, None] < 20
    noise = rng.normal(size=(60, 1))
    tested = permute_labels(noise, group, strata, rng, level=0.05)
    step = tested.detectable[0, 0] / 20 * 60 / 40  # so far from the others' mean
    hits = [
        permute_labels(
            rng.normal(0, noise.std(), (60, 1)) + step * group, group, strata, rng
        ).family[0, 0]
        <= 0.05
        for _ in range(100)
    ]
    assert 0.68 < np.mean(hits) < 0.92


def test_of_so_few_labellings_that_none_is_rare_nothing_is_detectable():
    values, group = np.arange(3.0)[:, None], np.arange(3)[:, None] < 1
    tested = permute_labels(values, group, np.zeros(3, int), generator())
    assert np.isinf(tested.detectable).all()


def test_few_or_unequal_clusters_widen_an_interval():
    assert few_clusters_factor(np.ones(4_096)) == pytest.approx(1, abs=0.001)
    assert few_clusters_factor(np.ones(30)) == pytest.approx(1.08, abs=0.01)
    assert few_clusters_factor(1 / np.arange(1.0, 500)) > 1.1
    assert few_clusters_factor(np.array([1e9, *np.ones(30)])) == 10


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(3, 3.182), (10, 2.228), (30, 2.042), (1e9, 1.960)]
)
def test_quantiles_of_student_are_those_of_the_tables(freedom, quantile):
    assert student_95(freedom) == pytest.approx(quantile, abs=0.015)


@pytest.mark.parametrize("everybody", [True, False])
def test_a_group_of_all_or_of_none_has_no_difference(everybody):
    group = np.full(5, everybody)
    result = permutation_p_value(np.arange(5.0), group, np.zeros(5, int), generator())
    assert result == 1
