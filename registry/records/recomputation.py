"""A ranking computed again from what its record discloses.

Totals are the policy's weights times the factors; ties are drawn from the day's secret,
the asker's nonce and the request; the order follows from both. Here factors are taken as
they are disclosed, but where the answer shows the facts; `registry.auditor.profiles` has
the others.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, pairwise
from typing import Annotated, cast

import msgspec

from registry.errors import Refused
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import FULL, Policy, parse_policy
from registry.ranking.proximity import proximity
from registry.ranking.quality import quality
from registry.ranking.rank_score import PageStart, RankScale
from registry.ranking.ties import make_seed, make_seed_by_id, tie_key
from registry.records.canonical import JsonValue
from registry.records.disclosure import verify_disclosure
from registry.records.packed_scores import PLACELESS, UNKNOWN_PLACE, DisclosedScore
from registry.records.refusals import POLICY_WITHOUT_WEIGHTS
from registry.records.seed import digest_request
from registry.sites.place import Point, centroid_of

RELEVANCE, PROXIMITY, QUALITY = map(
    FACTOR_NAMES.index, ("relevance", "proximity", "quality")
)
FindPlace = Callable[[int], Point | None]

TIES_BY_ID = 1
"""Form of policies that do not say how ties are drawn: by an id that the registry chose."""


class AnswerDisclosed(msgspec.Struct, frozen=True):
    """Disclosed answer: how many sites were eligible, and those returned in order.

    sample: of the eligible; None in older records.
    """

    eligible: Annotated[int, msgspec.Meta(ge=0)]
    order: tuple[str, ...]
    sample: tuple[str, ...] | None = None


class RequestDisclosed(msgspec.Struct, frozen=True):
    """Disclosed request. after: the last row of the page before."""

    id: str
    nonce: str
    at: Annotated[datetime, msgspec.Meta(tz=True)]
    after: PageStart


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDay:
    """The seed that a ranking names. secret: None until it is revealed."""

    day: str
    secret: bytes | None


@dataclass(slots=True, kw_only=True)
class Recomputation:
    """checked: what came out the same or not. differences: what did not.

    missing: what could not be computed, and why.
    """

    checked: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def is_possible(self) -> bool:
        return bool(self.checked)

    def add(self, checked: str, differences: Iterable[str]) -> None:
        self.checked += (checked,)
        self.differences += tuple(differences)

    def lack(self, missing: str) -> None:
        self.missing += (missing,)

    @classmethod
    def joined(cls, parts: Iterable["Recomputation"]) -> "Recomputation":
        several = list(parts)
        return cls(
            checked=tuple(name for part in several for name in part.checked),
            differences=tuple(text for part in several for text in part.differences),
            missing=tuple(text for part in several for text in part.missing),
        )


def recompute(
    members: Mapping[str, JsonValue],
    disclosures: Sequence[str],
    *,
    policy_text: str,
    day: KnownDay,
    find_place: FindPlace,
) -> Recomputation:
    """members: of a parsed ranking record; policy_text: of the policy it names.

    find_place: the point of a GeoNames id.

    Raises: Refused if a disclosure is none of this record, or the policy has no weights.
    """
    digests = set(cast("Sequence[str]", members["_sd"]))
    opened = [verify_disclosure(text, digests) for text in disclosures]
    values = {disclosure.name: disclosure.value for disclosure in opened}
    try:
        scores = _scores(values)
        request = _request(values)
        answer = _answer(members, values)
    except ValueError as error:
        return Recomputation(checked=("form",), differences=(f"a disclosure: {error}",))
    weights, tie_form = weights_of(policy_text), tie_form_of(policy_text)
    outcome = Recomputation()
    if scores is None:
        outcome.lack("totals and order: the scores are not disclosed")
    else:
        if answer is None:
            outcome.lack("sites: the answer is not disclosed")
        else:
            outcome.add("sites", _site_differences(answer, scores))
        outcome.add("totals", _total_differences(scores, weights))
        outcome.add("order", _order_differences(scores, request, policy_text))
    if scores is not None and tie_form != TIES_BY_ID:
        _add_factors(outcome, scores, values, parse_policy(policy_text), find_place)
    if request is None:
        outcome.lack("ties: the request is not disclosed")
    else:
        outcome.add("day", _day_differences(members, request, day))
    if day.secret is None:
        outcome.lack(f"ties: the secret of {day.day} is not revealed yet")
    elif scores is not None and request is not None:
        _add_ties(outcome, scores, disclosed_seed(values, day.secret, policy_text))
    return outcome


def weights_of(policy_text: str) -> tuple[int, ...]:
    """Return the weights in the order of the factors. policy_text: of a policy record.

    Raises: Refused if it names no weights.
    """
    with Refused.on(
        (ValueError, KeyError, TypeError, RecursionError), POLICY_WITHOUT_WEIGHTS
    ):
        policy = json.loads(policy_text)
        return tuple(int(policy[f"weight_{name}"]) for name in FACTOR_NAMES)


def _add_ties(
    outcome: Recomputation, scores: Sequence[DisclosedScore], seed: bytes | None
) -> None:
    if seed is None:
        outcome.lack("ties: not all that was asked is disclosed")
    else:
        outcome.add("ties", _tie_differences(scores, seed))


def _add_factors(
    outcome: Recomputation,
    scores: Sequence[DisclosedScore],
    values: Mapping[str, JsonValue],
    policy: Policy,
    find_place: FindPlace,
) -> None:
    """Compute again what follows from facts that the answer shows."""
    outcome.add("quality", _quality_differences(scores, policy))
    if "location" in values:
        located = _Located(values["location"], find_place)
        outcome.add("proximity", located.differences(scores, policy))
    else:
        outcome.lack("proximity: the location is not disclosed")


def tie_form_of(policy_text: str) -> object:
    """Return how a policy draws ties; 1 where it is silent. policy_text: with weights."""
    return json.loads(policy_text).get("tie_seed_form", TIES_BY_ID)


def disclosed_seed(
    values: Mapping[str, JsonValue], secret: bytes | None, policy_text: str
) -> bytes | None:
    """Return the seed of a ranking's ties; None where too little is known."""
    request = _request(values)
    if secret is None or request is None:
        return None
    if tie_form_of(policy_text) == TIES_BY_ID:
        return make_seed_by_id(secret, request.id, request.nonce)
    if not values.keys() >= {"query", "location", "filters"}:
        return None
    digest = digest_request(
        values["query"], values["location"], values["filters"], request.at
    )
    return make_seed(secret, digest, request.nonce)


