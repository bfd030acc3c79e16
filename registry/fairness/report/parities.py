"""Parity of the declared classes: AWRF of the window, NDKL of its scored rankings."""

from collections.abc import Iterator
from dataclasses import replace

from registry.fairness.metrics.parity import awrf_of_sums, ndkl_sums
from registry.fairness.report.compare import COMPARED
from registry.fairness.report.estimate import (
    Estimate,
    Evidence,
    baseline_of,
    count_queries,
    divide_sums,
    estimate,
)
from registry.fairness.report.figures import Parity
from registry.fairness.report.survey import Surveyed
from registry.fairness.report.wording import explain_withheld
from registry.fairness.window.classes import Classes
from registry.fairness.window.tally import ELIGIBLE, LOGARITHMIC


def measure_parity(surveyed: Surveyed, evidence: Evidence) -> Iterator[Parity]:
    minimum_cell = surveyed.terms.minimum_cell
    for classes in surveyed.declared:
        columns = evidence.tally.columns_of(classes.dimension, classes.names)
        for measure, name in COMPARED.items():
            queries = count_queries(evidence.tally, measure)
            cell = Parity(dimension=classes.dimension, measure=name, queries=queries)
            if queries < minimum_cell:
                yield replace(cell, withheld=explain_withheld(queries, minimum_cell))
                continue
            received, eligible = (
                (evidence.sums[one, columns], evidence.replicates[:, one][:, columns])
                for one in (measure, baseline_of(measure))
            )
            yield replace(
                cell,
                awrf=estimate(
                    awrf_of_sums(received[0], eligible[0]),
                    awrf_of_sums(received[1], eligible[1]),
                ),
                ndkl=_ndkl(surveyed, evidence, classes)
                if measure == LOGARITHMIC
                else None,
            )


def _ndkl(surveyed: Surveyed, evidence: Evidence, classes: Classes) -> Estimate | None:
    """None where too few rankings with scores are left."""
    columns = evidence.tally.columns_of(classes.dimension, classes.names)
    target = evidence.sums[ELIGIBLE, columns]
    sums = ndkl_sums(surveyed.scored, classes, target / target.sum(), surveyed.clusters)
    if (sums[:, 1] > 0).sum() < surveyed.terms.minimum_cell:
        return None
    total, resampled = sums.sum(axis=0), surveyed.draws @ sums
    return estimate(
        divide_sums(total[0], total[1]), divide_sums(resampled[:, 0], resampled[:, 1])
    )
