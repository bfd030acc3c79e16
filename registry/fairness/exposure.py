"""Exposure: how much attention an order hands to items and to groups.

Owns the position-bias models and the measures of ranking fairness built on them. Items
and groups are numbered from 0; an order lists items from rank 1 down; weights are the
attention per rank. Nothing here knows sites.

Sources: Singh & Joachims 2018 (exposure, disparate treatment), Biega et al. 2018 (equity
of attention), Raj & Ekstrand 2022 (attention-weighted rank fairness), Geyik et al. 2019
(NDKL), Diaz et al. 2020 (expected exposure), Moffat & Zobel 2008 (rank-biased
precision).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def logarithmic_weights(depth: int) -> Floats:
    """1 / log2(1 + rank)."""
    weights: Floats = 1 / np.log2(np.arange(2.0, depth + 2))
    return weights


def trec_weights(depth: int) -> Floats:
    """1 / log2(max(rank, 2)): the first two ranks weigh the same."""
    weights: Floats = 1 / np.log2(np.maximum(np.arange(1.0, depth + 1), 2))
    return weights


def rank_biased_weights(depth: int, persistence: float) -> Floats:
    """Persistence ** (rank - 1). persistence: 0..1, the chance to look at the next."""
    weights: Floats = persistence ** np.arange(depth, dtype=np.float64)
    return weights


def top_one_weights(depth: int) -> Floats:
    """All attention at rank 1, as with agents that take the first answer."""
    weights: Floats = np.eye(1, depth)[0]
    return weights


def item_exposure(order: Sequence[int], weights: Floats, items: int) -> Floats:
    """Attention per item, shape (items,); an item that is not shown has 0."""
    exposure = np.zeros(items)
    shown = min(len(order), len(weights))
    exposure[np.asarray(order[:shown], np.int64)] = weights[:shown]
    return exposure


def group_sums(values: Floats, groups: Integers, group_count: int) -> Floats:
    """values, groups: one per item. Sum per group, shape (group_count,)."""
    return np.asarray(np.bincount(groups, values, group_count), np.float64)


def group_means(values: Floats, groups: Integers, group_count: int) -> Floats:
    """NaN for a group without items."""
    sizes = np.bincount(groups, minlength=group_count)
    sums = group_sums(values, groups, group_count)
    return _divide(sums, sizes.astype(np.float64))


def shares(amounts: Floats) -> Floats:
    """Parts of the whole. Raises: ValueError where there is nothing to share."""
    total = amounts.sum()
    if not total > 0 or (amounts < 0).any():
        raise ValueError("shares need amounts >= 0 with a sum above 0")
    parts: Floats = amounts / total
    return parts


def exposure_to_merit(exposure_shares: Floats, merit_shares: Floats) -> Floats:
    """Ratio per group: 1 where a group is seen as much as it merits.

    NaN for a group without merit. With the ranker's own scores as merit this checks
    consistency only; validity needs merits judged by somebody else.
    """
    return _divide(exposure_shares, merit_shares)


def largest_gap(ratios: Floats) -> float:
    """Between the best and the worst served group."""
    return float(np.nanmax(ratios) - np.nanmin(ratios))


def disparate_treatment_ratio(
    exposure: Floats, merit: Floats, groups: Integers, group: int, other: int
) -> float:
    """Mean exposure per mean merit of a group, over that of another; 1 is fair."""
    count = max(group, other, int(groups.max())) + 1
    per_merit = group_means(exposure, groups, count) / group_means(merit, groups, count)
    return float(per_merit[group] / per_merit[other])


def equity_of_attention(attention: Floats, relevance: Floats) -> float:
    """Distance of accumulated attention from accumulated relevance; 0 is fair.

    attention, relevance: shape (queries, items); each query is normalised to sum 1.
    """
    received = attention / attention.sum(axis=1, keepdims=True)
    deserved = relevance / relevance.sum(axis=1, keepdims=True)
    return float(np.abs((received - deserved).sum(axis=0)).sum())


def kullback_leibler_divergence(p: Floats, q: Floats, base: float = np.e) -> float:
    """Infinite where p has mass that q lacks."""
    seen = p > 0
    with np.errstate(divide="ignore"):
        terms = p[seen] * np.log(p[seen] / q[seen])
    return float(terms.sum() / np.log(base))


def jensen_shannon_divergence(p: Floats, q: Floats, base: float = 2) -> float:
    """0 for the same distribution; in base 2 at most 1."""
    middle = (p + q) / 2
    return (
        kullback_leibler_divergence(p, middle, base)
        + kullback_leibler_divergence(q, middle, base)
    ) / 2


def attention_weighted_rank_fairness(
    exposure_shares: Floats, target_shares: Floats, base: float = 2
) -> float:
    """AWRF = 1 - JSD; 1 where exposure is distributed as the target says."""
    return 1 - jensen_shannon_divergence(exposure_shares, target_shares, base)


def normalised_discounted_kl(order_groups: Integers, target_shares: Floats) -> float:
    """NDKL: divergence (in nats) of every prefix from the target, log-discounted.

    order_groups: the group of the item at each rank. 0 is fair.
    """
    depth = len(order_groups)
    hits = order_groups[:, None] == np.arange(len(target_shares))
    prefixes = np.cumsum(hits, axis=0) / np.arange(1, depth + 1)[:, None]
    weights = logarithmic_weights(depth)
    divergences = [kullback_leibler_divergence(p, target_shares) for p in prefixes]
    return float(weights @ divergences / weights.sum())


def expected_exposure(
    orders: Sequence[Sequence[int]], probabilities: Floats, weights: Floats, items: int
) -> Floats:
    """Mean attention per item under a random order; probabilities: one per order."""
    exposures = np.array([item_exposure(order, weights, items) for order in orders])
    expected: Floats = probabilities @ exposures
    return expected


def target_exposure(merits: Floats, weights: Floats) -> Floats:
    """What fair shuffling gives: items of equal merit share their ranks evenly.

    weights: at least one per item.
    """
    grades, grade_of = np.unique(-merits, return_inverse=True)
    ranked = np.sort(grade_of)
    by_grade = group_means(weights[: len(merits)], ranked, len(grades))
    return by_grade[grade_of]


def exposure_disparity(exposure: Floats) -> float:
    """EE-D: low where exposure is spread evenly."""
    return float(exposure @ exposure)


def exposure_relevance(exposure: Floats, target: Floats) -> float:
    """EE-R: high where exposure goes to those who merit it."""
    return float(exposure @ target)


def exposure_loss(exposure: Floats, target: Floats) -> float:
    """EE-L: squared distance from the target exposure; 0 is fair."""
    return float(np.square(exposure - target).sum())


def _divide(parts: Floats, wholes: Floats) -> Floats:
    """NaN where there is no whole."""
    ratios = np.full(len(wholes), np.nan)
    np.divide(parts, wholes, out=ratios, where=wholes > 0)
    return ratios
