"""Parity: how far the attention of classes is from their eligible shares.

AWRF over the whole window, NDKL as the mean over rankings. Sources: Raj & Ekstrand 2022,
Geyik et al. 2019.
"""

import numpy as np

from registry.fairness.arrays import Floats
from registry.fairness.inference.bootstrap import Clusters
from registry.fairness.metrics.effective_weights import same_length
from registry.fairness.window.classes import Classes
from registry.fairness.window.columns import Scored
from registry.fairness.window.position import logarithmic_weights

_FLOOR = 1e-6
"""Of a target share: a class that no sample held may still be returned."""


def awrf_of_sums(received: Floats, eligible: Floats) -> Floats:
    """AWRF in base 2 of amounts by class; shapes (…, classes)."""
    p, q = _as_shares(received), _as_shares(eligible)
    middle = (p + q) / 2
    divergence = (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2
    fairness: Floats = 1 - divergence / np.log(2)
    return fairness


def ndkl_sums(
    scored: Scored, classes: Classes, target: Floats, clusters: Clusters
) -> Floats:
    """Per cluster: NDKL of its rankings, summed, and how many these are."""
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


def _as_shares(amounts: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        parts: Floats = amounts / amounts.sum(axis=-1, keepdims=True)
    return parts


def _relative_entropy(p: Floats, q: Floats) -> Floats:
    """Kullback-Leibler divergence in nats over the last axis; q > 0 where p > 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * np.log(p / q), 0.0)
    divergence: Floats = terms.sum(axis=-1)
    return divergence
