"""Expected exposure: attention under repeated orders, against a fair shuffle of equals.

Source: Diaz et al. 2020.
"""

from collections.abc import Sequence

import numpy as np

from registry.fairness.arrays import Floats, Integers, group_means
from registry.fairness.metrics.exposure import item_exposure


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
    target: Floats = target_exposures(merits[None], weights[: len(merits)])[0]
    return target


def target_exposures(merits: Floats | Integers, weights: Floats) -> Floats:
    """The same for many lists of one length: merits, and what is returned: (lists, n)."""
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


def exposure_disparity(exposure: Floats) -> float:
    """EE-D: low where exposure is spread evenly."""
    return float(exposure @ exposure)


def exposure_relevance(exposure: Floats, target: Floats) -> float:
    """EE-R: high where exposure goes to those who merit it."""
    return float(exposure @ target)


def exposure_loss(exposure: Floats, target: Floats) -> float:
    """EE-L: squared distance from the target exposure; 0 is fair."""
    return float(np.square(exposure - target).sum())