def _scores(values: Mapping[str, JsonValue]) -> list[DisclosedScore] | None:
    if "scores" not in values:
        return None
    return msgspec.convert(values["scores"], list[DisclosedScore])


def _request(values: Mapping[str, JsonValue]) -> RequestDisclosed | None:
    if "request" not in values:
        return None
    return parse_request(values["request"])


def parse_request(disclosed: JsonValue) -> RequestDisclosed:
    """Raises: msgspec.ValidationError."""
    return msgspec.convert(disclosed, RequestDisclosed, strict=False)


def _answer(
    members: Mapping[str, JsonValue], values: Mapping[str, JsonValue]
) -> AnswerDisclosed | None:
    """Return what the answer held: of version 1, it stands in the record."""
    if "order" in members:
        order = tuple(cast("Sequence[str]", members["order"]))
        return AnswerDisclosed(eligible=cast("int", members["n"]), order=order)
    if "answer" not in values:
        return None
    return msgspec.convert(values["answer"], AnswerDisclosed)


def _site_differences(
    answer: AnswerDisclosed, scores: Sequence[DisclosedScore]
) -> Iterator[str]:
    if [row.site for row in scores] != list(answer.order):
        yield "the scored sites are not those of the order"
    if len(set(answer.order)) != len(answer.order):
        yield "a site stands in the order twice"
    if answer.eligible < len(answer.order):
        yield f"{len(answer.order)} sites of {answer.eligible} eligible ones"


def _total_differences(
    scores: Sequence[DisclosedScore], weights: Sequence[int]
) -> Iterator[str]:
    for row in scores:
        if not all(0 <= factor <= FULL for factor in row.factors):
            yield f"{row.site}: a factor outside 0..{FULL}"
        total = sum(w * f for w, f in zip(weights, row.factors, strict=True))
        if total != row.score:
            yield f"{row.site}: the total is {total}, not {row.score}"


