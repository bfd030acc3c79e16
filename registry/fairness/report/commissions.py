"""The mean commission of §9.7: of what was shown and chosen, with the undeclared told."""

from collections.abc import Mapping
from dataclasses import replace

from registry.fairness.report.compare import COMPARED
from registry.fairness.report.estimate import (
    Evidence,
    bound_commission,
    count_declared,
    count_queries,
    estimate_commission,
    undeclared_share,
)
from registry.fairness.report.figures import MeanCommission, Measure
from registry.fairness.report.wording import describe_commission, explain_withheld
from registry.fairness.window.tally import ELIGIBLE

WEIGHTED: Mapping[int, Measure] = {ELIGIBLE: "eligible", **COMPARED}


def average_commissions(
    evidence: Evidence, minimum_cell: int
) -> tuple[MeanCommission, ...]:
    return tuple(_average(evidence, measure, minimum_cell) for measure in WEIGHTED)


def _average(evidence: Evidence, measure: int, minimum_cell: int) -> MeanCommission:
    rankings, queries = count_declared(evidence.tally, measure)
    cell = MeanCommission(measure=WEIGHTED[measure], rankings=rankings, queries=queries)
    if count_queries(evidence.tally, measure) >= minimum_cell:
        cell = replace(cell, undeclared_share=undeclared_share(evidence, measure))
    if queries >= minimum_cell:
        mean = estimate_commission(evidence, measure)
        cell = replace(cell, mean=mean, bounds=bound_commission(evidence, measure))
    else:
        cell = replace(cell, withheld=explain_withheld(queries, minimum_cell))
    return replace(cell, sentence=describe_commission(cell))
