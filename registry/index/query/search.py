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

from registry.index.columns.filters import Filters
from registry.index.query.eligible_estimate import NOTHING_ELIGIBLE
from registry.index.query.index import Index
from registry.index.query.matching import match_profiles
from registry.index.query.sample import sample_sites
from registry.index.query.scoring_parameters import (
    Query,
    ScoringParameters,
    make_scoring_parameters,
)
from registry.index.query.top_k import RankKey, TopK
from registry.index.segments.part import Scored
from registry.ranking.encoders.encoder import Encoder
from registry.ranking.explain import (
    FACTOR_NAMES,
    Advantage,
    DepthFacts,
    Explanation,
    FactorFacts,
    FreshnessFacts,
    Matching,
    ProfileFacts,
    ProximityFacts,
    RelevanceFacts,
    explain,
    explain_quality,
    parse_profile_facts,
    why_ahead,
)
from registry.ranking.policy import FULL, Policy
from registry.ranking.proximity import distance_band
from registry.ranking.rank_score import PageStart, RankScale
from registry.ranking.relevance import ParsedQuery, parse_query
from registry.ranking.score import Factors
from registry.ranking.ties import OrderKey


class RankedSite(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A site of an answer, as far as the index knows it.

    commission_tier: 0 for a declared 0%, else 1. sharing: ids of the sites that share
    its rank, best first. ahead: over the next site; None where there is none.
    """

    order_key: OrderKey
    score: int
    commission_tier: int
    factors: Factors
    explanation: Explanation
    sharing: tuple[int, ...]
    ahead: Advantage | None

    @property
    def site_id(self) -> int:
        return self.order_key.site_id

    @property
    def page_start(self) -> PageStart:
        """The row that the next page goes on from, if this is the last."""
        return PageStart(
            *(-self.score, self.commission_tier, self.order_key.tie_key),
            *(self.site_id, self.factors.relevance, self.factors.quality),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A page of an answer.

    eligible: sites that could have stood in it; is_exact: counted, not estimated, see
    `panel`. has_more: whether the order goes on behind the page. eligible_sample: see
    `sample`. term_weights: what the index contributed to relevance, the weight of each
    term. corrected: see `ParsedQuery`.
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
    caller: str = "",
) -> Query:
    """caller: see `parse_query`."""
    return Query(
        request=parse_query(text, encoder, policy, caller),
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
    """Return at most k results, those after the given key.

    Raises: ValueError if the cell is no geohash.
    """
    weights = weigh_terms(index, query.request)
    constants = make_scoring_parameters(query, weights, now, index.policy)
    order = TopK(index, constants, seed)
    standings = order.first(k + 1, after)
    scored = _scored(index, constants, standings)
    if standings and not is_answered(index, constants, scored):
        standings, scored, eligible = [], [], NOTHING_ELIGIBLE
    else:
        eligible = index.panel.eligible(constants)
    return Ranked(
        eligible=max(eligible.count, len(standings)),
        is_exact=eligible.is_exact,
        has_more=len(standings) > k,
        sites=_explained(index, query, order, standings, scored, k=k, weights=weights),
        eligible_sample=sample_sites(
            eligible.site_ids, seed, index.policy.eligible_sample
        ),
        generation=index.generation,
        term_weights=weights,
        corrected=query.request.corrected,
    )


def is_answered(
    index: Index, constants: ScoringParameters, scored: Sequence[Scored] = ()
) -> bool:
    """Return whether some eligible site means the request. scored: some of them."""
    enough = max(constants.answered_bp)
    if constants.is_answered_by_any or any(row.cosine >= enough for row in scored):
        return True
    answering, _ = index.bound.search(constants.of_answering_sites(), k=1)
    return len(answering) > 0


def _explained(
    index: Index,
    query: Query,
    order: TopK,
    standings: Sequence[RankKey],
    scored: Sequence[Scored],
    *,
    k: int,
    weights: Mapping[str, int],
) -> tuple[RankedSite, ...]:
    """Return the first k sites; the one behind them is compared with the last."""
    page, policy = standings[:k], index.policy
    factors = [
        Factors(**dict(zip(FACTOR_NAMES, row[2:7], strict=True))) for row in scored
    ]
    tier_of = RankScale.of(policy).tier_of
    tiers = [tier_of(-row.key.negative_rank_score) for row in standings]
    bodies = [index.bodies[row.part][row.row] for row in page]
    matched = match_profiles(bodies, weights, policy)
    words = _words(query.request, weights)
    contenders = pairwise(zip(factors, tiers, strict=True))
    return tuple(
        RankedSite(
            order_key=row.key,
            score=figures.score,
            commission_tier=tier,
            factors=values,
            explanation=explain(
                values,
                _facts(parse_profile_facts(body), figures, matching, words, policy),
                policy,
            ),
            sharing=order.behind(row),
            ahead=ahead,
        )
        for row, tier, values, body, figures, matching, ahead in zip(
            *(page, tiers, factors, bodies, scored, matched),
            [*(why_ahead(*pair, policy) for pair in contenders), None],
            strict=False,
        )
    )


def weigh_terms(index: Index, request: ParsedQuery) -> dict[str, int]:
    """Return the weight of each term that is looked for, of what was meant by mistyped words too."""
    shares = request.weights_bp or dict.fromkeys(request.terms, FULL)
    return {
        term: idf * shares[term] // FULL
        for term, idf in index.term_weights(shares).items()
    }


def _scored(
    index: Index, constants: ScoringParameters, page: Sequence[RankKey]
) -> list[Scored]:
    scored: dict[tuple[int, int], Scored] = {}
    for part in range(len(index.parts)):
        rows = [standing.row for standing in page if standing.part == part]
        if rows:
            scored_rows = index.bound.score(constants, part, np.array(rows, np.uint32))
            for row, values in zip(rows, scored_rows.tolist(), strict=True):
                scored[part, row] = Scored._make(values)
    return [scored[standing.part, standing.row] for standing in page]


def _words(request: ParsedQuery, weights: Mapping[str, int]) -> list[tuple[str, int]]:
    """The request's words, each with the number of its term among the weights."""
    numbers = {term: number for number, term in enumerate(weights)}
    return [
        (word, numbers[term])
        for word, term in request.term_of.items()
        if term in numbers
    ]


def _facts(
    profile: ProfileFacts,
    scored: Scored,
    matching: Matching,
    words: Sequence[tuple[str, int]],
    policy: Policy,
) -> FactorFacts:
    """words: see `_words`."""
    terms = matching.terms
    is_near = profile.local and profile.point is not None and scored.km >= 0
    return FactorFacts(
        RelevanceFacts(
            matched_terms=tuple([word for word, number in words if terms[number]]),
            best_action=matching.best_action,
            lexical=scored.lexical,
            semantic=scored.cosine,
        ),
        ProximityFacts(
            distance_band=distance_band(scored.km) if is_near else None,
            local=profile.local,
            geonames_id=profile.place_id,
        ),
        DepthFacts(action_count=matching.actions),
        explain_quality(profile.probes, policy),
        FreshnessFacts(days_since_change=scored.days, changed_at=profile.changed_at),
    )
