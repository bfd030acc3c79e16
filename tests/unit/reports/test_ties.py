import math

import numpy as np
import pytest

from registry.ranking.rank_score import SHOWN
from registry.ranking.ties import make_seed, tie_key
from registry.reports.metrics import tie_audit
from registry.reports.metrics.tie_audit import (
    TIES,
    TieRuns,
    shuffle_p_value,
    tied_runs,
)
from registry.reports.window.columns import TIER_UNKNOWN, ScoredColumns
from registry.reports.window.observation import SiteDisclosure
from tests.unit.reports.observed import ObservedRanking
from tests.unit.reports.test_report import report_on

SECRET = bytes(range(32))
SEEDS = 20_000


def order_of(seed, sites):
    keys = [(tie_key(seed, site), index) for index, site in enumerate(sites)]
    return [index for _, index in sorted(keys)]


def place_frequencies(orders, items):
    """How often each item took each place: shape (items, items). orders: of 0..items-1."""
    counts = np.zeros((items, items), np.int64)
    for order in orders:
        counts[list(order), np.arange(items)] += 1
    return counts


def uniform_p_value(frequencies):
    """Of a fair shuffle, by chi-square with (k - 1)² degrees of freedom.

    Rows and columns both have fixed sums, hence Pearson's statistic times (k - 1) / k.
    """
    items = len(frequencies)
    expected = frequencies.sum() / (items * items)
    pearson = (np.square(frequencies - expected) / expected).sum()
    return chi_square_tail(pearson * (items - 1) / items, (items - 1) ** 2)


def chi_square_tail(statistic, freedom):
    """P(X >= statistic). Abramowitz & Stegun 26.4.4 and 26.4.5."""
    if statistic <= 0:
        return 1.0
    half = statistic / 2
    if freedom % 2:
        tail, order = math.erfc(math.sqrt(half)), 0.5
    else:
        tail, order = math.exp(-half), 1.0
    while order < freedom / 2:
        tail += math.exp(order * math.log(half) - half - math.lgamma(order + 1))
        order += 1
    return min(1.0, tail)


def test_tied_sites_take_every_place_as_often_over_20000_seeds():
    sites = [f"{number:013}" for number in range(4)]
    orders = [
        order_of(make_seed(SECRET, bytes(32), f"nonce {number}"), sites)
        for number in range(SEEDS)
    ]
    frequencies = place_frequencies(orders, 4)
    assert (frequencies.sum(axis=0) == SEEDS).all()
    assert np.abs(frequencies / SEEDS - 0.25).max() < 0.012
    assert uniform_p_value(frequencies) > 0.01


def test_a_small_preference_is_found_over_20000_seeds():
    rng = np.random.default_rng(1)
    orders = [
        np.argsort(rng.random(4) - [0.03, 0, 0, 0]).tolist() for _ in range(SEEDS)
    ]
    assert uniform_p_value(place_frequencies(orders, 4)) < 1e-6


def test_fair_shuffles_have_p_values_of_any_size():
    rng = np.random.default_rng(2)
    p_values = [
        uniform_p_value(
            place_frequencies([rng.permutation(3).tolist() for _ in range(60)], 3)
        )
        for _ in range(300)
    ]
    assert 0.42 < np.mean(p_values) < 0.58
    assert np.mean(np.array(p_values) < 0.05) < 0.09


@pytest.mark.parametrize(
    ("statistic", "freedom", "tail"),
    [(3.841459, 1, 0.05), (5.991465, 2, 0.05), (16.918978, 9, 0.05), (0, 4, 1)],
)
def test_chi_square_of_the_tables(statistic, freedom, tail):
    assert chi_square_tail(statistic, freedom) == pytest.approx(tail, abs=1e-6)