def _quality_differences(
    scores: Sequence[DisclosedScore], policy: Policy
) -> Iterator[str]:
    """Compute quality again from the facts that the answer shows."""
    for row in scores:
        figures = row.figures
        if figures is None:
            yield f"{row.site}: the probes behind its quality are not disclosed"
        elif not figures.successes <= figures.answers <= figures.probes:
            yield f"{row.site}: more probes were answered than made"
        elif (computed := quality(figures, policy)) != row.factors[QUALITY]:
            yield f"{row.site}: the quality is {computed}, not {row.factors[QUALITY]}"


@dataclass(frozen=True, slots=True)
class _Located:
    """Location of a request. cell: a geohash or None."""

    cell: JsonValue
    find_place: FindPlace

    def differences(
        self, scores: Sequence[DisclosedScore], policy: Policy
    ) -> Iterator[str]:
        """Compute proximity again from the cities of the sites."""
        try:
            user = None if self.cell is None else centroid_of(str(self.cell))
        except ValueError as error:
            yield f"the location: {error}"
            return
        for row in scores:
            if row.place is None:
                yield f"{row.site}: the place behind its proximity is not disclosed"
                continue
            point = self.find_place(row.place) if row.place > UNKNOWN_PLACE else None
            if row.place > UNKNOWN_PLACE and point is None:
                yield f"{row.site}: no city has the GeoNames id {row.place}"
            local = row.place != PLACELESS
            computed = proximity(point, user, policy, local=local)
            if computed != row.factors[PROXIMITY]:
                factor = row.factors[PROXIMITY]
                yield f"{row.site}: the proximity is {computed}, not {factor}"


def _order_differences(
    scores: Sequence[DisclosedScore], request: RequestDisclosed | None, policy_text: str
) -> Iterator[str]:
    """Compare with the order of rank scores, and among equals of tie keys."""
    scale = RankScale.of(parse_policy(policy_text))
    by_id = tie_form_of(policy_text) == TIES_BY_ID
    ranks = [_rank_score(row, scale) for row in scores]
    for (rank, before), (next_rank, behind) in pairwise(
        zip(ranks, scores, strict=True)
    ):
        lots = [(row.tie, row.site) for row in (before, behind)]
        if rank < next_rank:
            yield f"{behind.site} ranks higher than {before.site} before it"
        elif rank == next_rank and lots[0] > lots[1] and not by_id:
            yield f"{behind.site} comes before its equal {before.site} by its tie key"
    if by_id:
        yield from _falls_among_equals(scores)
    elif undisclosed := [row.site for row in scores if row.tier is None]:
        yield f"{', '.join(undisclosed)}: its tier is not disclosed"
    if request and scores:
        last, first = (
            request.after.order_key(scale),
            (-ranks[0], int(scores[0].tie, 16)),
        )
        if first <= (last.negative_rank_score, last.tie_key):
            yield "the first stands before the end of the page before"


def _rank_score(row: DisclosedScore, scale: RankScale) -> int:
    relevance, quality = row.factors[RELEVANCE], row.factors[QUALITY]
    return scale.rank_score(row.score, relevance, quality, row.tier or 0)


def _falls_among_equals(scores: Sequence[DisclosedScore]) -> Iterator[str]:
    """Older rankings do not disclose the tier, but so the keys of equals fall at most once."""
    for score, equals in groupby(scores, key=lambda row: row.score):
        if sum(before.tie > behind.tie for before, behind in pairwise(equals)) > 1:
            yield f"at a score of {score}, the order is not that of the tie keys"


def _day_differences(
    members: Mapping[str, JsonValue], request: RequestDisclosed, day: KnownDay
) -> Iterator[str]:
    searched_at = request.at.astimezone(UTC).isoformat()
    if searched_at[:10] != day.day:
        yield f"asked at {searched_at}, with the seed of {day.day}"
    minute = str(members["t"])[:16]
    if searched_at[:16] > minute:
        yield f"asked at {searched_at}, after the minute of the record"
    if request.after.is_first and searched_at[:16] < minute:
        yield f"a first page asked at {searched_at}, on record at {minute}"


def _tie_differences(scores: Sequence[DisclosedScore], seed: bytes) -> Iterator[str]:
    for row in scores:
        key = f"{tie_key(seed, row.site):016x}"
        if key != row.tie:
            yield f"{row.site}: the tie key is {key}, not {row.tie}"
