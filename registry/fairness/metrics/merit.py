"""Merit: whether exposure goes to classes of site as their scores say.

The merit is the ranker's own score. That shows whether the order is consistent with the
scores, and nothing of whether the scores are right: a score that wrongs a class wrongs
it here too, unseen. For validity, merits have to come from somebody else.

Sources: Singh & Joachims 2018 (exposure to merit, disparate treatment), Biega et al. 2018
(equity of attention), Diaz et al. 2020 (expected exposure).
"""

from collections.abc import Sequence

import numpy as np

from registry.fairness.arrays import Floats, Integers, group_means
from registry.fairness.inference.bootstrap import Clusters
from registry.fairness.metrics.effective_weights import same_length
from registry.fairness.window.classes import Classes
from registry.fairness.window.columns import Scored
from registry.fairness.window.position import logarithmic_weights
from registry.fairness.window.tally import normalised_weights

EXPOSURE, MERIT = range(2)
DISPARITY, RELEVANCE, LOSS, QUERIES = range(4)
"""Columns of `expected_exposure_sums`."""


def scores_of(scored: Scored, weights: Sequence[int]) -> Integers:
    """0..10^8, per returned site."""
    scores: Integers = scored.factors @ np.asarray(weights, np.int64)
    return scores


def attention_and_merit(scored: Scored, scores: Integers) -> tuple[Floats, Floats]:
    """Per returned site, each with sum 1 in a ranking (merit: 0 where all scores are)."""
    ranking = np.repeat(np.arange(len(scored)), scored.counts)
    starts = np.cumsum(scored.counts) - scored.counts
    ranks = np.arange(len(ranking)) - starts[ranking]
    table = normalised_weights(scored.counts, logarithmic_weights)
    totals = np.bincount(ranking, scores, len(scored))
    merit = scores / np.maximum(totals, 1)[ranking]
    return table[scored.counts[ranking], ranks], merit


def merit_sums(
    scored: Scored, scores: Integers, classes: Classes, clusters: Clusters
) -> Floats:
    """Shape (clusters, 2, classes): exposure and merit, each ranking one whole."""
    units = np.repeat(clusters.number(scored.keys), scored.counts)
    width = len(classes.names)
    cells = units * width + classes.code[scored.sites]
    size = len(clusters) * width
    sums = [
        np.bincount(cells, amounts, size).reshape(-1, width)
        for amounts in attention_and_merit(scored, scores)
    ]
    return np.stack(sums, axis=1)


def inequity_of_attention(scored: Scored, scores: Integers, site_count: int) -> float:
    """Σ |A - R| over sites, accumulated over all rankings, a ranking; 0..2."""
    attention, merit = attention_and_merit(scored, scores)
    received = np.bincount(scored.sites, attention, site_count)
    deserved = np.bincount(scored.sites, merit, site_count)
    return float(np.abs(received - deserved).sum() / len(scored))


def expected_exposure_sums(
    scored: Scored, scores: Integers, clusters: Clusters
) -> Floats:
    """Per cluster: EE-D, EE-R, EE-L of its queries, summed, and how many these are.

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
    """What fair shuffling gives: items of equal merit share their ranks evenly.

    merits, and what is returned: (lists, n), all of one length.
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
    scored: Scored,
    scores: Integers,
    rankings: Integers,
    items: Integers,
    weights: Floats,
) -> tuple[Integers, Floats]:
    """Of each distinct answer: one of its rankings, and the mean exposure by its ranks."""
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
