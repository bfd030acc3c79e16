"""Why a site stands where it stands: the facts, and why it beat the next one."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import sub
from typing import Literal, NamedTuple

import msgspec

from registry.ranking.policy import Policy
from registry.ranking.quality import ProbeFigures
from registry.ranking.score import Contributions
from registry.ranking.ties import OrderKey

FactorName = Literal[
    "relevance", "proximity", "capability_depth", "quality", "freshness"
]
FACTOR_NAMES: tuple[FactorName, ...] = (
    "relevance",
    "proximity",
    "capability_depth",
    "quality",
    "freshness",
)
Reason = FactorName | Literal["commission", "tie"]


class Facts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the factors of one answer rest on.

    matched_terms: words of the query, as typed but for their case and in its order,
    that the site says in some form. best_action: its name, or None where the site
    matched by meaning alone. cosine_bp: the likeness in meaning. distance_band: None
    without a user location or for a site that is not local.
    """

    matched_terms: tuple[str, ...]
    best_action: str | None
    lexical_bp: int
    cosine_bp: int
    distance_band: str | None
    local: bool
    action_count: int
    probes: ProbeFigures
    days_since_change: int
    changed_at: datetime


class Told(msgspec.Struct, gc=False):
    """What explanations tell of a profile as it is; the rest is not even read."""

    local: bool
    probes: ProbeFigures
    changed_at: datetime


class SaidByAction(msgspec.Struct, gc=False):
    """Of `ActionProfile`, whose terms are distinct in each field."""

    name: str
    name_terms: list[str]
    description_terms: list[str]
    parameter_terms: list[str]


class Said(msgspec.Struct, gc=False):
    """What a site says, of a profile."""

    site_terms: list[str]
    actions: list[SaidByAction]


parse_told = msgspec.msgpack.Decoder(Told).decode
"""Of an encoded profile. Raises: msgspec.DecodeError."""

parse_said = msgspec.msgpack.Decoder(Said).decode
"""Of an encoded profile. Raises: msgspec.DecodeError."""


class Matching(NamedTuple):
    """How a site matches a request.

    best_action: the one that says most of it, of equal ones the first; None if none
    says any. said: of each term of the request a byte, 1 if the site says it. actions:
    how many it has.
    """

    best_action: str | None
    said: bytes
    actions: int


def what_matches(
    said: Said, term_weights: Mapping[str, int], policy: Policy
) -> Matching:
    """term_weights: of the request; their order is that of its terms."""
    among = frozenset(term_weights).intersection
    matched = set(among(said.site_terms))
    best, most = None, 0
    for action in said.actions:
        names, descriptions, parameters = (
            among(action.name_terms),
            among(action.description_terms),
            among(action.parameter_terms),
        )
        if not (names or descriptions or parameters):
            continue
        matched.update(names, descriptions, parameters)
        own = (
            policy.action_name_weight_milli * _sum(names, term_weights)
            + policy.description_weight_milli * _sum(descriptions, term_weights)
            + policy.parameter_weight_milli * _sum(parameters, term_weights)
        )
        if own > most:
            best, most = action.name, own
    told = bytes([term in matched for term in term_weights])
    return Matching(best, told, len(said.actions))


def _sum(terms: Iterable[str], term_weights: Mapping[str, int]) -> int:
    return sum([term_weights[term] for term in terms])


class Advantage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why one site stands before the next.

    reason: the factor that contributed most to the lead, or what broke the tie. lead:
    difference of the scores.
    """

    reason: Reason
    lead: int


def why_ahead(
    first: tuple[Contributions, OrderKey], second: tuple[Contributions, OrderKey]
) -> Advantage:
    """first: stands before second."""
    (ours, key), (theirs, other_key) = first, second
    if lead := other_key.negative_score - key.negative_score:
        by_factor = list(map(sub, ours, theirs))
        reason = FACTOR_NAMES[by_factor.index(max(by_factor))]
        return Advantage(reason=reason, lead=lead)
    if key.commission_tier != other_key.commission_tier:
        return Advantage(reason="commission", lead=0)
    return Advantage(reason="tie", lead=0)
