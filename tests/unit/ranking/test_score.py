from hypothesis import given
from hypothesis import strategies as st

from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.ranking.score import MAX_SCORE, Factors

values = st.integers(0, FULL)
factors = st.builds(
    Factors,
    relevance=values,
    proximity=values,
    capability_depth=values,
    quality=values,
    freshness=values,
)


@given(factors)
def test_contributions_sum_to_a_score_in_range(some: Factors) -> None:
    score = some.score(DEFAULT_POLICY)
    assert 0 <= score <= MAX_SCORE
    assert sum(some.contributions(DEFAULT_POLICY)) == score


def test_all_factors_full_is_the_greatest_score() -> None:
    full = Factors(
        relevance=FULL,
        proximity=FULL,
        capability_depth=FULL,
        quality=FULL,
        freshness=FULL,
    )
    assert full.score(DEFAULT_POLICY) == MAX_SCORE
    assert full.contributions(DEFAULT_POLICY)[0] == 40_000_000
