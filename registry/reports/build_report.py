"""Fairness report of a window (WAB §9.7), computed from public inputs alone.

Answers the four items of §9.7: traffic by site size, by independence, the commission of
selected sites, and what is known of the selection algorithm. Beside every share stands
the share of the same sites among the eligible ones; beside every figure its 95%
interval; and a difference is called one only where the interval carries it. Ratios under
four fifths, the usual alarm, are never a verdict here: among groups of 30 with a base
rate of 10% they go off in about four of five perfectly fair cases.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from operator import call
from typing import Any

from registry.ranking.policy import DEFAULT_POLICY, Policy
from registry.reports.definitions import DEFINITIONS
from registry.reports.estimate import SampleEvidence, round_figure
from registry.reports.labels import Claims
from registry.reports.metrics.breakdowns import Breakdown, list_breakdowns
from registry.reports.metrics.measures import COMPARED, FORMULAS
from registry.reports.metrics.table import METRICS, READ_FIRST
from registry.reports.model import VERSION, Counts, FairnessReport, PositionModel
from registry.reports.report_survey import Basis, Survey, Trials, survey
from registry.reports.report_terms import Algorithm, Terms
from registry.reports.window.aggregate import POSITION_MODELS
from registry.reports.window.columns import NO_SITE, UNREPORTED, Observed
from registry.reports.wording import (
    describe_algorithm,
    describe_limits,
    describe_no_findings,
    warn_of_chance,
)

NO_CLAIMS: Mapping[int, Claims] = {}
_MODEL_RANKS = 10

Job = Callable[[], Any]
RunJobs = Callable[[Iterable[Job]], Iterable[Any]]
"""Runner of jobs that rest on nothing common: the results in the jobs' order."""

IN_TURN: RunJobs = partial(map, call)


def build_report(
    observed: Observed,
    algorithm: Algorithm,
    terms: Terms,
    policy: Policy = DEFAULT_POLICY,
    trials: Trials = (),
    *,
    claims: Mapping[int, Claims] = NO_CLAIMS,
    run_jobs: RunJobs = IN_TURN,
) -> FairnessReport:
    """Return the report. observed: of the operator of the terms.

    policy: of the disclosed factors' weights. trials: of each run in the window, of all
    queries. claims: at its end, by site number. run_jobs: may run them side by side.

    The same input gives the same report under one version of NumPy, whose generators
    may change between versions (NEP 19): its intervals then move within their noise.
    """
    surveyed = survey(observed, terms, policy, trials, claims)
    basis, breakdowns = _sum_up(surveyed, run_jobs)
    results = run_jobs([partial(metric.measure, basis) for metric in METRICS])
    names = (metric.name for metric in METRICS)
    values = dict(zip(names, results, strict=True))
    counts = _count(surveyed, basis.evidence)
    return FairnessReport(
        version=VERSION,
        terms=terms,
        counts=counts,
        algorithm=algorithm,
        sentences=tuple(_summarise(terms, counts, algorithm, values)),
        definitions=DEFINITIONS,
        position_models=tuple(map(_describe_model, POSITION_MODELS)),
        breakdowns=breakdowns,
        values=values,
        findings=_find(values),
    )


def _sum_up(surveyed: Survey, run_jobs: RunJobs) -> tuple[Basis, tuple[Breakdown, ...]]:
    classes = [own for metric in METRICS for own in metric.classes(surveyed)]
    evidence, amounts, *parts = run_jobs(
        [
            partial(surveyed.sum_classes, classes),
            surveyed.sum_sites,
            *list_breakdowns(surveyed),
        ]
    )
    basis = Basis(
        survey=surveyed,
        evidence=evidence,
        amounts=amounts,
        seen=amounts.max(axis=0, initial=0) > 0,
    )
    return basis, tuple(breakdown for part in parts for breakdown in part)


def _count(surveyed: Survey, evidence: SampleEvidence) -> Counts:
    chosen = [part.chosen for part in surveyed.parts]
    return Counts(
        rankings=sum(map(len, surveyed.parts)),
        empty_rankings=sum(part.empty for part in surveyed.parts),
        queries=surveyed.queries,
        reported=int(sum((sites != UNREPORTED).sum() for sites in chosen)),
        selections=int(sum((sites > NO_SITE).sum() for sites in chosen)),
        sites=int(evidence.aggregate.seen.sum()),
        scored=len(surveyed.scored),
    )


def _describe_model(measure: int) -> PositionModel:
    weights = POSITION_MODELS[measure](_MODEL_RANKS).tolist()
    return PositionModel(
        measure=COMPARED[measure],
        formula=FORMULAS[measure],
        weights=tuple(map(round_figure, weights)),
    )


def _summarise(
    terms: Terms, counts: Counts, algorithm: Algorithm, values: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the items of §9.7 in sentences, with what they rest on and a caveat."""
    yield (
        f"The report rests on {counts.rankings} rankings with results, from "
        f"{counts.queries} independent queries; {counts.empty_rankings} without results "
        f"are left out. Agents reported on {counts.reported} of them, and chose a site "
        f"in {counts.selections}."
    )
    yield from describe_limits(terms)
    for metric in READ_FIRST:
        yield from metric.sentences(values[metric.name])
    yield describe_algorithm(algorithm)
    yield warn_of_chance(_count_judged(values))


def _find(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is amiss, or that nothing is."""
    findings = tuple(
        finding
        for metric in METRICS
        for finding in metric.findings(values[metric.name])
    )
    return findings or (describe_no_findings(_count_judged(values)),)


def _count_judged(values: Mapping[str, Any]) -> int:
    return sum(
        cell.kind_reading is not None
        for metric in METRICS
        for cell in metric.comparisons(values[metric.name])
    )
