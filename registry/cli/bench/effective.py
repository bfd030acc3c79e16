"""How much each factor really moves the order of made-up sites, beside its weight.

Of all eligible sites of a request, not of the first alone: among these the factors make
up for each other. The share of a factor in the variance of the score, as the fairness
report tells it of the sites that were shown.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from registry.fairness.metrics.effective_weights import contribution_variances
from registry.index.query.constants import Constants
from registry.index.query.kernel import Bound
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import FULL, Policy

_COLUMNS = ("relevance", "proximity", "depth", "quality", "freshness")


def effective_weights(
    bound: Bound, searches: Sequence[Constants], policy: Policy
) -> dict[str, Any]:
    """Shares, of which the sum is 1, and each over the nominal one."""
    found = [_contributions(bound, one, policy) for one in searches]
    variances = np.sum(
        [contribution_variances(one[None])[0] for one in found if len(one) > 1], axis=0
    )
    shares = variances / variances.sum()
    nominal = np.array(policy.weights) / FULL
    return {
        "effective_weights": _named(shares),
        "effective_over_nominal": _named(shares / nominal),
    }


def _contributions(
    bound: Bound, constants: Constants, policy: Policy
) -> npt.NDArray[np.int64]:
    """Of every eligible site, shape (sites, 5)."""
    scored = [
        bound.score(constants, part, np.flatnonzero(eligible).astype(np.uint32))
        for part, eligible in enumerate(bound.eligible(constants))
    ]
    factors = [np.stack([one[name] for name in _COLUMNS], axis=1) for one in scored]
    weighed: npt.NDArray[np.int64] = np.concatenate(factors) * np.array(policy.weights)
    return weighed


def _named(values: npt.NDArray[np.float64]) -> dict[str, float]:
    return {
        name: round(float(value), 3)
        for name, value in zip(FACTOR_NAMES, values, strict=True)
    }
