"""Effective weights among all eligible sites: a factor is left out, and pairs change places.

Reports know the factors of returned sites alone. A day's trials hold an index of their
own, in which each eligible site of a question can be scored.
"""

from collections.abc import Iterable
from datetime import datetime

import numpy as np
import numpy.typing as npt

from registry.index.query.index import Index
from registry.index.query.index_searcher import IndexSearcher
from registry.index.query.scoring_parameters import (
    Query,
    ScoringParameters,
    make_scoring_parameters,
)
from registry.index.query.search import is_answered, weigh_terms
from registry.index.segments.part import Scored
from registry.ranking.explain import FACTOR_NAMES
from registry.reports.invariance import LEFT_OUT, TrialCount
from registry.reports.metrics.effective_weights import swapped_pairs

_FACTORS = Scored._fields[2:7]
SITES_MAX = 256
"""Sites of a question whose pairs are compared; of more, an even part."""


def count_swaps(
    index: Index, queries: Iterable[Query], now: datetime
) -> tuple[TrialCount, ...]:
    """Count, for each factor, pairs of eligible sites, and those that change places."""
    swaps, pairs = np.zeros(len(FACTOR_NAMES), np.int64), 0
    for query in queries:
        weights = weigh_terms(index, query.request)
        parameters = make_scoring_parameters(query, weights, now, index.policy)
        if is_answered(index, parameters):
            rows = contributions(index.bound, parameters, index.policy.weights)
            some = rows[:: -(-len(rows) // SITES_MAX) or 1]
            swapped, ahead = swapped_pairs(some[None])
            swaps, pairs = swaps + swapped[0], pairs + int(ahead[0])
    return tuple(
        TrialCount(perturbation=LEFT_OUT + name, trials=pairs, violations=int(own))
        for name, own in zip(FACTOR_NAMES, swaps, strict=True)
    )


def contributions(
    bound: IndexSearcher, parameters: ScoringParameters, weights: Iterable[int]
) -> npt.NDArray[np.int64]:
    """Return the weighted factors of all eligible sites, shape (sites, 5)."""
    scored = [
        bound.score(parameters, part, np.flatnonzero(eligible).astype(np.uint32))
        for part, eligible in enumerate(bound.eligible(parameters))
    ]
    factors = [np.stack([part[name] for name in _FACTORS], 1) for part in scored]
    weighed: npt.NDArray[np.int64] = np.concatenate(factors) * np.array([*weights])
    return weighed
