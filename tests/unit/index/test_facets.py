"""Counts of facets, held against the search that asks for each value as its filter."""

import random
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from typing import Any

import pytest

from registry.index.building.builder import Builder
from registry.index.columns.filters import (
    FILTERS,
    MAX_VALUE_LENGTH,
    Filters,
    keywords_of,
)
from registry.index.query.facets import VALUES_MAX, count_facets
from registry.index.query.index import Index
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import search
from registry.ranking.encoders.vectors import DIMENSIONS
from registry.ranking.policy import FULL
from registry.ranking.policy import STATIC_POLICY as P
from registry.ranking.profile import Profile
from registry.ranking.relevance import ParsedQuery
from tests.unit.index.conftest import MakeProfile, request_vector

SEED = sha256(b"seed").digest()
TABLE = Query(
    request=ParsedQuery(
        term_of={"tables": "tabl"}, vector=bytes(DIMENSIONS), confidence_bp=0
    )
)
MakeRandom = Callable[[random.Random, int], Profile]


def asking_like(site: Profile, **filters: Any) -> Query:
    request = ParsedQuery(
        term_of={"term1": "term1", "term2": "term2"},
        vector=request_vector(site),
        confidence_bp=FULL,
    )
    return Query(request=request, filters=Filters(**filters))


def counted(
    index: Index, query: Query, now: datetime, *fields: str
) -> dict[str, list[tuple[str | None, int]]]:
    weights = search(index, query, now=now, seed=SEED, k=1).term_weights
    facets = count_facets(index, query, weights, now=now, fields=fields or FILTERS)
    return {
        field: [(value.value, value.count) for value in values]
        for field, values in facets.items()
    }


def eligible(index: Index, query: Query, now: datetime) -> set[int]:
    """By ids: those that lead their place and those behind."""
    ranked = search(index, query, now=now, seed=SEED, k=len(index) or 1)
    return {
        site_id for site in ranked.sites for site_id in (site.site_id, *site.sharing)
    }


def as_filter(field: str, value: str) -> dict[str, Any]:
    return {field: value == "true" if field == "requires_auth" else value}


def expected(
    sites: dict[int, Profile], result: set[int], field: str
) -> dict[str | None, int]:
    counts: dict[str | None, int] = {}
    for site_id in result:
        for name, value in keywords_of(sites[site_id]):
            if name == field:
                counts[value or None] = counts.get(value or None, 0) + 1
    return counts


@pytest.mark.parametrize("number", range(6))
def test_each_count_is_what_its_value_finds_as_a_filter(
    number: int, random_site: MakeRandom, now: datetime
) -> None:
    rng = random.Random(number)
    sites = {number: random_site(rng, number) for number in range(1, 61)}
    builder = Builder.build(list(sites.values())[:40], P)
    gone = [3, 9, 27]
    changed = [random_site(rng, item) for item in (5, 6, 7)]
    sites |= {item.site_id: item for item in changed}
    beside = [*changed, *(sites[number] for number in range(41, 61))]
    index = builder.with_changes(beside, gone).index
    sites = {site: profile for site, profile in sites.items() if site not in gone}
    like = rng.choice(list(sites.values()))
    given = rng.choice([{}, {"country": "JO"}, {"requires_auth": True}])
    result = eligible(index, asking_like(like, **given), now)
    facets = counted(index, asking_like(like, **given), now)
    assert 0 < len(result) < len(sites)
    for field, values in facets.items():
        assert dict(values) == expected(sites, result, field)
        for value, count in values:
            if value is not None and field not in given:
                also = given | as_filter(field, value)
                assert len(eligible(index, asking_like(like, **also), now)) == count


def test_the_commonest_come_first_and_the_unknown_last(
    site: MakeProfile, now: datetime
) -> None:
    sites = [site(n, category="bar") for n in range(1, 4)]
    sites += [site(n, category="inn") for n in range(4, 9)]
    sites += [site(n, category="") for n in range(9, 30)]
    sites += [site(30, category="ark")]
    result = counted(Builder.build(sites, P).index, TABLE, now)
    assert result["category"] == [("inn", 5), ("bar", 3), ("ark", 1), (None, 21)]


def test_rare_values_are_left_out_and_the_unknown_is_not(
    site: MakeProfile, now: datetime
) -> None:
    names = [f"act {number:02}" for number in range(VALUES_MAX + 10)]
    sites = [
        site(number, action_names=tuple(names[:number])) for number in range(1, 31)
    ]
    sites.append(site(99))
    result = counted(Builder.build(sites, P).index, TABLE, now, "action")
    values = [(name, 30 - at) for at, name in enumerate(names[:VALUES_MAX])]
    assert result == {"action": [*values, (None, 1)]}


def test_equal_counts_stand_by_their_value(site: MakeProfile, now: datetime) -> None:
    sites = [site(1, languages=("en", "ar", "de")), site(2, languages=("zh",))]
    result = counted(Builder.build(sites, P).index, TABLE, now, "language")
    assert result["language"] == [("ar", 1), ("de", 1), ("en", 1), ("zh", 1)]


def test_only_eligible_sites_are_counted(site: MakeProfile, now: datetime) -> None:
    sites = [site(1), site(2, category="bank", actions=(), site_terms=("loan",))]
    result = counted(Builder.build(sites, P).index, TABLE, now, "category")
    assert result == {"category": [("restaurant", 1)]}


def test_an_empty_index_has_no_values(site: MakeProfile, now: datetime) -> None:
    result = counted(Builder.build([], P).index, TABLE, now)
    assert result == {field: [] for field in FILTERS}


def test_only_what_is_asked_for_is_counted(site: MakeProfile, now: datetime) -> None:
    index = Builder.build([site(1)], P).index
    result = counted(index, TABLE, now, "format", "country")
    assert result == {"format": [("wab", 1)], "country": [("JO", 1)]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(
            "x" * MAX_VALUE_LENGTH, "x" * MAX_VALUE_LENGTH, id="as long as may be"
        ),
        pytest.param("x" * (MAX_VALUE_LENGTH + 1), None, id="longer than a request"),
        pytest.param("unknown", "unknown", id="a category of that name"),
        pytest.param("<script>", "<script>", id="markup"),
        pytest.param("category\0bar", "category\0bar", id="another keyword's text"),
        pytest.param("\u202e🦊", "\u202e🦊", id="no letters"),
    ],
)
def test_a_value_is_reported_as_it_is(
    site: MakeProfile, now: datetime, text: str, value: str | None
) -> None:
    index = Builder.build([site(1, category=text)], P).index
    result = counted(index, TABLE, now, "category")
    assert result == {"category": [(value, 1)]}


def test_counts_of_many_postings_are_put_together(
    site: MakeProfile, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.index.query.facets._AT_ONCE", 3)
    sites = [
        site(number, category=f"category {number % 12}", formats=(f"f{number % 30}",))
        for number in range(1, 181)
    ]
    index = Builder.build(sites, P).index
    result = counted(index, TABLE, now, "category", "format")
    assert result["category"] == [
        (name, 15) for name in sorted(f"category {number}" for number in range(12))
    ]
    assert [count for _, count in result["format"]] == [6] * VALUES_MAX
