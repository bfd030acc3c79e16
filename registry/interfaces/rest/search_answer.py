"""What a search answers: the receipt of the record, results with reasons, facets."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, get_args

from registry.index.facets import ValueCount
from registry.index.rows import FIELDS
from registry.interfaces.rest.entry_views import SiteSummary, view_summary
from registry.interfaces.rest.wire import PromiseView, Wire, camel, view_promise
from registry.ranking.explain import FactorExplanation
from registry.usecases.search import Answer, RankedEntry

FacetName = Literal[
    "category",
    "country",
    "format",
    "conformance",
    "permission",
    "requiresAuth",
    "action",
    "language",
]
FACETS: tuple[FacetName, ...] = get_args(FacetName)
"""Each is a filter too."""

FIELD_OF: Mapping[FacetName, str] = dict(zip(FACETS, FIELDS, strict=True))


class RankingView(Wire):
    """The receipt. id: its part after the dot is only for you, to report a choice.

    eligible: how many sites could have stood in the answer; where eligibleIsExact is
    false, an estimate from a sample of them.
    """

    id: str
    policy: str
    generated_at: datetime
    eligible: int
    eligible_is_exact: bool
    leaf_hash: str
    promise: PromiseView


class FactorView(Wire):
    """value: 0..10000. weight: basis points. contribution: value times weight."""

    value: int
    weight: int
    contribution: int
    facts: dict[str, Any]


class FactorsView(Wire):
    relevance: FactorView
    proximity: FactorView
    capability_depth: FactorView
    quality: FactorView
    freshness: FactorView


class ResultView(Wire):
    """score: 0..100000000, the sum of the contributions.

    behind: ids of near-duplicates of the same publisher that share this place.
    """

    rank: int
    score: int
    site: SiteSummary
    factors: FactorsView
    behind: tuple[str, ...]


class PlaceView(Wire):
    """What the given place was taken for; the ranking sees the cell only."""

    name: str
    country: str
    cell: str


class ValueView(Wire):
    """value: null for the sites that tell none. count: of eligible sites, exact."""

    value: str | None
    count: int


class SearchAnswer(Wire):
    """corrected: for words taken as mistyped, what was looked for besides.

    facets: by the fields asked for, the commonest 20 values, and then null.
    """

    ranking: RankingView
    results: tuple[ResultView, ...]
    facets: dict[FacetName, tuple[ValueView, ...]]
    corrected: dict[str, str]
    place: PlaceView | None
    next_cursor: str | None


def view_answer(
    answer: Answer, *, receipt: str, place: PlaceView | None, next_cursor: str | None
) -> SearchAnswer:
    return SearchAnswer(
        ranking=_view_ranking(answer, receipt),
        results=tuple(_view_result(one) for one in answer.results),
        facets={
            name: _view_values(answer.facets[field])
            for name, field in FIELD_OF.items()
            if field in answer.facets
        },
        corrected=dict(answer.corrected),
        place=place,
        next_cursor=next_cursor,
    )


def _view_ranking(answer: Answer, receipt: str) -> RankingView:
    return RankingView(
        id=receipt,
        policy=answer.policy,
        generated_at=answer.generated_at,
        eligible=answer.eligible,
        eligible_is_exact=answer.is_exact,
        leaf_hash=answer.record.leaf_hash.hex(),
        promise=view_promise(answer.promise),
    )


def _view_result(one: RankedEntry) -> ResultView:
    by_name = {factor.factor: _view_factor(factor) for factor in one.factors}
    return ResultView(
        rank=one.rank,
        score=one.score,
        site=view_summary(one.entry),
        factors=FactorsView(**by_name),
        behind=one.behind,
    )


def _view_factor(factor: FactorExplanation) -> FactorView:
    return FactorView(
        value=factor.value,
        weight=factor.weight,
        contribution=factor.contribution,
        facts={camel(name): value for name, value in factor.facts.items()},
    )


def _view_values(counts: Iterable[ValueCount]) -> tuple[ValueView, ...]:
    return tuple(ValueView(value=one.value, count=one.count) for one in counts)
