"""Runs of trials of an archive beside the records of the log that tell of them."""

from datetime import timedelta

import pytest

from registry.records.record import format_minute
from registry.reports.archive.trial_agreement import TrialAgreement
from registry.reports.invariance import TrialCount
from tests.unit.records.history import NOON
from tests.unit.reports.archive.archived import SALT, SWAPS, Town

HOUR = timedelta(hours=1)
START, END = NOON, NOON + 10 * HOUR


def run_of(number, *swaps):
    return (TrialCount(perturbation="brand", trials=number, violations=0), *swaps)


OWN, OTHER = run_of(400, *SWAPS), run_of(500, *SWAPS)


def compared(runs, logged, salts=None):
    """logged: instant, run and salt of each record."""
    agreement = TrialAgreement(
        start=format_minute(START),
        end=format_minute(END),
        runs=runs,
        salts=[SALT] * len(runs) if salts is None else salts,
    )
    town = Town()
    for town.now, run, salt in logged:
        town.tell_trials(run, salt)
    for index, body in enumerate(town.bodies):
        agreement.visit(index, body)
    agreement.finish()
    return agreement.differences, agreement.missing


@pytest.mark.parametrize("at", [START, END - timedelta(minutes=1)])
def test_runs_of_the_log_are_no_difference(at):
    assert compared([OWN], [(at, OWN, SALT)]) == ([], [])


@pytest.mark.parametrize("at", [START - timedelta(minutes=1), END])
def test_runs_of_other_windows_are_not_asked_for(at):
    assert compared([], [(at, OTHER, SALT)]) == ([], [])
    own = (START + HOUR, OWN, SALT)
    assert compared([OWN], sorted([own, (at, OTHER, SALT)])) == ([], [])


def test_a_run_that_is_left_out_is_a_difference():
    logged = [(START, OTHER, SALT), (START + HOUR, OWN, SALT)]
    (difference,), missing = compared([OWN], logged)
    assert difference == "the archive has 1 runs of trials, and the log has 2"
    assert missing == []


def test_a_run_in_front_of_the_first_on_record_is_not_computed():
    """The log has none of before: whether there was any nobody can tell."""
    result = compared([OTHER, OWN], [(START, OWN, SALT)], ["", SALT])
    assert result == ([], ["1 runs of trials: no record commits to them"])


def test_a_run_that_the_log_lacks_is_a_difference_once_runs_were_logged():
    logged = [(START - HOUR, OWN, SALT), (START, OWN, SALT)]
    (difference,), missing = compared([OTHER, OWN], logged)
    assert difference == "the archive has 2 runs of trials, and the log has 1"
    assert missing == []


def test_a_commitment_of_before_makes_runs_of_no_record_a_difference():
    """Trials that began before the window and ended in it were logged before."""
    town = Town(START - HOUR)
    town.commit_trials(town.now.date())
    agreement = TrialAgreement(
        start=format_minute(START), end=format_minute(END), runs=[OWN]
    )
    agreement.visit(0, town.bodies[0])
    agreement.finish()
    assert agreement.differences == [
        "the archive has 1 runs of trials, and the log has 0"
    ]


def test_other_results_are_a_difference():
    differences, missing = compared([run_of(500, *SWAPS)], [(START, OWN, SALT)])
    assert differences == ["the trials of 2026-11-20 are not those that the log has"]
    assert missing == []


@pytest.mark.parametrize(
    ("run", "salt"),
    [(run_of(400, *SWAPS[1:]), SALT), (run_of(400), SALT), (OWN, "5b" * 16)],
)
def test_other_pairs_are_a_difference(run, salt):
    differences, missing = compared([run], [(START, OWN, SALT)], [salt])
    assert differences == [
        "the pairs of sites of 2026-11-20 are not those that the log has"
    ]
    assert missing == []


def test_pairs_that_no_record_commits_to_are_not_computed():
    result = compared([OWN], [(START, OWN, "")])
    lacking = "the pairs of sites of 2026-11-20: no record commits to them"
    assert result == ([], [lacking])


def test_older_archives_have_no_pairs_and_no_salts():
    assert compared([run_of(400)], [(START, run_of(400), "")], []) == ([], [])
