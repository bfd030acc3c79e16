"""Search: the whole registry in, one page of a total order out, with the facts of each.

Nothing is cut off by an earlier, cheaper ranking, so a page is a part of the true
order, and pages of one request fit together without a gap or a double.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import msgspec
import numpy as np

from registry.index.query.constants import Constants, Filters, Query, make_constants
from registry.index.query.index import Index
from registry.index.query.matching import matching_of
from registry.index.query.order import Order, Standing
from registry.index.query.sample import sample_sites
from registry.index.segments.part import Scored
from registry.ranking.encoder import Encoder
from registry.ranking.explain import (
    Advantage,
    Facts,
    Matching,
    Told,
    parse_told,
    why_ahead,
)
from registry.ranking.policy import FULL, Policy
from registry.ranking.proximity import distance_band
from registry.ranking.relevance import Request, parse_request
from registry.ranking.score import Factors
from registry.ranking.ties import OrderKey


class RankedSite(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One place of an answer. behind: ids of the sites that share it, best first.

    ahead: of the next place; None where there is none.
    """

    site_id: int
    score: int
    factors: Factors
    facts: Facts
    order_key: OrderKey
    behind: tuple[int, ...]
    ahead: Advantage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A page of an answer.

    eligible: sites that could have stood in it; is_exact: counted, not estimated, see
    `panel`. has_more: whether the order goes on behind the page. eligible_sample: see
    `sample`. term_weights: what the index contributed to relevance, the weight of each
    term. corrected: see `Request`.
    """

    eligible: int
    is_exact: bool
    has_more: bool
    sites: tuple[RankedSite, ...]
    eligible_sample: tuple[int, ...]
    generation: str
    term_weights: Mapping[str, int]
    corrected: Mapping[str, str]


def prepare_query(
    text: str,
    encoder: Encoder,
    policy: Policy,
    *,
    cell: str | None = None,
    filters: Filters | None = None,
) -> Query:
    return Query(
        request=parse_request(text, encoder, policy),
        cell=cell,
        filters=filters or Filters(),
    )


def search(
    index: Index,
    query: Query,
    *,
    now: datetime,
    seed: bytes,
    k: int,
    after: OrderKey | None = None,
) -> Ranked:
    """At most k places, those after the given key.

    Raises: ValueError if the cell is no geohash.
    """
    weights = _term_weights(index, query.request)
    constants = make_constants(query, weights, now, index.policy)
    order = Order(index, constants, seed)
    standings = order.first(k + 1, after)
    eligible = index.panel.eligible(constants)
    return Ranked(
        eligible=max(eligible.count, len(standings)),
        is_exact=eligible.is_exact,
        has_more=len(standings) > k,
        sites=_explained(
            index, query, constants, order, standings, k=k, weights=weights
        ),
        eligible_sample=sample_sites(
            eligible.site_ids, seed, index.policy.eligible_sample
        ),
        generation=index.generation,
        term_weights=weights,
        corrected=query.request.corrected,
    )


def _explained(
    index: Index,
    query: Query,
    constants: Constants,
    order: Order,
    standings: Sequence[Standing],
    *,
    k: int,
    weights: Mapping[str, int],
) -> tuple[RankedSite, ...]:
    """The first k of them; what stands behind these is compared with the last."""
    page = standings[:k]
    scored = _scored(index, constants, standings)
    factors = list(map(_factors, scored))
    bodies = [index.bodies[one.part][one.row] for one in page]
    matched = matching_of(weights, index.policy)(bodies)
    words = _words(query.request, weights)
    return tuple(
        RankedSite(
            site_id=one.key.site_id,
            score=one.key.score,
            factors=own,
            facts=_facts(parse_told(body), figures, matching, words),
            order_key=one.key,
            behind=order.behind(one),
            ahead=ahead,
        )
        for one, own, body, figures, matching, ahead in zip(
            *(page, factors, bodies, scored, matched),
            _advantages(standings, factors, index.policy),
            strict=False,
        )
    )


def _advantages(
    standings: Sequence[Standing], factors: Sequence[Factors], policy: Policy
) -> list[Advantage | None]:
    """Of each over the next."""
    told = [
        (own.contributions(policy), one.key)
        for own, one in zip(factors, standings, strict=True)
    ]
    return [*(why_ahead(*pair) for pair in pairwise(told)), None]


def _term_weights(index: Index, request: Request) -> dict[str, int]:
    """Of each term that is looked for, what was meant by mistyped words too."""
    shares = request.weights_bp or dict.fromkeys(request.terms, FULL)
    return {
        term: idf * shares[term] // FULL
        for term, idf in index.term_weights(shares).items()
    }


def _scored(
    index: Index, constants: Constants, page: Sequence[Standing]
) -> list[Scored]:
    scored: dict[tuple[int, int], Scored] = {}
    for part in range(len(index.parts)):
        rows = [one.row for one in page if one.part == part]
        if rows:
            found = index.bound.score(constants, part, np.array(rows, np.uint32))
            for row, values in zip(rows, found.tolist(), strict=True):
                scored[part, row] = Scored._make(values)
    return [scored[one.part, one.row] for one in page]


def _factors(scored: Scored) -> Factors:
    return Factors(
        relevance=scored.relevance,
        proximity=scored.proximity,
        capability_depth=scored.depth,
        quality=scored.quality,
        freshness=scored.freshness,
    )


def _words(request: Request, weights: Mapping[str, int]) -> list[tuple[str, int]]:
    """The request's words, each with the number of its term among the weights."""
    numbers = {term: number for number, term in enumerate(weights)}
    return [
        (word, numbers[term])
        for word, term in request.term_of.items()
        if term in numbers
    ]


def _facts(
    told: Told, scored: Scored, matching: Matching, words: Sequence[tuple[str, int]]
) -> Facts:
    """words: see `_words`."""
    said = matching.said
    return Facts(
        matched_terms=tuple([word for word, number in words if said[number]]),
        best_action=matching.best_action,
        lexical_bp=scored.lexical,
        cosine_bp=scored.cosine,
        distance_band=_band(told, scored.km),
        local=told.local,
        action_count=matching.actions,
        probes=told.probes,
        days_since_change=scored.days,
        changed_at=told.changed_at,
    )


def _band(told: Told, km: int) -> str | None:
    return distance_band(km) if told.local and km >= 0 else None
