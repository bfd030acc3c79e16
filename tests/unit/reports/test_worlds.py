"""Simulated worlds: what reports say of a kind of site where nothing is amiss, and where.

Sites differ lastingly, queries repeat as Zipf's law has it, and labels are drawn at
random; in the unfair world chains rank lower. `WORLDS` reports of each, few enough for a
test: the rates are bounded loosely.
"""

import numpy as np
import pytest

from registry.reports.build_report import build_report
from registry.reports.metrics.comparison import DIMENSIONS
from registry.reports.report_terms import Terms
from registry.reports.window.columns import gather
from registry.reports.window.observation import (
    ObservedRanking,
    ObservedSelection,
    SiteDisclosure,
)
from tests.unit.reports.test_report import ALGORITHM, WINDOW

WORLDS = 16


def world(seed, *, sites=60, rankings=150, lasting=1.0, handicap=0.0):
    """Return a window. lasting: spread of the sites' lasting merits. handicap: of chains."""
    rng = np.random.default_rng(seed)
    ids = [f"s{number:03}" for number in range(sites)]
    is_chain = rng.random(sites) < 0.3
    merits = lasting * rng.normal(size=sites) - handicap * is_chain
    labels = [
        SiteDisclosure(
            site_id=site,
            size=str(rng.choice(["micro", "small", "medium", "large"])),
            independence="chain" if chain else "independent",
            domain=f"{site}.example",
        )
        for site, chain in zip(ids, is_chain.tolist(), strict=True)
    ]
    return gather(
        [_ranking(rng, number, ids, merits) for number in range(rankings)], labels
    )


def _ranking(rng, number, ids, merits):
    query = int(rng.zipf(1.3)) % 60
    topic = np.random.default_rng(query).choice(len(ids), 20, replace=False)
    order = topic[np.argsort(-(merits[topic] + rng.normal(size=len(topic))))]
    shown = order[:10]
    chosen = shown[min(int(rng.geometric(0.5)) - 1, len(shown) - 1)]
    return ObservedRanking(
        id=f"r{number:06}",
        eligible=len(topic),
        returned=tuple(ids[site] for site in shown.tolist()),
        eligible_sample=tuple(ids[site] for site in topic.tolist()),
        selection=ObservedSelection(site_id=ids[chosen]),
        query=f"q{query}",
    )


def verdicts(observed):
    """Return readings of sites and of kinds, of all comparisons."""
    report = build_report(observed, ALGORITHM, Terms(window=WINDOW))
    cells = [
        cell
        for dimension in report[DIMENSIONS]
        for site_class in dimension.classes
        for cell in site_class.comparisons
    ]
    return (
        [cell.reading for cell in cells if cell.reading],
        [cell for cell in cells if cell.kind_reading in {"more", "less"}],
    )


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param({"lasting": 0.0}, id="alike"),
        pytest.param({"lasting": 1.0}, id="lasting differences"),
        pytest.param({"lasting": 1.0, "sites": 24}, id="few sites"),
    ],
)
def test_fair_worlds_accuse_no_kind(shape):
    alarms = sum(bool(verdicts(world(seed, **shape))[1]) for seed in range(WORLDS))
    assert alarms <= 4  # P = 0.2% where one report in ten has an alarm


def test_sites_that_differ_are_read_as_such_and_their_kind_is_not():
    """In such worlds nearly all reports have a reading of sites, as these do differ."""
    readings, kinds = verdicts(world(5))
    assert {"more", "less"} & {*readings}
    assert kinds == []


def test_a_handicap_of_a_kind_is_shown():
    cells = verdicts(world(1, sites=200, rankings=300, lasting=0.3, handicap=1.5))[1]
    assert {cell.kind_reading for cell in cells} == {"more", "less"}
    assert all("Their kind is treated otherwise" in cell.sentence for cell in cells)
