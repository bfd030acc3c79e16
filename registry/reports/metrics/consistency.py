"""Consistency: whether logarithmic attention follows the scores.

Sources: Biega et al. 2018 (equity of attention), Diaz et al. 2020 (expected exposure).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from registry.reports.arrays import Floats, Integers, group_means, same_length
from registry.reports.estimate import Estimate, divide_sums, resample_sums, round_figure
from registry.reports.inference.bootstrap import Clusters
from registry.reports.metric import Metric
from registry.reports.metrics.merit import (
    attention_and_merit,
    count_exposed,
    exposure_to_merit,
    merit_sums,
)
from registry.reports.report_survey import Basis, Survey
from registry.reports.row_types import Column, QueryCount, Row
from registry.reports.window.classes import UNKNOWN, Classes
from registry.reports.window.columns import ScoredColumns
from registry.reports.window.position import logarithmic_weights

DISPARITY, RELEVANCE, LOSS, QUERIES = range(4)
"""Columns of `expected_exposure_sums`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Attention of the scored rankings against their scores.

    largest_gaps: of exposure to merit, by dimension, between its classes.
    inequity: of attention (Biega), a ranking; 0..2. disparity, relevance, loss: of
    expected exposure (EE-D, EE-R, EE-L), the mean over queries.
    """

    queries: QueryCount
    withheld: str = ""
    largest_gaps: dict[str, float] | None = None
    inequity: Annotated[float | None, Column("number", "inequity")] = None
    disparity: Annotated[Estimate | None, Column("number", "disparity")] = None
    relevance: Annotated[Estimate | None, Column("number", "relevance")] = None
    loss: Annotated[Estimate | None, Column("number", "loss")] = None


def inequity_of_attention(
    scored: ScoredColumns, scores: Integers, site_count: int
) -> float:
    """Return Σ |A - R| over sites, accumulated over all rankings, a ranking; 0..2."""
    attention, merit = attention_and_merit(scored, scores)
    received = np.bincount(scored.sites, attention, site_count)
    deserved = np.bincount(scored.sites, merit, site_count)
    return float(np.abs(received - deserved).sum() / len(scored))


def expected_exposure_sums(
    scored: ScoredColumns, scores: Integers, clusters: Clusters
) -> Floats:
    """Return, per cluster, EE-D, EE-R, EE-L of its queries, summed, and their number.

    A query's exposure is the mean over those of its rankings that returned the same
    sites with the same scores; its target a uniform shuffle of equal scores.
    """
    sums = np.zeros((len(clusters), QUERIES + 1))
    cluster_of = clusters.number(scored.keys)
    for rankings, items in same_length(scored.counts):
        weights = logarithmic_weights(items.shape[1])
        first, exposure = _mean_exposures(scored, scores, rankings, items, weights)
        target = target_exposures(scores[items[first]], weights)
        rows = [
            np.square(exposure).sum(axis=1),
            (exposure * target).sum(axis=1),
            np.square(exposure - target).sum(axis=1),
            np.ones(len(first)),
        ]
        np.add.at(sums, cluster_of[rankings[first]], np.stack(rows, axis=1))
    return sums


def target_exposures(merits: Integers, weights: Floats) -> Floats:
    """Return what fair shuffling gives: items of equal merit share their ranks evenly.

    merits, and the result: (lists, n), all of one length.
    """
    lists, length = merits.shape
    order = np.argsort(-merits, axis=1, kind="stable")
    ranked = np.take_along_axis(merits, order, axis=1)
    starts = np.ones((lists, length), np.bool_)
    starts[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    grade = np.cumsum(starts.ravel()) - 1
    by_grade = group_means(np.tile(weights, lists), grade, int(starts.sum()))
    target = np.empty((lists, length))
    np.put_along_axis(target, order, by_grade[grade].reshape(lists, length), axis=1)
    return target


def _mean_exposures(
    scored: ScoredColumns,
    scores: Integers,
    rankings: Integers,
    items: Integers,
    weights: Floats,
) -> tuple[Integers, Floats]:
    """Return, of each distinct answer, one ranking and the mean exposure by its ranks."""
    by_site = np.argsort(scored.sites[items], axis=1)
    answers = np.concatenate(
        [
            scored.keys[rankings].view(np.int64)[:, None],
            np.take_along_axis(scored.sites[items], by_site, axis=1),
            np.take_along_axis(scores[items], by_site, axis=1),
        ],
        axis=1,
    )
    _, first, answer = np.unique(
        answers, axis=0, return_index=True, return_inverse=True
    )
    exposure = np.zeros((len(first), len(weights)))
    np.add.at(exposure, answer.ravel(), weights[by_site])
    exposure /= np.bincount(answer.ravel())[:, None]
    ranked = np.empty_like(exposure)
    np.put_along_axis(ranked, by_site[first], exposure, axis=1)
    return first, ranked


def _measure(basis: Basis) -> Consistency:
    survey = basis.survey
    scored, scores = survey.scored, survey.scores
    queries = survey.scored_queries
    cell = Consistency(queries=queries, withheld=survey.terms.withhold(queries))
    if cell.withheld:
        return cell
    sums = expected_exposure_sums(scored, scores, survey.clusters)
    resampled = resample_sums(sums, survey.draws)
    disparity, relevance, loss = (
        resampled.estimate(_mean_of(column)) for column in (DISPARITY, RELEVANCE, LOSS)
    )
    inequity = inequity_of_attention(scored, scores, len(survey.sites))
    return replace(
        cell,
        largest_gaps=dict(_largest_gaps(survey)),
        inequity=round_figure(inequity),
        disparity=disparity,
        relevance=relevance,
        loss=loss,
    )


def _mean_of(column: int) -> Callable[[Floats], Floats]:
    return lambda sums: divide_sums(sums[..., column], sums[..., QUERIES])


def _largest_gaps(survey: Survey) -> Iterator[tuple[str, float]]:
    for classes in survey.declared:
        ratios = list(_ratios(survey, classes))
        if len(ratios) > 1:
            yield classes.dimension, round_figure(max(ratios) - min(ratios))


def _ratios(survey: Survey, classes: Classes) -> Iterator[float]:
    """Yield exposure to merit of each declared class that is not withheld."""
    sums = merit_sums(survey.scored, survey.scores, classes, survey.clusters)
    for column, name in enumerate(classes.names):
        ratio = round_figure(exposure_to_merit(sums.sum(axis=0), [column]))
        withheld = survey.terms.withhold(count_exposed(sums, [column]))
        if name != UNKNOWN and not withheld and np.isfinite(ratio):
            yield ratio


def _gap_rows(of: Row, cell: Consistency) -> Iterator[Row]:
    for dimension, gap in (cell.largest_gaps or {}).items():
        yield replace(
            of,
            dimension=dimension,
            figure="largestGap",
            unit="ratio",
            value=gap,
            queries=cell.queries,
            definition="exposureToMerit",
        )


CONSISTENCY = Metric(
    name="consistency",
    title="Whether attention follows the scores",
    measure=_measure,
    more_rows=_gap_rows,
    definitions={
        "inequity": (
            "Sum over sites of the distance between attention and merit, each "
            "accumulated over all rankings, a ranking; from 0 to 2. Lists of sites with "
            "like scores can not reach 0, as attention falls with rank."
        ),
        "disparity": "Expected exposure: sum of squares (EE-D), mean over queries.",
        "relevance": "Expected exposure times its target (EE-R), mean over queries.",
        "loss": (
            "Squared distance of expected exposure from its target, a uniform shuffle "
            "of sites of equal score (EE-L), mean over queries. A query asked once is "
            "shuffled once, so that ties alone keep it above 0."
        ),
    },
)
