"""Samples of an archive beside the seeds that the log fixes."""

import copy
from functools import cache

import numpy as np
import pytest

from registry.auditor.reports.sample_agreement import SampleAgreement
from registry.index.query.eligible_estimate import PANEL_ROWS
from registry.index.query.sample import draw_keys
from registry.records.record import format_minute
from registry.records.rules.conduct_state import CommittedDay
from registry.sites.identifier import format_site_id
from tests.unit.records.history import DAY, secret_of
from tests.unit.reports.archive.archived import SITES, WINDOW, Town, fair_draw, play

COUNT = 40
START, END = format_minute(WINDOW.start_at), format_minute(WINDOW.end_at)
SEED_LEAF = 1
"""Entry of the day's commitment, which rankings name."""
OPEN = CommittedDay(day=DAY.isoformat(), commitment="", secret=secret_of(DAY).hex())


def of_another_seed(order, seed):
    return fair_draw(order, seed[::-1])


DRAWS = {"fair": fair_draw, "other": of_another_seed}


@cache
def _town(draw):
    return play(Town(draw=DRAWS[draw]), COUNT)


def town_of(draw="fair"):
    return copy.deepcopy(_town(draw))


def compared(town, *, start=START, end=END, sites=30, day=OPEN):
    agreement = SampleAgreement(start=start, end=end, sites=sites)
    for index, body in enumerate(town.bodies):
        agreement.visit(index, body)
    agreement.finish(town.rows, {SEED_LEAF: day})
    return agreement


def lines(agreement):
    return agreement.differences, agreement.missing, agreement.samples


def drawn(town):
    return sum(bool(row.sampled) for row in town.rows)


def test_fair_samples_are_no_difference():
    town = town_of()
    assert lines(compared(town)) == ([], [], drawn(town))
    assert 0 < drawn(town) < len(town.rows)


def test_rankings_of_other_windows_have_no_seeds_here():
    """The log's are paired with the archive's rows, which are those of its window."""
    town = town_of()
    first, second, last = (town.rows[number].minute for number in (0, 1, -1))
    assert compared(town, start=second, end=END).samples < drawn(town)
    town.rows = [row for row in town.rows if row.minute >= second]
    assert lines(compared(town, start=second)) == ([], [], drawn(town))
    town = town_of()
    town.rows = [row for row in town.rows if row.minute < last]
    assert lines(compared(town, end=last)) == ([], [], drawn(town))
    assert compared(town, start=first, end=first).samples == 0


def test_records_of_other_kinds_name_no_seeds():
    """A ranking's kind in the bytes of another record is no ranking."""
    town = town_of()
    entry = b'{"x":{"kind":"ranking"},"kind":"label","t":"%s"}' % START.encode()
    town.bodies[3:3] = [entry] * 5
    assert lines(compared(town)) == ([], [], drawn(town))


def test_samples_by_another_seed_are_a_difference():
    town = town_of("other")
    differences, missing, samples = lines(compared(town))
    assert (missing, samples) == ([], drawn(town))
    assert any("belongs into the sample" in line for line in differences)


def test_who_belongs_into_a_sample_is_named():
    town = town_of()
    row = next(row for row in town.rows if set(row.returned) & set(row.sampled))
    site, *_ = set(row.returned) & set(row.sampled)
    other = next(site for site in SITES if site not in {*row.sampled, *row.returned})
    row.sampled = sorted({*row.sampled, other} - {site})
    (difference,) = compared(town).differences
    name = format_site_id(site)
    assert difference == (
        f"ranking {row.id}: site {name} was returned and belongs into the sample"
    )


def test_a_sample_that_no_record_commits_to_is_drawn_and_not_computed():
    town = town_of()
    rows = [row for row in town.rows if row.sampled][:3]
    for row, logged in zip(rows, (None, False, True), strict=True):
        row.sample_logged = logged
    lacking = "2 samples: no record commits to them"
    assert lines(compared(town)) == ([], [lacking], drawn(town))


def test_a_policy_of_another_release_is_not_computed():
    town = town_of()
    row = next(row for row in town.rows if row.sampled)
    row.policy = "sha256:other"
    lacking = "1 samples: their policy is of another release"
    assert lines(compared(town)) == ([], [lacking], drawn(town) - 1)


def test_a_secret_that_is_not_out_is_waited_for():
    town = town_of()
    day = CommittedDay(day="2026-11-20", commitment="")
    lacking = f"{drawn(town)} samples: the secret of 2026-11-20 is not revealed yet"
    assert lines(compared(town, day=day)) == ([], [lacking], 0)


@pytest.mark.parametrize("name", ["query", "location", "filters", "request"])
def test_what_was_asked_and_is_erased_is_not_computed(name):
    town = town_of()
    row = next(row for row in town.rows if row.sampled)
    setattr(row, name, None)
    setattr(row, f"{name}_salt", None)
    lacking = "1 samples: not all that was asked is in the archive"
    assert lines(compared(town)) == ([], [lacking], drawn(town) - 1)


@pytest.mark.parametrize("text", ["[", '{"id":7}', "7"])
def test_a_request_that_is_none_is_a_difference(text):
    town = town_of()
    row = next(row for row in town.rows if row.sampled)
    row.request = text
    differences, missing, samples = lines(compared(town))
    assert (len(differences), missing, samples) == (1, [], drawn(town) - 1)
    assert f"ranking {row.id}: what was asked can't be read" in differences[0]


def of_greatest_keys(town):
    """Samples of those that were not returned, of the greatest keys."""
    for row in town.rows:
        if row.sampled:
            others = [site for site in SITES if site not in row.returned]
            row.sampled = others[:20]
            row.returned = []
    return town


def test_keys_too_great_for_fair_draws_are_a_difference():
    (difference,) = compared(of_greatest_keys(town_of())).differences
    assert difference.startswith(f"fair draws take keys as those of {COUNT - 4} ") or (
        "samples in " in difference
    )


def test_the_same_request_is_one_draw():
    """Asked a hundred times it would seem far more unlikely than it is."""

    def next_best(_, seed):
        """Take the site of the eighth least key of those that a fair draw leaves."""
        by_key = sorted(SITES, key=lambda site: draw_keys(np.array([site]), seed)[0])
        return sorted([*by_key[:19], by_key[27]])

    town = play(Town(draw=next_best), 2)
    _, row = town.rows
    row.returned = []
    ranking = town.bodies[row.leaf_index]
    town.bodies, town.rows = [ranking] * 100, [row] * 100
    assert lines(compared(town)) == ([], [], 100)


def test_all_eligible_sites_are_no_draw():
    town = of_greatest_keys(town_of())
    for row in town.rows:
        row.eligible = len(row.sampled)
    assert compared(town).differences == []


@pytest.mark.parametrize(("sites", "is_drawn"), [(PANEL_ROWS, 1), (PANEL_ROWS + 1, 0)])
def test_of_a_part_of_the_sites_no_chance_is_computed(sites, is_drawn):
    town = of_greatest_keys(town_of())
    assert len(compared(town, sites=sites).differences) == is_drawn
