"""Results in brief: what an agent needs to choose a site and to act, in few words.

The order, the scores and the record are those of the full answer, which remains available.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from registry.formats.invocations import Invocation, shorten
from registry.index.query.search import RankedSite
from registry.ranking.explain import Explanation, FactorExplanation, RelevanceFacts
from registry.ranking.rank_score import SHOWN
from registry.ranking.terms import split_words, stems
from registry.sites.summary import SiteSummary

MOST_ACTIONS = 2
MOST_TERMS = 4
MOST_TOKENS = 106
"""Tokens of a result by `estimate_tokens`: the tenth of an answer of 1,200."""
SHORTER = (60, 36)
"""Letters of a description where its whole is too long."""

_POINT = 1_000_000
"""Parts of a score that make a point of 100."""


class BriefResult(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    gc=False,
    omit_defaults=True,
):
    """A result in brief.

    score: points of 100. contributions: of relevance, proximity, capability depth,
    quality and freshness, which sum to it but for rounding. why: what the site was found
    by. actions: those that match the request, at most 2, each with a way to call it.
    """

    site: str
    city: str = ""
    score: float
    contributions: tuple[int, int, int, int, int]
    why: str
    actions: tuple[Invocation, ...] = ()


def brief_result(
    ranked: RankedSite, summary: SiteSummary, invocations: Sequence[Invocation]
) -> BriefResult:
    explanation = ranked.explanation
    result = BriefResult(
        site=summary.host,
        city=summary.location.city if summary.location else "",
        score=SHOWN.points(ranked.score),
        contributions=_contributions(explanation),
        why="; ".join(_reasons(explanation)),
    )
    matching = _matching(invocations, explanation.relevance.facts)
    own = [_at_home(action, summary.host) for action in matching]
    left = MOST_TOKENS - estimate_tokens(result)
    return msgspec.structs.replace(result, actions=tuple(_fitted(own, left)))


def estimate_tokens(value: object) -> int:
    """Estimate the tokens of a value as JSON, by tokenizers with short pieces.

    Three ASCII letters are one, as is each letter of two bytes; one of three is more.
    """
    encoded = _encode(value)
    letters = len(encoded.decode())
    return (letters + 2 * (len(encoded) - letters)) // 3


_encode = msgspec.json.Encoder().encode


def _at_home(invocation: Invocation, host: str) -> Invocation:
    """Leave the site's own origin out of the address."""
    path = invocation.url.removeprefix(f"https://{host}")
    if path == invocation.url or not path.startswith("/"):
        return invocation
    return msgspec.structs.replace(invocation, url=path)


def _fitted(invocations: Sequence[Invocation], tokens: int) -> Iterator[Invocation]:
    """Yield the first, however short it must be, and others that fit behind it."""
    for number, invocation in enumerate(invocations):
        *longer, shortest = _forms(invocation)
        form = next((row for row in longer if estimate_tokens(row) <= tokens), shortest)
        size = estimate_tokens(form)
        if number and size > tokens:
            return
        tokens -= size
        yield form


def _forms(invocation: Invocation) -> Iterator[Invocation]:
    """Yield the invocation, then shorter and shorter forms of it."""
    yield invocation
    abouts = [*(shorten(invocation.about, letters) for letters in SHORTER), ""]
    for about in abouts:
        yield msgspec.structs.replace(invocation, about=about)
    schema = invocation.parameters
    names = {*schema.get("required", ()), *schema.get("properties", ())}
    yield msgspec.structs.replace(
        invocation,
        about=abouts[0],
        parameters={},
        omitted=invocation.omitted + len(names),
    )


def _contributions(explanation: Explanation) -> tuple[int, int, int, int, int]:
    return (
        _points(explanation.relevance),
        _points(explanation.proximity),
        _points(explanation.capability_depth),
        _points(explanation.quality),
        _points(explanation.freshness),
    )


def _points(factor: FactorExplanation) -> int:
    return round(factor.contribution / _POINT)


def _matching(
    invocations: Sequence[Invocation], facts: RelevanceFacts
) -> Iterable[Invocation]:
    """Return the best action and one that says more words of the request, or the first.

    A site that was found by its meaning alone matches by none of its actions.
    """
    request = set(stems(split_words(" ".join(facts.matched_terms))))
    best = next((row for row in invocations if row.action == facts.best_action), None)
    if best is None:
        return invocations[:1]
    left = request - _terms(best.action, best.about)
    if not left:
        return [best]
    others = [row for row in invocations if left & _terms(row.action, row.about)]
    others.sort(key=lambda row: -len(left & _terms(row.action, row.about)))
    return [best, *others][:MOST_ACTIONS]


@lru_cache(maxsize=16_384)  # a site may have hundreds of actions, and every answer asks
def _terms(action: str, about: str) -> frozenset[str]:
    return frozenset(stems(split_words(f"{action} {about}")))


def _reasons(explanation: Explanation) -> Iterator[str]:
    terms = explanation.relevance.facts.matched_terms[:MOST_TERMS]
    yield f"says {', '.join(terms)}" if terms else "means something close to it"
    if band := explanation.proximity.facts.distance_band:
        yield f"{band} away"
    quality = explanation.quality.facts
    if not quality.young:
        yield f"{quality.successes} of {quality.probes} probes well"
