"""Merit: whether exposure goes to classes of site as their scores say.

The merit is the ranker's own score. That shows whether the order is consistent with the
scores, and nothing of whether the scores are right: a score that wrongs a class wrongs
it here too, unseen. For validity, merits have to come from somebody else.

Source: Singh & Joachims 2018 (exposure to merit, disparate treatment).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from registry.reports.arrays import Floats, Integers
from registry.reports.estimate import (
    ClusterSums,
    Estimate,
    divide_sums,
    resample_sums,
    share_of_sums,
)
from registry.reports.inference.bootstrap import Clusters
from registry.reports.metric import Metric
from registry.reports.report_survey import Basis
from registry.reports.row_types import Column, Key, QueryCount
from registry.reports.window.aggregate import normalised_weights
from registry.reports.window.classes import UNKNOWN, Classes
from registry.reports.window.columns import ScoredColumns
from registry.reports.window.position import logarithmic_weights

EXPOSURE, MERIT = range(2)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeritComparison:
    """Exposure of a class beside its merit, where the ranker's own score is the merit.

    exposure_to_merit: share of exposure over share of merit. treatment: mean exposure
    per mean merit, over that of the other declared classes (DTR).
    """

    dimension: Annotated[str, Key("dimension")]
    name: Annotated[str, Key("kind")]
    queries: QueryCount
    withheld: str = ""
    exposure_share: Annotated[Estimate | None, Column("share", "share")] = None
    merit_share: Annotated[Estimate | None, Column("share", "merit")] = None
    exposure_to_merit: Annotated[
        Estimate | None, Column("ratio", "exposureToMerit")
    ] = None
    treatment: Annotated[Estimate | None, Column("ratio", "treatment")] = None


def attention_and_merit(
    scored: ScoredColumns, scores: Integers
) -> tuple[Floats, Floats]:
    """Return both per returned site, each with sum 1 in a ranking.

    Merit is 0 in a ranking where all scores are.
    """
    ranking = np.repeat(np.arange(len(scored)), scored.counts)
    starts = np.cumsum(scored.counts) - scored.counts
    ranks = np.arange(len(ranking)) - starts[ranking]
    table = normalised_weights(scored.counts, logarithmic_weights)
    totals = np.bincount(ranking, scores, len(scored))
    merit = scores / np.maximum(totals, 1)[ranking]
    return table[scored.counts[ranking], ranks], merit


def merit_sums(
    scored: ScoredColumns, scores: Integers, classes: Classes, clusters: Clusters
) -> Floats:
    """Return exposure and merit, each ranking one whole: (clusters, 2, classes)."""
    units = np.repeat(clusters.number(scored.keys), scored.counts)
    width = len(classes.names)
    cells = units * width + classes.code[scored.sites]
    size = len(clusters) * width
    sums = [
        np.bincount(cells, amounts, size).reshape(-1, width)
        for amounts in attention_and_merit(scored, scores)
    ]
    return np.stack(sums, axis=1)


def exposure_to_merit(sums: Floats, columns: Sequence[int]) -> Floats:
    """Return share of exposure over share of merit. sums: (…, 2, classes)."""
    shares = share_of_sums(sums, columns)
    return divide_sums(shares[..., EXPOSURE], shares[..., MERIT])


def count_exposed(sums: Floats, columns: Sequence[int]) -> int:
    """Return how many queries exposed the classes. sums: (clusters, 2, classes)."""
    return int((sums[:, EXPOSURE, list(columns)] > 0).any(axis=1).sum())


def _cells(basis: Basis) -> Iterator[MeritComparison]:
    survey = basis.survey
    for classes in survey.declared:
        sums = merit_sums(survey.scored, survey.scores, classes, survey.clusters)
        resampled = resample_sums(sums, survey.draws)
        for name, members in classes.kinds.items():
            ours = [classes.names.index(member) for member in members]
            queries = count_exposed(sums, ours)
            cell = MeritComparison(
                dimension=classes.dimension,
                name=name,
                queries=queries,
                withheld=survey.terms.withhold(queries),
            )
            yield cell if cell.withheld else _fill(cell, classes, ours, resampled)


def _fill(
    cell: MeritComparison, classes: Classes, ours: Sequence[int], sums: ClusterSums
) -> MeritComparison:
    others = [
        column
        for column, name in enumerate(classes.names)
        if column not in ours and name != UNKNOWN
    ]

    def ratio(sums: Floats) -> Floats:
        return exposure_to_merit(sums, ours)

    def treatment(sums: Floats) -> Floats:
        return divide_sums(_per_merit(sums, ours), _per_merit(sums, others))

    return replace(
        cell,
        exposure_share=sums.estimate(
            lambda sums: share_of_sums(sums[..., EXPOSURE, :], ours)
        ),
        merit_share=sums.estimate(
            lambda sums: share_of_sums(sums[..., MERIT, :], ours)
        ),
        exposure_to_merit=sums.estimate(ratio)
        if np.isfinite(ratio(sums.total))
        else None,
        treatment=sums.estimate(treatment)
        if others and np.isfinite(treatment(sums.total))
        else None,
    )


def _per_merit(sums: Floats, columns: Sequence[int]) -> Floats:
    parts = sums[..., list(columns)].sum(axis=-1)
    return divide_sums(parts[..., EXPOSURE], parts[..., MERIT])


MERIT_COMPARISON = Metric(
    name="merit",
    title="Exposure beside the ranker's own scores",
    measure=lambda basis: tuple(_cells(basis)),
    of=tuple[MeritComparison, ...],
    definitions={
        "merit": (
            "The ranker's own score. Figures with it show whether exposure is consistent "
            "with the scores, not whether the scores are right: that would be circular."
        ),
        "exposureToMerit": (
            "Share of logarithmic attention over share of merit, among returned sites."
        ),
        "treatment": (
            "Exposure per merit of a class over that of the other declared classes."
        ),
    },
)
