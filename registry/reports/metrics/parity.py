"""Parity: how far the attention of classes is from their eligible shares.

AWRF over the whole window, NDKL as the mean over rankings. Sources: Raj & Ekstrand 2022,
Geyik et al. 2019.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np

from registry.reports.arrays import Floats, same_length
from registry.reports.estimate import (
    Estimate,
    baseline_of,
    count_queries,
    divide_sums,
    estimate,
    resample_sums,
    round_figure,
)
from registry.reports.inference.bootstrap import Clusters
from registry.reports.metric import Metric
from registry.reports.metrics.measures import COMPARED, Measure
from registry.reports.report_survey import Basis
from registry.reports.row_types import Column, Key, QueryCount
from registry.reports.window.aggregate import ELIGIBLE, LOGARITHMIC
from registry.reports.window.classes import Classes
from registry.reports.window.columns import ScoredColumns
from registry.reports.window.position import logarithmic_weights

_FLOOR = 1e-6
"""Least target share: a class that no sample held may still be returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """A distribution of a measure over the classes of a dimension, against another.

    awrf: 1 less the Jensen-Shannon divergence, base 2, of shares from eligible shares.
    by_chance: what 95% of windows would reach where the shares are the same. parity:
    whether this one does; then its interval ends at 1, which no sample can reach.
    ndkl: mean over the scored rankings, in nats, against the same target.
    """

    dimension: Annotated[str, Key("dimension")]
    measure: Annotated[Measure, Key("measure")]
    queries: QueryCount
    withheld: str = ""
    awrf: Annotated[Estimate | None, Column("number", "awrf")] = None
    ndkl: Annotated[Estimate | None, Column("number", "ndkl")] = None
    by_chance: Annotated[float | None, Column("number", "awrf")] = None
    parity: Annotated[
        Literal["withinChance", "apart"] | None, Column("text", "awrf")
    ] = None


def awrf_of_sums(received: Floats, eligible: Floats) -> Floats:
    """Return AWRF in base 2 of amounts by class. Shapes: (…, classes)."""
    p, q = _as_shares(received), _as_shares(eligible)
    middle = (p + q) / 2
    divergence = (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2
    fairness: Floats = 1 - divergence / np.log(2)
    return fairness


def ndkl_sums(
    scored: ScoredColumns, classes: Classes, target: Floats, clusters: Clusters
) -> Floats:
    """Return, per cluster, NDKL of its rankings, summed, and how many these are."""
    floored = np.maximum(target, _FLOOR)
    floored = floored / floored.sum()
    sums = np.zeros((len(clusters), 2))
    cluster_of = clusters.number(scored.keys)
    for rankings, items in same_length(scored.counts):
        hits = classes.code[scored.sites[items]][:, :, None] == np.arange(len(target))
        length = items.shape[1]
        prefixes = hits.cumsum(axis=1) / np.arange(1, length + 1)[:, None]
        weights = logarithmic_weights(length)
        values = _relative_entropy(prefixes, floored) @ (weights / weights.sum())
        np.add.at(
            sums, cluster_of[rankings], np.stack([values, np.ones(len(values))], 1)
        )
    return sums


def _cells(basis: Basis) -> Iterator[Parity]:
    for classes in basis.survey.declared:
        for measure, name in COMPARED.items():
            queries = count_queries(basis.evidence.aggregate, measure)
            cell = Parity(
                dimension=classes.dimension,
                measure=name,
                queries=queries,
                withheld=basis.terms.withhold(queries),
            )
            if not cell.withheld:
                cell = _with_awrf(cell, basis, classes, measure)
                if measure == LOGARITHMIC:
                    cell = replace(cell, ndkl=_ndkl(basis, classes))
            yield cell


def _with_awrf(cell: Parity, basis: Basis, classes: Classes, measure: int) -> Parity:
    evidence, baseline = basis.evidence, baseline_of(measure)
    columns = evidence.aggregate.columns_of(classes.dimension, classes.names)
    sums, replicates = evidence.sums[:, columns], evidence.replicates[:, :, columns]
    awrf = estimate(
        awrf_of_sums(sums[measure], sums[baseline]),
        awrf_of_sums(replicates[:, measure], replicates[:, baseline]),
    )
    target = _as_shares(sums[baseline])
    apart = _as_shares(replicates[:, measure]) - _as_shares(replicates[:, baseline])
    centred = target + apart - (_as_shares(sums[measure]) - target)
    at_parity = awrf_of_sums(
        np.maximum(centred, 0), np.broadcast_to(target, apart.shape)
    )
    by_chance = round_figure(np.nanquantile(at_parity, 0.05))
    if awrf.value < by_chance:
        return replace(cell, awrf=awrf, by_chance=by_chance, parity="apart")
    awrf = replace(awrf, high=1.0)
    return replace(cell, awrf=awrf, by_chance=by_chance, parity="withinChance")


def _ndkl(basis: Basis, classes: Classes) -> Estimate | None:
    """Return None where too few rankings with scores are left."""
    survey, evidence = basis.survey, basis.evidence
    columns = evidence.aggregate.columns_of(classes.dimension, classes.names)
    target = evidence.sums[ELIGIBLE, columns]
    sums = ndkl_sums(survey.scored, classes, target / target.sum(), survey.clusters)
    if basis.terms.withhold(int((sums[:, 1] > 0).sum())):
        return None
    resampled = resample_sums(sums, survey.draws)
    return resampled.estimate(lambda s: divide_sums(s[..., 0], s[..., 1]))


def _as_shares(amounts: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        parts: Floats = amounts / amounts.sum(axis=-1, keepdims=True)
    return parts


def _relative_entropy(p: Floats, q: Floats) -> Floats:
    """Return the Kullback-Leibler divergence in nats over the last axis.

    q is above 0 where p is.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * np.log(p / q), 0.0)
    divergence: Floats = terms.sum(axis=-1)
    return divergence


PARITY = Metric(
    name="parity",
    title="Classes of sites beside what would be expected",
    measure=lambda basis: tuple(_cells(basis)),
    of=tuple[Parity, ...],
    definitions={
        "awrf": (
            "1 less the Jensen-Shannon divergence, base 2, of the classes' shares from "
            "their eligible shares; 1 where they are the same. Chance alone keeps it "
            "below 1: byChance is what 95 of 100 windows would reach were the shares the "
            "same. Where this one does, its parity is withinChance and its interval ends "
            "at 1."
        ),
        "ndkl": (
            "Divergence, in nats, of every top of a list from the eligible shares, "
            "discounted by the logarithm of its length; mean over the scored rankings. "
            "0 where they are the same; short lists can not reach it."
        ),
    },
)
