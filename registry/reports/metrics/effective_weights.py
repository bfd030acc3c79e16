"""Effective weights: what each factor really does to the order, beside its nominal weight.

A factor that hardly differs between the sites of an answer moves nothing, whatever it
weighs. Two measures: the share of a factor's contributions in the variance within
rankings, and the pairs of sites that would change places without it. Both see returned
sites: among those that were ranked first, factors make up for each other. The pairs of
all eligible sites are those of the daily trials, which score each of them.

Sources: Saisana, Saltelli & Tarantola 2005 (importance against weight in composite
indicators), Paruolo, Saisana & Saltelli 2013.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import FULL
from registry.reports.arrays import Floats, Integers, same_length
from registry.reports.estimate import (
    ClusterSums,
    Estimate,
    divide_sums,
    resample_sums,
    round_figure,
    share_of_sums,
)
from registry.reports.inference.bootstrap import Clusters
from registry.reports.invariance import LEFT_OUT
from registry.reports.metric import Metric
from registry.reports.report_survey import Basis, Trials
from registry.reports.row_types import Column, Key, QueryCount
from registry.reports.window.columns import ScoredColumns
from registry.reports.wording import format_percent

FACTORS = len(FACTOR_NAMES)
VARIANCES, SWAPS, PAIRS = slice(0, FACTORS), slice(FACTORS, 2 * FACTORS), 2 * FACTORS
"""Columns of `weight_sums`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveWeight:
    """Effect of a factor on the order, beside its nominal weight, 0..1 each.

    variance_share: of the contributions' variance within rankings. swap_rate: pairs of
    sites that change places without the factor; swap_share: among those of all factors.
    eligible_…: the same of all eligible sites of the trials' questions, None without a run.
    """

    factor: Annotated[str, Key("part")]
    nominal: Annotated[float, Column("share")]
    queries: QueryCount
    withheld: str = ""
    variance_share: Annotated[Estimate | None, Column("share", "varianceShare")] = None
    swap_rate: Annotated[Estimate | None, Column("share", "swapRate")] = None
    swap_share: Annotated[Estimate | None, Column("share", "swapShare")] = None
    eligible_pairs: Annotated[int, Column("count", "eligiblePairs")] = 0
    eligible_swap_rate: Annotated[float | None, Column("share", "eligibleSwapRate")] = (
        None
    )
    eligible_swap_share: Annotated[
        float | None, Column("share", "eligibleSwapShare")
    ] = None


def contribution_variances(contributions: Integers) -> Floats:
    """Return the variance within each ranking, per factor.

    contributions: shape (rankings, sites, 5).
    """
    variances: Floats = contributions.var(axis=1)
    return variances


def swapped_pairs(contributions: Integers) -> tuple[Integers, Integers]:
    """Return pairs that stand the other way round without a factor, and pairs not tied.

    Shapes (rankings, 5) and (rankings,).
    """
    scores = contributions.sum(axis=2)
    leads = scores[:, :, None] - scores[:, None, :]
    ahead = leads > 0
    swaps = [
        (ahead & (leads < part[:, :, None] - part[:, None, :])).sum(axis=(1, 2))
        for part in np.moveaxis(contributions, 2, 0)
    ]
    return np.stack(swaps, axis=1), ahead.sum(axis=(1, 2))


def weight_sums(
    scored: ScoredColumns, weights: Sequence[int], clusters: Clusters
) -> Floats:
    """Return, per cluster, variances, swaps (five each) and pairs, over its rankings."""
    sums = np.zeros((len(clusters), 2 * FACTORS + 1))
    cluster_of = clusters.number(scored.keys)
    for rankings, items in same_length(scored.counts):
        contributions = scored.factors[items] * np.asarray(weights, np.int64)
        swaps, pairs = swapped_pairs(contributions)
        rows = np.concatenate(
            [contribution_variances(contributions), swaps, pairs[:, None]], axis=1
        )
        np.add.at(sums, cluster_of[rankings], rows)
    return sums


