import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.ranking.quality import ProbeFigures, quality

PRIOR = DEFAULT_POLICY.quality_prior
SOLID = ProbeFigures(probes=24, answers=24, successes=24, median_ms=200)


@st.composite
def figures(draw: st.DrawFn) -> ProbeFigures:
    probes = draw(st.integers(DEFAULT_POLICY.quality_probes_min, 2000))
    answers = draw(st.integers(0, probes))
    return ProbeFigures(
        probes=probes,
        answers=answers,
        successes=draw(st.integers(0, answers)),
        median_ms=draw(st.integers(0, 60_000)) if answers else None,
    )


@given(figures(), st.integers(2, 9))
def test_more_probes_at_the_same_rate_change_nothing(
    seen: ProbeFigures, times: int
) -> None:
    more = replace(
        seen,
        probes=seen.probes * times,
        answers=seen.answers * times,
        successes=seen.successes * times,
    )
    assert 0 <= quality(seen, DEFAULT_POLICY) <= FULL
    assert quality(more, DEFAULT_POLICY) == quality(seen, DEFAULT_POLICY)


@pytest.mark.parametrize(
    "worse",
    [
        replace(SOLID, successes=20),
        replace(SOLID, answers=23, successes=23),
        replace(SOLID, median_ms=900),
    ],
)
def test_failing_missing_or_slow_answers_lower_it(worse: ProbeFigures) -> None:
    assert quality(worse, DEFAULT_POLICY) < quality(SOLID, DEFAULT_POLICY)


@pytest.mark.parametrize(
    "young",
    [ProbeFigures(), ProbeFigures(probes=5, answers=5, successes=5, median_ms=1)],
)
def test_young_sites_share_one_prior(young: ProbeFigures) -> None:
    assert quality(young, DEFAULT_POLICY) == PRIOR


def test_prior_lies_between_dead_and_solid() -> None:
    dead = ProbeFigures(probes=24)
    assert quality(dead, DEFAULT_POLICY) == 0 < PRIOR < quality(SOLID, DEFAULT_POLICY)
