"""Effective weights: each factor's share in the variance of the score.

The variance is of all eligible sites of a request, not of the top alone, where factors
make up for each other.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from registry.index.query.kernel import KernelSearcher
from registry.index.query.scoring_parameters import ScoringParameters
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import FULL, Policy
from registry.reports.metrics.effective_weights import contribution_variances

_COLUMNS = ("relevance", "proximity", "depth", "quality", "freshness")


def effective_weights(
    bound: KernelSearcher, searches: Sequence[ScoringParameters], policy: Policy
) -> dict[str, Any]:
    """Return shares, whose sum is 1, and each over its nominal weight."""
    contributions = [_contributions(bound, search, policy) for search in searches]
    variances = np.sum(
        [contribution_variances(c[None])[0] for c in contributions if len(c) > 1],
        axis=0,
    )
    shares = variances / variances.sum()
    nominal = np.array(policy.weights) / FULL
    return {
        "effective_weights": _named(shares),
        "effective_over_nominal": _named(shares / nominal),
    }


def _contributions(
    bound: KernelSearcher, constants: ScoringParameters, policy: Policy
) -> npt.NDArray[np.int64]:
    """Return the contributions of all eligible sites, shape (sites, 5)."""
    scored = [
        bound.score(constants, part, np.flatnonzero(eligible).astype(np.uint32))
        for part, eligible in enumerate(bound.eligible(constants))
    ]
    factors = [np.stack([part[name] for name in _COLUMNS], axis=1) for part in scored]
    weighed: npt.NDArray[np.int64] = np.concatenate(factors) * np.array(policy.weights)
    return weighed


def _named(values: npt.NDArray[np.float64]) -> dict[str, float]:
    return {
        name: round(float(value), 3)
        for name, value in zip(FACTOR_NAMES, values, strict=True)
    }
