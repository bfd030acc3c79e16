"""The five factors and the score of every eligible site, exactly, as columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt

from registry.index.index import Index
from registry.ranking.freshness import days_since, freshnesses
from registry.ranking.proximity import distances_km, proximities, vector_of
from registry.ranking.relevance import Matches, Request, match_sites
from registry.ranking.score import Factors
from registry.sites.place import centroid_of

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """None lets all pass. country: ISO 3166-1 alpha-2."""

    category: str | None = None
    country: str | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """cell: the geohash cell that stands for the user, or None."""

    request: Request
    cell: str | None = None
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Parallel arrays, one entry an eligible site. rows: in the index, ascending.

    distance_km: None without a user location.
    """

    rows: Integers
    lexical: Integers
    cosine: Integers
    relevance: Integers
    proximity: Integers
    capability_depth: Integers
    quality: Integers
    freshness: Integers
    score: Integers
    days: Integers
    distance_km: Integers | None

    def factors_at(self, position: int) -> Factors:
        return Factors(
            relevance=int(self.relevance[position]),
            proximity=int(self.proximity[position]),
            capability_depth=int(self.capability_depth[position]),
            quality=int(self.quality[position]),
            freshness=int(self.freshness[position]),
        )


def score_sites(
    index: Index, query: Query, term_weights: Mapping[str, int], now: datetime
) -> Scored:
    """term_weights: the index's, of the query's terms.

    Raises: ValueError if the cell is no geohash.
    """
    policy = index.policy
    matches = _match(index, query.request, term_weights)
    rows = np.flatnonzero(matches.eligible & _passing(index, query.filters))
    relevance = matches.relevance[rows]
    distance_km = _distances(index, rows, query.cell)
    proximity = _proximities(index, rows, distance_km)
    depth, quality = index.capability_depth[rows], index.quality[rows]
    days = days_since(index.changed_s[rows], now)
    freshness = freshnesses(days, policy)
    factors = np.stack([relevance, proximity, depth, quality, freshness])
    return Scored(
        rows=rows,
        lexical=matches.lexical[rows],
        cosine=matches.cosine[rows],
        relevance=relevance,
        proximity=proximity,
        capability_depth=depth,
        quality=quality,
        freshness=freshness,
        score=np.array(policy.weights, np.int64) @ factors,
        days=days,
        distance_km=distance_km,
    )


def _match(index: Index, request: Request, term_weights: Mapping[str, int]) -> Matches:
    matched = np.zeros(len(index), np.int64)
    for term, weight in term_weights.items():
        rows, impacts = index.postings_of(term)
        matched[rows] += weight * impacts
    vector = np.frombuffer(request.vector, np.int8).astype(np.float32)
    # Not `@`: its threads would contend with those of every other worker.
    products = np.einsum("ij,j->i", index.embeddings, vector).astype(np.int64)
    return match_sites(matched, products, request, term_weights.values(), index.policy)


def _passing(index: Index, filters: Filters) -> npt.NDArray[np.bool_]:
    passing = np.ones(len(index), np.bool_)
    if filters.category is not None:
        passing &= index.categories.matches(filters.category.strip().casefold())
    if filters.country is not None:
        passing &= index.countries.matches(filters.country.upper())
    if filters.format is not None:
        passing &= index.formats.get(filters.format, np.False_)
    return passing


def _distances(index: Index, rows: Integers, cell: str | None) -> Integers | None:
    if cell is None:
        return None
    return distances_km(index.vectors[rows], vector_of(centroid_of(cell)))


def _proximities(
    index: Index, rows: Integers, distance_km: Integers | None
) -> Integers:
    if distance_km is None:
        return np.full(len(rows), index.policy.proximity_neutral, np.int64)
    return proximities(distance_km, index.local[rows], index.policy)
