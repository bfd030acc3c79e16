from dataclasses import replace
from datetime import UTC, datetime

import pytest

from registry.ranking.explain import FACTOR_NAMES, Facts, explain, why_ahead
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.quality import ProbeFigures
from registry.ranking.score import Factors
from registry.ranking.ties import OrderKey

FACTORS = Factors(
    relevance=8000, proximity=5000, capability_depth=3000, quality=7000, freshness=9000
)
FACTS = Facts(
    matched_terms=("table",),
    best_action="bookTable",
    lexical_bp=4000,
    cosine_bp=5000,
    distance_band="under 25 km",
    local=True,
    action_count=3,
    probes=ProbeFigures(probes=9, answers=9, successes=8, median_ms=120),
    days_since_change=4,
    changed_at=datetime(2026, 11, 16, tzinfo=UTC),
)


def key(factors: Factors, tier: int = 1, tie: int = 5) -> OrderKey:
    return OrderKey(-factors.score(DEFAULT_POLICY), tier, tie, 1)


def test_explained_contributions_sum_to_the_score() -> None:
    told = explain(FACTORS, FACTS, DEFAULT_POLICY)
    assert tuple(each.factor for each in told) == FACTOR_NAMES
    assert all(each.contribution == each.value * each.weight for each in told)
    assert sum(e.contribution for e in told) == FACTORS.score(DEFAULT_POLICY)


def test_each_factor_comes_with_its_facts() -> None:
    told = {each.factor: each.facts for each in explain(FACTORS, FACTS, DEFAULT_POLICY)}
    assert told["relevance"]["best_action"] == "bookTable"
    assert told["proximity"]["distance_band"] == "under 25 km"
    assert told["quality"]["successes"] == 8
    assert told["freshness"]["days_since_change"] == 4


@pytest.mark.parametrize("factor", FACTOR_NAMES)
def test_the_factor_that_made_the_lead_is_named(factor: str) -> None:
    behind = replace(FACTORS, **{factor: getattr(FACTORS, factor) - 10})
    advantage = why_ahead(
        (FACTORS, key(FACTORS)), (behind, key(behind)), DEFAULT_POLICY
    )
    assert advantage.reason == factor
    assert advantage.lead == sum(advantage.by_factor) > 0


def test_equals_are_told_apart_by_commission_and_then_by_lot() -> None:
    first = (FACTORS, key(FACTORS, tier=0))
    second = (FACTORS, key(FACTORS, tier=1))
    third = (FACTORS, key(FACTORS, tier=1, tie=6))
    assert why_ahead(first, second, DEFAULT_POLICY).reason == "commission"
    assert why_ahead(second, third, DEFAULT_POLICY).reason == "tie"
