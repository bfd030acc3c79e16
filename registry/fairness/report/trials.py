"""Trials of invariance in a report: the runs of its window, summed.

A violation is no matter of chance, it is a fault; what chance leaves open is how often
faults happen that the trials did not meet, and that is what the interval tells.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from registry.fairness.inference.rates import proportion_interval, rule_of_three
from registry.fairness.invariance import PERTURBATIONS, Tally
from registry.fairness.report.estimate import Estimate
from registry.fairness.report.figures import Invariance, PerturbationTrials
from registry.fairness.report.wording import describe_trials

NO_RUN = "rests on no kept run of trials"
_DECIMALS = 9  # a bound of 3 over millions is to be seen


def sum_trials(runs: Sequence[Sequence[Tally]]) -> Invariance:
    """runs: of each day in the window what was tried, by perturbation."""
    told = [tally for run in runs for tally in run]
    whole = _summed("", told)
    found = Invariance(
        days=len(runs),
        trials=whole.trials,
        violations=whole.violations,
        rate=whole.rate,
        withheld=whole.withheld,
        perturbations=tuple(
            _summed(name, [one for one in told if one.perturbation == name])
            for name in _names(told)
        ),
    )
    return replace(found, sentence=describe_trials(found))


def _names(told: Iterable[Tally]) -> list[str]:
    """Those of the table in its order, then what earlier code tried."""
    tried = {one.perturbation for one in told}
    known = [one.name for one in PERTURBATIONS if one.name in tried]
    return [*known, *sorted(tried.difference(known))]


def _summed(name: str, tallies: Sequence[Tally]) -> PerturbationTrials:
    trials = sum(one.trials for one in tallies)
    violations = sum(one.violations for one in tallies)
    return PerturbationTrials(
        name=name,
        trials=trials,
        violations=violations,
        rate=violation_rate(violations, trials) if trials else None,
        withheld="" if trials else NO_RUN,
    )


def violation_rate(violations: int, trials: int) -> Estimate:
    """By the rule of three where none was seen, else by Wilson's interval.

    Raises: ValueError without a trial.
    """
    if not violations:
        return Estimate(value=0.0, low=0.0, high=_rounded(rule_of_three(trials)))
    interval = proportion_interval(violations, trials)
    return Estimate(
        value=_rounded(violations / trials),
        low=_rounded(interval.low),
        high=_rounded(interval.high),
    )


def _rounded(rate: float) -> float:
    return round(rate, _DECIMALS)
