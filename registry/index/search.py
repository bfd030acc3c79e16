"""Search: the whole registry in, one page of a total order out, with the facts of each.

Nothing is cut off before it is scored, so a page is a part of the true order, and pages
of one request fit together without a gap or a double.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from registry.index.index import Index
from registry.index.order import Order
from registry.index.sample import sample_sites
from registry.index.scoring import Filters, Query, Scored, score_sites
from registry.ranking.encoder import Encoder
from registry.ranking.explain import Facts
from registry.ranking.policy import Policy
from registry.ranking.proximity import distance_band
from registry.ranking.relevance import Request, best_action, parse_request
from registry.ranking.score import Factors
from registry.ranking.ties import OrderKey


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSite:
    """One place of an answer. behind: ids of the sites that share it, best first."""

    site_id: int
    score: int
    factors: Factors
    facts: Facts
    order_key: OrderKey
    behind: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A page of an answer.

    eligible: sites that were scored. places: how many the whole order has.
    eligible_sample: see `sample`. term_weights: what the index contributed to
    relevance, the idf of each term in thousandths.
    """

    eligible: int
    places: int
    sites: tuple[RankedSite, ...]
    eligible_sample: tuple[int, ...]
    generation: str
    term_weights: Mapping[str, int]


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
    term_weights = index.term_weights(query.request.terms)
    scored = score_sites(index, query, term_weights, now)
    rows = scored.rows
    site_ids = index.site_ids[rows]
    order = Order(
        site_ids, scored.score, index.commission_tier[rows], index.leaders[rows], seed
    )
    return Ranked(
        eligible=len(rows),
        places=order.places,
        sites=tuple(
            RankedSite(
                site_id=key.site_id,
                score=key.score,
                factors=scored.factors_at(position),
                facts=_facts(index, scored, position, query.request, term_weights),
                order_key=key,
                behind=order.behind(position),
            )
            for position, key in order.page(k, after)
        ),
        eligible_sample=sample_sites(site_ids, seed, index.policy.eligible_sample),
        generation=index.generation,
        term_weights=term_weights,
    )


def _facts(
    index: Index,
    scored: Scored,
    position: int,
    request: Request,
    term_weights: Mapping[str, int],
) -> Facts:
    entry = index.entries[scored.rows[position]]
    profile = entry.profile
    best = best_action(profile.actions, term_weights, index.policy)
    return Facts(
        matched_terms=tuple(
            word for word, term in request.term_of.items() if term in entry.terms
        ),
        best_action=best.name if best else None,
        lexical_bp=int(scored.lexical[position]),
        cosine_bp=int(scored.cosine[position]),
        distance_band=_band(scored, position) if profile.local else None,
        local=profile.local,
        action_count=len(profile.actions),
        probes=profile.probes,
        days_since_change=int(scored.days[position]),
        changed_at=profile.changed_at,
    )


def _band(scored: Scored, position: int) -> str | None:
    if scored.distance_km is None:
        return None
    return distance_band(int(scored.distance_km[position]))
