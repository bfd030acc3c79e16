"""Effective weights: each factor's share in the variance of the score.

The variance is of all eligible sites of a request, not of the top alone, where factors
make up for each other.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from registry.index.query.kernel import Kernel
from registry.index.query.scoring_parameters import ScoringParameters
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import FULL, Policy
from registry.reports.metrics.effective_weights import contribution_variances
from registry.usecases.reports.eligible_weights import contributions


def effective_weights(
    bound: Kernel, searches: Sequence[ScoringParameters], policy: Policy
) -> dict[str, Any]:
    """Return shares, whose sum is 1, and each over its nominal weight."""
    rows = [contributions(bound, search, policy.weights) for search in searches]
    variances = np.sum(
        [contribution_variances(c[None])[0] for c in rows if len(c) > 1],
        axis=0,
    )
    shares = variances / variances.sum()
    nominal = np.array(policy.weights) / FULL
    return {
        "effective_weights": _named(shares),
        "effective_over_nominal": _named(shares / nominal),
    }


def _named(values: npt.NDArray[np.float64]) -> dict[str, float]:
    return {
        name: round(float(value), 3)
        for name, value in zip(FACTOR_NAMES, values, strict=True)
    }
