"""A ranking computed again from what its record discloses.

Totals are the policy's weights times the factors; ties are drawn from the day's secret,
the request's id and its nonce; the order follows from both. Factors are taken as they
are disclosed: to compute them, one needs the index as it was at that time.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, pairwise
from typing import Annotated, cast

import msgspec

from registry.errors import Refused
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.ties import make_seed, tie_key
from registry.records.canonical import JsonValue
from registry.records.disclosure import verify_disclosure
from registry.records.refusals import POLICY_WITHOUT_WEIGHTS

MAX_FACTOR = 10_000


class DisclosedScore(msgspec.Struct, frozen=True):
    """A place of the answer as the `scores` disclosure has it. tie: 16 hex digits."""

    site: str
    factors: tuple[int, int, int, int, int]
    score: int
    tie: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}\Z")]


class RequestDisclosed(msgspec.Struct, frozen=True):
    """Disclosed request. after: the last row of the page before: negative score, tier, tie key, site."""

    id: str
    nonce: str
    at: Annotated[datetime, msgspec.Meta(tz=True)]
    after: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDay:
    """The seed that a ranking names. secret: None until it is revealed."""

    day: str
    secret: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputation:
    """checked: what came out the same or not. differences: what did not.

    missing: what could not be computed, and why.
    """

    checked: tuple[str, ...]
    differences: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def is_possible(self) -> bool:
        return bool(self.checked)


def recompute(
    members: Mapping[str, JsonValue],
    disclosures: Sequence[str],
    *,
    policy_text: str,
    day: KnownDay,
) -> Recomputation:
    """members: of a parsed ranking record; policy_text: of the policy it names.

    Raises: Refused if a disclosure is none of this record, or the policy has no weights.
    """
    digests = set(cast("Sequence[str]", members["_sd"]))
    opened = [verify_disclosure(text, digests) for text in disclosures]
    values = {disclosure.name: disclosure.value for disclosure in opened}
    checked: list[str] = []
    missing: list[str] = []
    differences: list[str] = []
    try:
        scores = _scores(values)
        request = _request(values)
    except (msgspec.ValidationError, ValueError) as error:
        return Recomputation(
            checked=("form",), differences=(f"a disclosure: {error}",), missing=()
        )
    if scores is None:
        missing.append("totals and order: the scores are not disclosed")
    else:
        checked += ["sites", "totals", "order"]
        differences += _site_differences(members, scores)
        differences += _total_differences(scores, weights_of(policy_text))
        differences += _order_differences(scores, request)
    if request is None:
        missing.append("ties: the request is not disclosed")
    else:
        checked.append("day")
        differences += _day_differences(members, request, day)
    if day.secret is None:
        missing.append(f"ties: the secret of {day.day} is not revealed yet")
    elif scores is not None and request is not None:
        checked.append("ties")
        seed = make_seed(day.secret, request.id, request.nonce)
        differences += _tie_differences(scores, seed)
    return Recomputation(
        checked=tuple(checked), differences=tuple(differences), missing=tuple(missing)
    )


def weights_of(policy_text: str) -> tuple[int, ...]:
    """Return the weights in the order of the factors. policy_text: of a policy record.

    Raises: Refused if it names no weights.
    """
    try:
        policy = json.loads(policy_text)
        return tuple(int(policy[f"weight_{name}"]) for name in FACTOR_NAMES)
    except (ValueError, KeyError, TypeError, RecursionError) as exc:
        raise Refused(POLICY_WITHOUT_WEIGHTS) from exc


def _scores(values: Mapping[str, JsonValue]) -> list[DisclosedScore] | None:
    if "scores" not in values:
        return None
    return msgspec.convert(values["scores"], list[DisclosedScore])


def _request(values: Mapping[str, JsonValue]) -> RequestDisclosed | None:
    if "request" not in values:
        return None
    return msgspec.convert(values["request"], RequestDisclosed, strict=False)


def _site_differences(
    members: Mapping[str, JsonValue], scores: Sequence[DisclosedScore]
) -> Iterator[str]:
    if [row.site for row in scores] != list(cast("Sequence[str]", members["order"])):
        yield "the scored sites are not those of the order"


def _total_differences(
    scores: Sequence[DisclosedScore], weights: Sequence[int]
) -> Iterator[str]:
    for row in scores:
        if not all(0 <= factor <= MAX_FACTOR for factor in row.factors):
            yield f"{row.site}: a factor outside 0..{MAX_FACTOR}"
        total = sum(w * f for w, f in zip(weights, row.factors, strict=True))
        if total != row.score:
            yield f"{row.site}: the total is {total}, not {row.score}"


def _order_differences(
    scores: Sequence[DisclosedScore], request: RequestDisclosed | None
) -> Iterator[str]:
    """Equals: those with a declared commission of 0% first (WAB 9.5.3), then by tie key.

    The commission is not disclosed, but so the keys of equals fall at most once.
    """
    for before, behind in pairwise(scores):
        if before.score < behind.score:
            yield f"{behind.site} scores higher than {before.site} before it"
    for score, equals in groupby(scores, key=lambda row: row.score):
        falls = [
            behind.site
            for before, behind in pairwise(equals)
            if int(before.tie, 16) > int(behind.tie, 16)
        ]
        if len(falls) > 1:
            yield f"at a score of {score}, the order is not that of the tie keys"
    if request and scores and -scores[0].score < request.after[0]:
        yield "the first stands before the end of the page before"


def _day_differences(
    members: Mapping[str, JsonValue], request: RequestDisclosed, day: KnownDay
) -> Iterator[str]:
    asked_at = request.at.astimezone(UTC).isoformat()
    if asked_at[:10] != day.day:
        yield f"asked at {asked_at}, with the seed of {day.day}"
    if asked_at[:16] > str(members["t"])[:16]:
        yield f"asked at {asked_at}, after the minute of the record"


def _tie_differences(scores: Sequence[DisclosedScore], seed: bytes) -> Iterator[str]:
    for row in scores:
        key = f"{tie_key(seed, row.site):016x}"
        if key != row.tie:
            yield f"{row.site}: the tie key is {key}, not {row.tie}"
