from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict
from msgspec.structs import replace as changed

from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import DEFAULT_POLICY, FULL, parse_policy
from registry.ranking.rank_score import FIRST_PAGE, SHOWN, PageStart, RankScale
from registry.ranking.score import Factors

EXACT = RankScale.of(
    replace(DEFAULT_POLICY, shown_score_step=1, shown_factor_step_bp=4 * FULL)
)
FACTORS = st.builds(Factors, **dict.fromkeys(FACTOR_NAMES, st.integers(0, FULL)))
NEAR = st.integers(-120, 120)


def rank_score(factors: Factors, tier: int, scale: RankScale = SHOWN) -> int:
    score = factors.score(DEFAULT_POLICY)
    return scale.rank_score(score, factors.relevance, factors.quality, tier)


def digits(factors: Factors, tier: int) -> tuple[int, ...]:
    score = factors.score(DEFAULT_POLICY)
    return (*SHOWN.shown(score, factors), -tier, score)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Factors, Factors]:
    """Sites that differ by about what is not shown."""
    first = draw(FACTORS)
    values = {
        name: min(FULL, max(0, value + draw(NEAR)))
        for name, value in asdict(first).items()
    }
    return first, Factors(**values)


@given(pairs(), st.tuples(st.integers(0, 1), st.integers(0, 1)))
def test_one_number_orders_as_the_digits_do(
    sites: tuple[Factors, Factors], tiers: tuple[int, int]
) -> None:
    first, second = zip(sites, tiers, strict=True)
    assert (rank_score(*first) < rank_score(*second)) is (
        digits(*first) < digits(*second)
    )
    exact = [(row.score(DEFAULT_POLICY), -tier) for row, tier in (first, second)]
    assert (rank_score(*first, EXACT) < rank_score(*second, EXACT)) is (
        exact[0] < exact[1]
    )


@given(FACTORS, st.integers(0, 1), st.sampled_from([SHOWN, EXACT]))
def test_the_tier_is_read_from_it(
    factors: Factors, tier: int, scale: RankScale
) -> None:
    rank = rank_score(factors, tier, scale)
    assert scale.tier_of(rank) == tier


@given(pairs(), st.integers(0, 1))
def test_a_commission_of_zero_passes_less_than_a_step_of_the_score(
    sites: tuple[Factors, Factors], theirs: int
) -> None:
    """What a cheat gains that declares 0% falsely: nothing beyond what is shown as equal."""
    own, other = sites
    if rank_score(own, 1) < rank_score(other, theirs) < rank_score(own, 0):
        lead = other.score(DEFAULT_POLICY) - own.score(DEFAULT_POLICY)
        # Who declared 0% as well stood before a better one.
        assert 0 <= (lead if theirs else -lead) < SHOWN.score_step
        assert digits(own, 0)[:3] == digits(other, 0)[:3]


@given(FACTORS, st.sampled_from(FACTOR_NAMES), st.integers(1, 300))
def test_no_factor_gains_by_being_less(factors: Factors, name: str, more: int) -> None:
    better = changed(factors, **{name: min(FULL, getattr(factors, name) + more)})
    assert rank_score(better, 1) >= rank_score(factors, 1)


@pytest.mark.parametrize(
    ("score", "points"),
    [(45_249_999, 45.2), (45_250_000, 45.3), (45_350_000, 45.4), (10**8, 100.0)],
)
def test_a_half_is_shown_as_more(score: int, points: float) -> None:
    assert SHOWN.points(score) == points
    assert SHOWN.percent(score // 10_000) == round(points)


def test_policies_without_steps_order_by_the_score_alone() -> None:
    assert RankScale.of(parse_policy("{}")) == EXACT
    key = PageStart(-46_000_000, 1, 5, 7).order_key(EXACT)
    assert key == (-EXACT.rank_score(46_000_000, 9_999, 1, 1), 5, 7)


@pytest.mark.parametrize("scale", [SHOWN, EXACT])
def test_a_first_page_starts_before_whoever_scores_most(scale: RankScale) -> None:
    best = Factors(**dict.fromkeys(FACTOR_NAMES, FULL))
    assert FIRST_PAGE.is_first
    assert FIRST_PAGE.order_key(scale) < (-rank_score(best, 0, scale), 0, 0)
