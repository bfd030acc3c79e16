"""Position-bias models: the attention that each rank of a list gets.

Sources: Järvelin & Kekäläinen 2002 (logarithmic), Moffat & Zobel 2008 (rank-biased
precision).
"""

import numpy as np

from registry.reports.arrays import Floats


def logarithmic_weights(depth: int) -> Floats:
    """1 / log2(1 + rank)."""
    weights: Floats = 1 / np.log2(np.arange(2.0, depth + 2))
    return weights


def rank_biased_weights(depth: int, persistence: float) -> Floats:
    """Persistence ** (rank - 1). persistence: 0..1, the chance to look at the next."""
    weights: Floats = persistence ** np.arange(depth, dtype=np.float64)
    return weights


def top_result_weights(depth: int) -> Floats:
    """All attention at rank 1, as with agents that take the first answer."""
    weights: Floats = np.eye(1, depth)[0]
    return weights
