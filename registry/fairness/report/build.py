"""The fairness report of a window (WAB §9.7), computed from public inputs alone.

Answers the four items of §9.7: traffic by site size, by independence, the commission of
selected sites, and what is known of the selection algorithm. Beside every share stands
the share of the same sites among the eligible ones; beside every figure its 95%
interval; and a difference is called one only where the interval carries it. Ratios under
four fifths, the usual alarm, are never a verdict here: among groups of 30 with a base
rate of 10% they go off in about four of five perfectly fair cases.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from registry.fairness.invariance import Tally
from registry.fairness.labels import Claims
from registry.fairness.report.breakdowns import break_down
from registry.fairness.report.commissions import average_commissions
from registry.fairness.report.compare import COMPARED, Comparer
from registry.fairness.report.contradictions import tell_contradictions
from registry.fairness.report.definitions import DEFINITIONS
from registry.fairness.report.estimate import round_figure
from registry.fairness.report.figures import (
    VERSION,
    Algorithm,
    FairnessReport,
    PositionModel,
    Terms,
)
from registry.fairness.report.parities import measure_parity
from registry.fairness.report.scored import ScoredWindow
from registry.fairness.report.site_figures import amounts_by_site
from registry.fairness.report.survey import NO_CLAIMS, Surveyed, survey
from registry.fairness.report.trials import sum_trials
from registry.fairness.report.wording import summarise
from registry.fairness.window.columns import Observed
from registry.fairness.window.tally import PERSISTENCE, POSITION_MODELS
from registry.ranking.policy import DEFAULT_POLICY, Policy

_FORMULAS = {
    "logarithmic": "1 / log2(1 + rank)",
    "rankBiased": f"{PERSISTENCE} ** (rank - 1)",
    "topOne": "1 at rank 1, else 0",
}
_MODEL_RANKS = 10
_THREADS = (
    2  # beside the caller's; what they wait for are loops without the interpreter
)


def build_report(
    observed: Observed,
    algorithm: Algorithm,
    terms: Terms,
    policy: Policy = DEFAULT_POLICY,
    trials: Sequence[Sequence[Tally]] = (),
    *,
    claims: Mapping[int, Claims] = NO_CLAIMS,
) -> FairnessReport:
    """observed: of the operator of the terms. policy: what weighed the disclosed factors.

    trials: of each run in the window, of all queries. claims: at its end, by site number.

    The same input gives the same report under one version of NumPy, whose generators
    may change between versions (NEP 19): its intervals then move within their noise.
    """
    surveyed = survey(observed, terms, claims)
    with ThreadPoolExecutor(_THREADS) as threads:
        report = _fill(surveyed, surveyed.scored_window(policy), algorithm, threads)
    report = replace(report, invariance=sum_trials(trials))
    return replace(report, sentences=summarise(report))


def _fill(
    surveyed: Surveyed,
    scored: ScoredWindow,
    algorithm: Algorithm,
    threads: ThreadPoolExecutor,
) -> FairnessReport:
    """All that the window tells. Figures that rest on nothing common are made at once."""
    breakdowns = threads.submit(lambda: tuple(break_down(surveyed, scored)))
    weights = threads.submit(scored.weigh_factors)
    ties = threads.submit(scored.audit_ties, surveyed.generator("ties"))
    evidence, by_site = surveyed.weigh(), amounts_by_site(surveyed)
    minimum_cell = surveyed.terms.minimum_cell
    comparer = Comparer(
        evidence=evidence, minimum_cell=minimum_cell, p_values=by_site.p_values
    )
    merit = tuple(scored.compare_merit(surveyed.declared))
    return FairnessReport(
        version=VERSION,
        terms=surveyed.terms,
        counts=surveyed.count(evidence.tally),
        algorithm=algorithm,
        dimensions=tuple(map(comparer.compare, surveyed.classes)),
        commission=average_commissions(evidence, minimum_cell),
        concentration=by_site.concentrations(evidence.tally),
        sentences=(),
        definitions=DEFINITIONS,
        position_models=tuple(map(_describe_model, POSITION_MODELS)),
        breakdowns=breakdowns.result(),
        reach=tuple(by_site.reach(evidence.tally)),
        parity=tuple(measure_parity(surveyed, evidence)),
        merit=merit,
        consistency=scored.check_consistency(merit),
        effective_weights=weights.result(),
        ties=ties.result(),
        contradictions=tell_contradictions(surveyed, comparer),
    )


def _describe_model(measure: int) -> PositionModel:
    name = COMPARED[measure]
    weights = POSITION_MODELS[measure](_MODEL_RANKS).tolist()
    return PositionModel(
        measure=name,
        formula=_FORMULAS[name],
        weights=tuple(map(round_figure, weights)),
    )
