"""Each known way for a fairness report to mislead, and that this one does not take it."""

from datetime import UTC, datetime

import numpy as np
import pytest

from registry.ranking.policy import DEFAULT_POLICY
from registry.reports.definitions import DEFINITIONS
from registry.reports.estimate import count_bearing, estimate_gap, resample
from registry.reports.inference.rates import katz_rate_ratio, proportion_interval
from registry.reports.metrics.comparison import read_gap
from registry.reports.report_survey import survey
from registry.reports.report_terms import Terms, Window
from registry.reports.window.aggregate import ELIGIBLE, SELECTED, aggregate
from registry.reports.window.observation import SiteDisclosure
from tests.unit.reports.intervals import excludes
from tests.unit.reports.observed import ObservedRanking, ObservedSelection, gather

CASES = 100
TERMS = Terms(
    window=Window(
        start_at=datetime(2026, 1, 1, tzinfo=UTC),
        end_at=datetime(2026, 2, 1, tzinfo=UTC),
    )
)
MEANINGS = {definition.figure: definition.meaning for definition in DEFINITIONS}


def sites_of(count, small):
    """Numbered, the first ones small and the others large."""
    ids = tuple(f"s{number}" for number in range(count))
    return ids, [
        SiteDisclosure(site_id=site, size="small" if number < small else "large")
        for number, site in enumerate(ids)
    ]


def select(number, eligible, chosen, query=""):
    return ObservedRanking(
        id=f"r{number:05}",
        eligible=len(eligible),
        returned=eligible,
        eligible_sample=eligible,
        selection=ObservedSelection(site_id=chosen),
        query=query,
    )


def read_small(rankings, disclosures):
    """What the report says of the selections of small sites; None where it withholds."""
    surveyed = survey(gather(rankings, disclosures), TERMS, DEFAULT_POLICY, (), {})
    (whole,) = aggregate(
        surveyed.parts,
        surveyed.sites,
        surveyed.declared,
        surveyed.clusters,
        measures=(ELIGIBLE, SELECTED),
    )
    columns = whole.columns_of("size", ("small",))
    if count_bearing(whole, SELECTED, columns)[1] < TERMS.minimum_cell:
        return None
    gap = estimate_gap(resample(whole, surveyed.draws), SELECTED, columns)
    return read_gap(gap, gap)


def is_alarm(reading):
    return reading not in {None, "noDifferenceShown"}


@pytest.mark.parametrize("queries", [30, 60])
@pytest.mark.parametrize(("sites", "small"), [(10, 1), (4, 2)])
def test_fair_lots_rarely_alarm_where_the_four_fifths_rule_mostly_does(
    queries, sites, small
):
    rng = np.random.default_rng([queries, sites])
    ids, disclosures = sites_of(sites, small)
    alarms, naive = [], []
    for _ in range(CASES):
        chosen = rng.integers(0, sites, queries)
        rankings = [select(i, ids, ids[item]) for i, item in enumerate(chosen)]
        alarms.append(is_alarm(read_small(rankings, disclosures)))
        ratio = (chosen < small).mean() / (small / sites)
        naive.append(not 0.8 <= ratio <= 1.25)
    assert np.mean(alarms) <= 0.08
    if (queries, sites) == (30, 10):
        assert np.mean(naive) > 0.6


def test_thirty_a_group_at_one_in_ten_is_withheld_and_not_judged():
    """Here the four-fifths rule goes off in 78% of perfectly fair cases."""
    rng = np.random.default_rng(1)
    ids, disclosures = sites_of(2, 1)
    readings, naive = [], []
    for _ in range(CASES):
        hits = rng.random((30, 2)) < 0.1
        rankings = [
            select(i, ids, ids[int(np.argmax(row))] if row.any() else None)
            for i, row in enumerate(hits)
        ]
        readings.append(read_small(rankings, disclosures))
        small, large = hits.sum(axis=0)
        naive.append(min(small, large) < 0.8 * max(small, large))
    assert np.mean(naive) == pytest.approx(0.78, abs=0.08)
    assert set(readings) == {None}


def test_the_rate_ratio_of_the_same_groups_keeps_quiet():
    pairs = np.random.default_rng(2).binomial(30, 0.1, (3000, 2))
    claimed = [excludes(katz_rate_ratio(a, 30, b, 30)[1], 1) for a, b in pairs.tolist()]
    assert np.mean(claimed) <= 0.05


def test_one_query_asked_often_is_one_witness_not_many():
    """Counted by impression, intervals of rankings that hang together are too narrow."""
    rng = np.random.default_rng(3)
    ids, disclosures = sites_of(4, 2)
    alarms, naive = [], []
    for _ in range(60):
        liked = rng.integers(0, 4, 40)
        rankings = [
            select(25 * query + turn, ids, ids[site], f"q{query}")
            for query, site in enumerate(liked.tolist())
            for turn in range(25)
        ]
        alarms.append(is_alarm(read_small(rankings, disclosures)))
        hits = 25 * int((liked < 2).sum())
        naive.append(excludes(proportion_interval(hits, 1000), 0.5))
    assert np.mean(alarms) <= 0.1
    assert np.mean(naive) > 0.5


def test_a_real_difference_is_reported():
    ids, disclosures = sites_of(4, 2)
    rankings = [select(i, ids, ids[0 if i % 5 else 3]) for i in range(100)]
    assert read_small(rankings, disclosures) == "more"


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        ("awrf", "base 2"),
        ("merit", "circular"),
        ("gap", "not who is at fault"),
        ("gini", "those that got nothing"),
        ("reading", "does not show that there is no difference"),
        ("distanceBand", "not recorded"),
        ("varianceShare", "among returned sites"),
        ("pValue", "no sentence rests on it"),
    ],
)
def test_what_a_figure_can_not_tell_stands_in_its_definition(figure, expected):
    assert expected in MEANINGS[figure]
