"""Choices beside what the ranks shown would bring."""

import numpy as np
import pytest

from registry.bench.report_worlds import report_of
from registry.bench.synthetic.worlds import World, draw_population, draw_window
from registry.reports.metrics.comparison import DIMENSIONS
from registry.reports.metrics.comparison_sentences import describe_findings
from registry.reports.window.choices import choice_ranks, rank_odds
from registry.reports.window.columns import NO_SITE, UNREPORTED
from tests.unit.reports.observed import gather
from tests.unit.reports.test_report import SITES, cell_of, ranking, report_on


def test_the_rank_of_a_choice_is_its_place_in_the_list():
    rankings = [
        ranking(0, ("mic", "sml"), chosen="sml"),
        ranking(1, ("med",), chosen="lrg"),
        ranking(2, ("med",), reported=False),
        ranking(3, ("lrg", "mic", "sml"), chosen="lrg"),
    ]
    [part] = gather(rankings, ()).parts
    assert part.chosen[2] == UNREPORTED != NO_SITE
    assert choice_ranks(part).tolist() == [1, -1, -1, 0]


def test_odds_bring_as_many_choices_to_each_rank_as_were_reported():
    """Also of lists of several lengths, where a plain mean by rank is wrong."""
    rng = np.random.default_rng(1)
    rankings = []
    for number in range(3_000):
        order = [SITES[i] for i in rng.permutation(5)][: 2 + number % 4]
        odds = np.array([8.0, 4, 2, 1, 1])[: len(order)]
        chosen = rng.choice(len(order), p=odds / odds.sum())
        rankings.append(ranking(number, order, chosen=order[chosen]))
    odds = rank_odds(gather(rankings, ()).parts)
    assert odds == pytest.approx(np.array([8, 4, 2, 1, 1]) / 16, abs=0.03)
    assert rank_odds([]).tolist() == []


def test_what_the_ranking_gave_and_what_agents_made_of_it_stand_apart():
    """Chains are always first, and agents take the first two times in three."""
    orders = [("lrg", "mic", "sml"), ("med", "sml", "mic")]
    report = report_on(
        [
            ranking(i, orders[i % 2], chosen=orders[i % 2][i % 3 == 0])
            for i in range(120)
        ]
    )
    beside_eligible = cell_of(report, "chain", "selected", "independence")
    beside_shown = cell_of(report, "chain", "selectedGivenRank", "independence")
    assert beside_eligible.gap.value == pytest.approx(2 / 3 - 0.4, abs=1e-6)
    assert beside_shown.gap.value == pytest.approx(0, abs=1e-6)
    assert "their ranks alone would bring 66.7%" in beside_shown.sentence


def test_agents_who_favour_a_kind_are_told_from_the_ranking():
    world = World(name="odds", sites=120, rankings=2_000, liking=0.2, odds=2.0)
    rng = np.random.default_rng(2)
    report = report_of(draw_window(draw_population(world, rng), rng), 2)
    findings = list(describe_findings(report[DIMENSIONS]))
    assert [
        line for line in findings if line.startswith("Agents chose sites of chains")
    ]
    assert not [line for line in findings if line.startswith("The ranking")]
    assert report.findings == tuple(findings)