def _measure(basis: Basis) -> tuple[EffectiveWeight, ...]:
    survey, weights = basis.survey, basis.survey.policy.weights
    sums = weight_sums(survey.scored, weights, survey.clusters)
    resampled = resample_sums(sums, survey.draws)
    cells = (
        EffectiveWeight(
            factor=name,
            nominal=weight / FULL,
            queries=survey.scored_queries,
            withheld=survey.terms.withhold(survey.scored_queries),
            **_among_eligible(name, survey.trials),
        )
        for name, weight in zip(FACTOR_NAMES, weights, strict=True)
    )
    if not resampled.total[VARIANCES].sum() > 0:
        return tuple(cells)
    return tuple(
        cell if cell.withheld else _fill(cell, factor, resampled)
        for factor, cell in enumerate(cells)
    )


def _among_eligible(factor: str, runs: Trials) -> dict[str, Any]:
    """Sum up pairs of eligible sites over the runs of the window."""
    counts = [count for run in runs for count in run if count.is_swap]
    own = [count for count in counts if count.perturbation == LEFT_OUT + factor]
    pairs, swaps = (sum(c.trials for c in own), sum(c.violations for c in own))
    return {
        "eligible_pairs": pairs,
        "eligible_swap_rate": round_figure(swaps / pairs) if pairs else None,
        "eligible_swap_share": round_figure(swaps / sum(c.violations for c in counts))
        if swaps
        else (0.0 if pairs else None),
    }


def _fill(cell: EffectiveWeight, factor: int, sums: ClusterSums) -> EffectiveWeight:
    moves = sums.total[SWAPS].sum() > 0
    return replace(
        cell,
        variance_share=sums.estimate(
            lambda sums: share_of_sums(sums[..., VARIANCES], [factor])
        ),
        swap_rate=sums.estimate(
            lambda sums: divide_sums(sums[..., SWAPS][..., factor], sums[..., PAIRS])
        ),
        swap_share=sums.estimate(lambda sums: share_of_sums(sums[..., SWAPS], [factor]))
        if moves
        else None,
    )


def _summarise(weights: Sequence[EffectiveWeight]) -> Iterator[str]:
    parts = ", ".join(
        f"{cell.factor.replace('_', ' ')} {format_percent(cell.variance_share.value)} "
        f"(nominally {format_percent(cell.nominal)})"
        for cell in weights
        if cell.variance_share
    )
    if parts:
        yield (
            "Of what sets the returned sites' scores apart, the factors make up: "
            f"{parts}."
        )
    among = ", ".join(
        f"{cell.factor.replace('_', ' ')} {format_percent(cell.eligible_swap_share)}"
        for cell in weights
        if cell.eligible_swap_share is not None
    )
    if among:
        yield (
            "Of the pairs of all eligible sites that change places where one factor is "
            f"left out, the factors make up: {among}."
        )


EFFECTIVE_WEIGHTS = Metric(
    name="effective_weights",
    title="What each factor does, beside its nominal weight",
    measure=_measure,
    sentences=_summarise,
    definitions={
        "varianceShare": (
            "Part of the factor's weighted values in the variance within rankings, "
            "summed over factors; among returned sites, which differ less in what got "
            "them there."
        ),
        "swapRate": (
            "Pairs of returned sites, not tied, that would stand the other way round "
            "without the factor."
        ),
        "swapShare": "The same as a part of the swaps of all factors.",
        "eligiblePairs": (
            "Pairs of all eligible sites, not tied, of the questions of the days' trials, "
            "whose sites are at most a thousand that the day draws; of more than 256 "
            "eligible ones an even part."
        ),
        "eligibleSwapRate": "Those of them that would stand the other way round.",
        "eligibleSwapShare": "The same as a part of the swaps of all factors.",
    },
)
