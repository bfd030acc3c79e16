"""Simulated worlds: what reports say of a kind of site where nothing is amiss, and where.

`bench report --worlds` runs the same for longer; these are few enough for a test, so
that the rates are bounded loosely.
"""

from dataclasses import replace

import numpy as np
import pytest

from registry.bench.report_worlds import FAIR, UNFAIR, Tally, report_of, run_world
from registry.bench.synthetic.worlds import World, draw_population, draw_window
from registry.reports.metrics.comparison import DIMENSIONS

WINDOWS = 6


@pytest.mark.parametrize("world", FAIR, ids=lambda world: world.name)
def test_fair_worlds_raise_no_alarm_and_intervals_cover(world: World) -> None:
    tally = Tally()
    run_world(replace(world, rankings=min(1_000, world.rankings)), WINDOWS, tally)
    assert tally.alarms <= 2  # P = 1.6% for 3 where one report in ten has an alarm
    assert tally.coverage(tally.of_sites) > 0.9
    assert tally.coverage(tally.of_kinds) > 0.85  # of few, and dependent


def test_a_handicap_of_a_kind_is_shown_and_its_size_covered() -> None:
    tally = Tally()
    world = replace(UNFAIR[0], sites=150, handicap=1.0)
    run_world(world, 3, tally)
    assert tally.shown == 3
    assert tally.alarms == 3


def test_sites_that_differ_are_read_as_such_and_their_kind_is_not() -> None:
    """In such worlds nearly all reports have a reading of sites, as these do differ."""
    rng = np.random.default_rng(5)
    world = World(name="lasting", lasting=1.0, liking=0.5)
    report = report_of(draw_window(draw_population(world, rng), rng), 5)
    cells = [
        cell
        for dimension in report[DIMENSIONS]
        for site_class in dimension.classes
        for cell in site_class.comparisons
    ]
    assert {"more", "less"} & {cell.reading for cell in cells}
    assert not {"more", "less"} & {cell.kind_reading for cell in cells}
    assert report.findings[0].startswith("No finding")
    not_shown = [cell for cell in cells if cell.kind_reading == "notShown"]
    assert all(cell.detectable > 0 for cell in not_shown)
    assert all("would be" in cell.sentence for cell in not_shown)
