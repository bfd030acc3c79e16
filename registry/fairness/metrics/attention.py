"""Equity of attention: what items get over many rankings against what they deserve.

Source: Biega, Gummadi & Weikum 2018.
"""

import numpy as np

from registry.fairness.arrays import Floats


def equity_of_attention(attention: Floats, relevance: Floats) -> float:
    """Distance of accumulated attention from accumulated relevance; 0 is fair.

    attention, relevance: shape (queries, items); each query is normalised to sum 1.
    """
    received = attention / attention.sum(axis=1, keepdims=True)
    deserved = relevance / relevance.sum(axis=1, keepdims=True)
    return float(np.abs((received - deserved).sum(axis=0)).sum())