def scored(*lists, tiers=None):
    """lists: of (site, relevance) pairs. tiers: of the pairs, 0 where not given."""
    pairs = [pair for rows in lists for pair in rows]
    factors = np.zeros((len(pairs), 5), np.int64)
    factors[:, 0] = [value for _, value in pairs]
    return ScoredColumns(
        keys=np.arange(len(lists)).astype(np.uint64),
        counts=np.array([len(rows) for rows in lists], np.int32),
        sites=np.array([site for site, _ in pairs], np.int32),
        factors=factors,
        tiers=np.array(tiers or [0] * len(pairs), np.int64),
        located=np.ones(len(lists), np.bool_),
    )


def test_runs_are_neighbours_of_one_ranking_score_and_tier():
    lists = ([(0, 9), (1, 9), (2, 9), (3, 5)], [(3, 5), (0, 5)], [(2, 1), (1, 1)])
    rows = scored(*lists, tiers=[0, 0, 1, 1, 1, 0, 1, 0])
    runs = tied_runs(rows, rows.factors[:, 0], SHOWN)
    assert runs.sites.tolist() == [0, 1]
    assert runs.lengths.tolist() == [2]
    rows = scored(*lists)
    same = tied_runs(rows, rows.factors[:, 0], SHOWN)
    assert same.lengths.tolist() == [3, 2, 2]
    assert same.positions.tolist() == [0, 1, 2, 0, 1, 0, 1]


def test_sites_of_one_score_that_show_another_relevance_or_quality_are_no_tie():
    """The ranker parts them by what is shown, which is no lot."""
    rows = scored([(0, 149), (1, 150), (2, 152)], [(3, 1), (4, 1), (5, 1)])
    rows.factors[3:, 3] = [51, 50, 49]
    runs = tied_runs(rows, np.zeros(6, np.int64), SHOWN)
    assert runs.sites.tolist() == [1, 2, 3, 4]


def test_ties_of_rankings_that_do_not_state_the_tier_are_left_out():
    unknown = [TIER_UNKNOWN] * 2
    rows = scored([(0, 9), (1, 9)], [(2, 1), (1, 1)], tiers=[*unknown, 1, 1])
    assert tied_runs(rows, rows.factors[:, 0], SHOWN).sites.tolist() == [2, 1]


def make_runs(rng, count, favoured=None):
    orders = [rng.permutation(30)[:3].tolist() for _ in range(count)]
    if favoured is not None:
        orders = [sorted(order, key=lambda site: site != favoured) for order in orders]
    sites = [site for order in orders for site in order]
    return TieRuns(np.array(sites, np.int32), np.full(count, 3))


def test_a_site_that_wins_its_ties_is_found_in_a_window():
    rng = np.random.default_rng(3)
    assert shuffle_p_value(make_runs(rng, 400, favoured=7), rng) < 0.01


def test_fair_ties_of_a_window_rarely_alarm(monkeypatch):
    monkeypatch.setattr(tie_audit, "_SHUFFLES", 99)
    rng = np.random.default_rng(4)
    p_values = [shuffle_p_value(make_runs(rng, 60), rng) for _ in range(100)]
    assert np.mean(np.array(p_values) <= 0.05) <= 0.1


def test_the_audit_follows_the_tier_of_the_ranker_whatever_auditors_say():
    """A site's claim of 0% puts it first among equals; that an auditor found 15% is no
    departure from a fair shuffle.
    """
    rng = np.random.default_rng(5)
    factors = ((9_000, 5_000, 5_000, 5_000, 5_000),) * 3
    rankings = []
    for number in range(120):
        others = rng.permutation(["b", "c"]).tolist()
        rankings.append(
            ObservedRanking(
                id=f"r{number:04}",
                eligible=3,
                returned=("a", *others),
                eligible_sample=("a", "b", "c"),
                factors=factors,
                tiers=(0, 1, 1),
            )
        )
    labels = [SiteDisclosure(site_id="a", commission_percent=15)]
    audits = [report_on(rankings, known)[TIES] for known in ((), labels)]
    assert audits[0] == audits[1]
    assert audits[0].runs == 120
    assert audits[0].sites == 2
    assert "no departure" in audits[0].sentence
