"""Trials of invariance in a report: the runs of its window, summed.

A violation is no matter of chance, it is a fault; what chance leaves open is how often
faults happen that the trials did not meet, and that is what the interval bounds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from registry.reports.estimate import Estimate
from registry.reports.inference.rates import proportion_interval, rule_of_three
from registry.reports.invariance import PERTURBATIONS, TrialCount
from registry.reports.metric import Metric
from registry.reports.report_survey import Trials
from registry.reports.row_types import Cells, Column, Key
from registry.reports.wording import format_rate

NO_RUN = "rests on no kept run of trials"
_DECIMALS = 9  # a bound of 3 over millions is to be seen


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbationTrials:
    """Trials of one perturbation. rate: of violations, with its interval."""

    name: Annotated[str, Key("kind")]
    trials: Annotated[int, Column("count", "invariance")]
    violations: Annotated[int, Column("count", "invariance")]
    withheld: str = ""
    rate: Annotated[Estimate | None, Column("rate", "violationRate")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariance:
    """Trials of what must not move a ranking, over the days of the window with a run."""

    days: Annotated[int, Column("count", "invariance")]
    trials: Annotated[int, Column("count", "invariance")]
    violations: Annotated[int, Column("count", "invariance")]
    withheld: str = ""
    rate: Annotated[Estimate | None, Column("rate", "violationRate")] = None
    perturbations: Annotated[tuple[PerturbationTrials, ...], Cells()] = ()
    sentence: str = ""


def sum_trials(runs: Trials) -> Invariance:
    """Return the sums over runs, by perturbation and of all."""
    counts = [count for run in runs for count in run if not count.is_swap]
    whole = _sum("", counts)
    cell = Invariance(
        days=len(runs),
        trials=whole.trials,
        violations=whole.violations,
        rate=whole.rate,
        withheld=whole.withheld,
        perturbations=tuple(
            _sum(name, [count for count in counts if count.perturbation == name])
            for name in _names(counts)
        ),
    )
    return replace(cell, sentence=_describe(cell))


def violation_rate(violations: int, trials: int) -> Estimate:
    """Return the rate by Wilson's interval, or the rule of three where none was seen.

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


def _names(counts: Iterable[TrialCount]) -> list[str]:
    """Return those of the table in its order, then what earlier code tried."""
    tried = {count.perturbation for count in counts}
    known = [row.name for row in PERTURBATIONS if row.name in tried]
    return [*known, *sorted(tried.difference(known))]


def _sum(name: str, counts: Sequence[TrialCount]) -> PerturbationTrials:
    trials = sum(count.trials for count in counts)
    violations = sum(count.violations for count in counts)
    return PerturbationTrials(
        name=name,
        trials=trials,
        violations=violations,
        rate=violation_rate(violations, trials) if trials else None,
        withheld="" if trials else NO_RUN,
    )


def _rounded(rate: float) -> float:
    return round(rate, _DECIMALS)


def _describe(cell: Invariance) -> str:
    if cell.rate is None:
        return f"Trials of invariance: withheld, as the report {cell.withheld}."
    days = "one day" if cell.days == 1 else f"{cell.days} days"
    ends = f"{format_rate(cell.rate.low)} to {format_rate(cell.rate.high)}"
    failed = ", ".join(
        f"{row.name} ({row.violations} of {row.trials})"
        for row in cell.perturbations
        if row.violations
    )
    return (
        f"In {cell.trials} trials on {days}, {cell.violations} rankings moved by what "
        f"must not move them, a rate of {format_rate(cell.rate.value)} "
        f"(95% interval {ends})" + (f": {failed}." if failed else ".")
    )


INVARIANCE = Metric(
    name="invariance",
    title="Trials of what must not move a ranking",
    measure=lambda basis: sum_trials(basis.survey.trials),
    of=Invariance,
    sentences=lambda cell: (cell.sentence,),
    findings=lambda cell: (cell.sentence,) if cell.violations else (),
    definitions={
        "invariance": (
            "Each day the registry asks recent queries of shadow indexes in which one "
            "thing of some sites is otherwise: what must not matter, or what may only "
            "raise, or only lower, a score. A trial is one query under one such change; "
            "a violation is a trial whose answer changed as it must not. The trials are "
            "those of the days in the window, with queries of every operator."
        ),
        "violationRate": (
            "Violations over trials. Where none was seen the interval ends at three over "
            "the number of trials, else it is Wilson's. Trials of a day share queries "
            "and sites, so that it is somewhat too narrow."
        ),
    },
)
