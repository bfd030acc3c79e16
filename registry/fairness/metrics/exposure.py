"""Exposure: how much attention an order hands to items and to groups, and what they merit.

Items and groups are numbered from 0; an order lists items from rank 1 down; weights are
the attention per rank (`position`). Nothing here knows sites.

Source: Singh & Joachims 2018 (exposure, exposure to merit, disparate treatment).
"""

from collections.abc import Sequence

import numpy as np

from registry.fairness.arrays import Floats, Integers, divide, group_means


def item_exposure(order: Sequence[int], weights: Floats, items: int) -> Floats:
    """Attention per item, shape (items,); an item that is not shown has 0."""
    exposure = np.zeros(items)
    shown = min(len(order), len(weights))
    exposure[np.asarray(order[:shown], np.int64)] = weights[:shown]
    return exposure


def exposure_to_merit(exposure_shares: Floats, merit_shares: Floats) -> Floats:
    """Ratio per group: 1 where a group is seen as much as it merits.

    NaN for a group without merit. With the ranker's own scores as merit this checks
    consistency only; validity needs merits judged by somebody else.
    """
    return divide(exposure_shares, merit_shares)


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
