"""Figures of a single list as their papers state them, for the vectorised ones to meet.

Items and groups are numbered from 0; an order lists items from rank 1 down; weights are
the attention per rank. Sources: Lin 1991 (Jensen-Shannon), Raj & Ekstrand 2022 (AWRF),
Geyik et al. 2019 (NDKL), Diaz et al. 2020 (expected exposure).
"""

import math

import numpy as np

from registry.reports.window.position import logarithmic_weights


def kullback_leibler_divergence(p, q, base=math.e):
    """Infinite where p has mass that q lacks."""
    seen = p > 0
    with np.errstate(divide="ignore"):
        terms = p[seen] * np.log(p[seen] / q[seen])
    return terms.sum() / np.log(base)


def jensen_shannon_divergence(p, q, base=2):
    """0 for the same distribution; in base 2 at most 1."""
    middle = (p + q) / 2
    return (
        kullback_leibler_divergence(p, middle, base)
        + kullback_leibler_divergence(q, middle, base)
    ) / 2


def attention_weighted_rank_fairness(exposure_shares, target_shares, base=2):
    """1 where exposure is distributed as the target says."""
    return 1 - jensen_shannon_divergence(exposure_shares, target_shares, base)


def normalised_discounted_kl(order_groups, target_shares):
    """Divergence of every prefix from the target, log-discounted; 0 is fair.

    order_groups: the group of the item at each rank.
    """
    depth = len(order_groups)
    hits = order_groups[:, None] == np.arange(len(target_shares))
    prefixes = np.cumsum(hits, axis=0) / np.arange(1, depth + 1)[:, None]
    weights = logarithmic_weights(depth)
    divergences = [kullback_leibler_divergence(p, target_shares) for p in prefixes]
    return weights @ divergences / weights.sum()


def expected_exposure(orders, weights):
    """Mean attention per item, each order as likely as any other."""
    exposures = np.zeros((len(orders), len(weights)))
    for exposure, order in zip(exposures, orders, strict=True):
        exposure[list(order)] = weights
    return exposures.mean(axis=0)


def target_exposure(merits, weights):
    """What fair shuffling gives: items of equal merit share their ranks evenly."""
    ranked = np.array(sorted(merits, reverse=True))
    return np.array([weights[ranked == merit].mean() for merit in merits])


def exposure_disparity(exposure):
    """EE-D: low where exposure is spread evenly."""
    return exposure @ exposure


def exposure_relevance(exposure, target):
    """EE-R: high where exposure goes to those who merit it."""
    return exposure @ target


def exposure_loss(exposure, target):
    """EE-L: squared distance from the target exposure; 0 is fair."""
    return np.square(exposure - target).sum()
