import pytest

from registry.reports.invariance import TrialCount
from registry.reports.metrics.trials import sum_trials, violation_rate


def counted(perturbation: str, trials: int, violations: int = 0) -> TrialCount:
    return TrialCount(perturbation=perturbation, trials=trials, violations=violations)


def test_runs_are_summed_by_perturbation_in_the_order_of_the_table() -> None:
    trials = sum_trials(
        [
            [counted("tier", 10), counted("name", 20, 1)],
            [counted("gone", 5), counted("name", 30)],
        ]
    )
    assert (trials.days, trials.trials, trials.violations) == (2, 65, 1)
    assert [
        (perturbation.name, perturbation.trials, perturbation.violations)
        for perturbation in trials.perturbations
    ] == [
        ("name", 50, 1),
        ("tier", 10, 0),
        ("gone", 5, 0),
    ]


def test_without_a_run_the_rate_is_withheld_and_not_zero() -> None:
    trials = sum_trials([])
    assert trials.rate is None
    assert trials.withheld
    assert "withheld" in trials.sentence


@pytest.mark.parametrize("trials", [3, 1_000, 10_000_000])
def test_the_bound_without_a_violation_is_three_over_the_trials(trials: int) -> None:
    rate = violation_rate(0, trials)
    assert (rate.value, rate.low) == (0, 0)
    assert rate.high == pytest.approx(3 / trials, rel=1e-2)


def test_the_interval_holds_the_rate_and_leaves_out_zero() -> None:
    rate = violation_rate(2, 1_000)
    assert 0 < rate.low < rate.value == 0.002 < rate.high < 0.01


def test_the_sentence_tells_the_interval_and_what_failed() -> None:
    held = sum_trials([[counted("name", 10_000)]]).sentence
    assert "In 10000 trials on one day, 0 rankings moved" in held
    assert "(95% interval 0% to 0.03%)" in held
    failed = sum_trials([[counted("name", 1_000, 2), counted("tier", 1_000)]]).sentence
    assert failed.endswith(": name (2 of 1000).")


def test_a_rate_needs_a_trial() -> None:
    with pytest.raises(ValueError, match="at least one trial"):
        violation_rate(0, 0)
