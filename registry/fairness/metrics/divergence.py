"""Divergences: how far a distribution of attention is from its target.

Sources: Lin 1991 (Jensen-Shannon), Raj & Ekstrand 2022 (attention-weighted rank
fairness, AWRF), Geyik et al. 2019 (NDKL).
"""

import numpy as np

from registry.fairness.arrays import Floats, Integers
from registry.fairness.window.position import logarithmic_weights


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
