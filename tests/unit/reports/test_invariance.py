from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.reports.invariance import (
    HOLDS,
    PERTURBATIONS,
    Holds,
    InvarianceResult,
    Page,
    ResultSlot,
    TrialCount,
    is_violated,
    rate_at_most,
)
from registry.usecases.reports.perturb import PERTURB
from registry.usecases.reports.shadow_index import JOINS


def page(
    *places: tuple[int, int] | tuple[int, int, tuple[int, ...]], whole: bool = True
) -> Page:
    return Page(
        slots=tuple(
            ResultSlot(
                site_id=entry[0],
                score=entry[1],
                shown=(entry[1] // 10,),
                behind=entry[2] if len(entry) > 2 else (),
            )
            for entry in places
        ),
        is_whole=whole,
    )


BEFORE = page((1, 90), (2, 70), (3, 70), (4, 50))


@pytest.mark.parametrize(
    ("holds", "after", "changed", "expected"),
    [
        pytest.param("identical", BEFORE, {1}, False, id="same"),
        pytest.param(
            "identical", page((1, 90), (3, 70), (2, 70), (4, 50)), {2}, True, id="tie"
        ),
        pytest.param(
            "identical", page((1, 91), (2, 70), (3, 70), (4, 50)), {1}, True, id="score"
        ),
        pytest.param(
            "identical", page((1, 90), (2, 70), (3, 70)), {4}, True, id="site-gone"
        ),
        pytest.param(
            "scores_identical",
            page((1, 90), (3, 70), (2, 70), (4, 50)),
            {3},
            False,
            id="equals-change-places",
        ),
        pytest.param(
            "scores_identical",
            page((1, 90), (2, 70), (4, 70), (3, 50)),
            {3},
            True,
            id="unequals-change-places",
        ),
        pytest.param(
            "order_of_others",
            page((1, 88), (9, 80), (2, 71), (3, 71), (4, 50)),
            {9},
            False,
            id="one-joins-between",
        ),
        pytest.param(
            "order_of_others",
            page((2, 90), (1, 88), (3, 70), (4, 50)),
            {9},
            True,
            id="others-change-places",
        ),
        pytest.param(
            "order_of_others",
            page((1, 90), (2, 70), (3, 70)),
            {9},
            False,
            id="another-crosses-the-threshold",
        ),
        pytest.param(
            "order_of_others",
            page((5, 95), (3, 90), (1, 70), (4, 50)),
            {9},
            True,
            id="others-of-both-change-places",
        ),
        pytest.param(
            "not_lower",
            page((2, 95), (1, 90), (3, 70), (4, 10)),
            {1, 2},
            False,
            id="others-may-fall",
        ),
        pytest.param(
            "not_lower",
            page((1, 90), (2, 70), (3, 70), (4, 49)),
            {4},
            True,
            id="a-changed-one-falls",
        ),
        pytest.param(
            "not_lower", page((1, 90), (2, 70), (3, 70)), {4}, True, id="out-of-it"
        ),
        pytest.param(
            "not_lower",
            page((1, 90), (2, 70, (4,)), (3, 70)),
            {4},
            False,
            id="shares-a-better-place",
        ),
        pytest.param(
            "not_lower",
            page((1, 90), (2, 70), (3, 70), (5, 60), whole=False),
            {4},
            False,
            id="pushed-off-the-page",
        ),
        pytest.param(
            "not_lower",
            page((1, 90), (2, 70), (3, 70), (5, 40), whole=False),
            {4},
            True,
            id="below-the-page",
        ),
    ],
)
def test_a_trial_fails_only_where_what_has_to_hold_does_not(
    holds: Holds, after: Page, changed: set[int], *, expected: bool
) -> None:
    assert is_violated(holds, BEFORE, after, changed) is expected


def shown_alike(*order: int, scores: Mapping[int, int]) -> Page:
    """A page of sites that are all shown with the same values."""
    return page(*((site_id, scores[site_id]) for site_id in order), whole=False)


@pytest.mark.parametrize(
    ("holds", "after", "scores", "expected"),
    [
        pytest.param("shown_identical", (2, 1), {}, False, id="equals as shown"),
        pytest.param("shown_identical", (2, 3), {}, False, id="one of them leaves"),
        pytest.param("scores_identical", (2, 1), {}, True, id="other scores by rank"),
        pytest.param("shown_identical", (1, 2), {1: 68}, True, id="another score"),
        pytest.param("shown_identical", (1, 4), {}, True, id="another shown score"),
        pytest.param("not_lower", (2, 3), {}, False, id="behind others shown as it is"),
        pytest.param("not_lower", (2, 1), {1: 68}, True, id="lower, as shown the same"),
        pytest.param(
            "not_lower", (2, 4), {}, True, id="behind one that is shown lower"
        ),
    ],
)
def test_what_is_shown_as_equal_may_take_turns(
    holds: Holds, after: tuple[int, ...], scores: dict[int, int], *, expected: bool
) -> None:
    before = {1: 69, 2: 62, 3: 61, 4: 59}
    pages = (
        shown_alike(1, 2, scores=before),
        shown_alike(*after, scores=before | scores),
    )
    assert is_violated(holds, *pages, {1}) is expected


def test_equals_at_the_edge_of_a_page_may_take_turns() -> None:
    before = page((1, 90), (2, 70), whole=False)
    after = page((1, 90), (3, 70), whole=False)
    assert not is_violated("scores_identical", before, after, {3})
    lower = page((1, 90), (3, 69), whole=False)
    assert is_violated("scores_identical", before, lower, {3})


@pytest.mark.parametrize(
    ("cases", "trials", "expected"),
    [
        # Clopper & Pearson; R: binom.test(x, n, alternative = "less")$conf.int[2]
        pytest.param(0, 1, 0.95, id="one-trial"),
        pytest.param(0, 10, 0.2588656, id="none-of-10"),
        pytest.param(0, 10_000, 0.000299528, id="none-of-10000"),
        pytest.param(1, 10, 0.3941633, id="one-of-10"),
        pytest.param(5, 5, 1.0, id="all"),
    ],
)
def test_the_bound_is_the_exact_one(cases: int, trials: int, expected: float) -> None:
    assert rate_at_most(cases, trials) == pytest.approx(expected, rel=1e-5)


@given(
    st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
)
def test_the_bound_lies_above_the_rate_and_falls_with_trials(
    seen: tuple[int, int],
) -> None:
    cases, trials = seen
    bound = rate_at_most(cases, trials)
    assert cases / trials <= bound <= 1
    assert rate_at_most(cases, trials + 1) < bound or bound == 1


@pytest.mark.parametrize(
    ("cases", "trials"), [(0, 0), (2, 1), (-1, 5)], ids=["none", "more", "negative"]
)
def test_no_bound_of_what_is_no_proportion(cases: int, trials: int) -> None:
    with pytest.raises(ValueError, match="no proportion"):
        rate_at_most(cases, trials)


def result(tallies: Sequence[TrialCount]) -> InvarianceResult:
    return InvarianceResult(
        tallies=tuple(tallies),
        examples=(),
        queries=3,
        sites=5,
        seed=1,
        policy_digest="sha256:0",
    )


def test_the_sentence_tells_what_was_found_and_how_sure_it_is() -> None:
    clean = result([TrialCount(perturbation="tier", trials=10_000, violations=0)])
    assert "fewer than 0.03% of such trials" in clean.sentence
    leaky = result(
        [
            TrialCount(perturbation="name", trials=50, violations=0),
            TrialCount(perturbation="tier", trials=50, violations=7),
        ]
    )
    assert "7 failed: tier (7 of 50)" in leaky.sentence
    assert "Nothing was tried" in result([]).sentence


def test_the_table_is_closed() -> None:
    names = {perturbation.name for perturbation in PERTURBATIONS}
    assert len(names) == len(PERTURBATIONS)
    assert names == {*PERTURB, JOINS}
    assert {perturbation.holds for perturbation in PERTURBATIONS} == set(HOLDS)


def test_a_site_that_joins_may_turn_two_that_score_nearly_the_same() -> None:
    after = page((1, 91), (9, 85), (3, 71), (2, 70), (4, 50))
    assert is_violated("order_of_others", BEFORE, after, {9}, slack=0)
    assert not is_violated("order_of_others", BEFORE, after, {9}, slack=1)
    farther = page((1, 93), (9, 85), (3, 71), (2, 70), (4, 50))
    assert is_violated("order_of_others", BEFORE, farther, {9}, slack=1)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(page((1, 90), (2, 70), (3, 69), (4, 50)), False, id="falls"),
        pytest.param(page((3, 95), (1, 90), (2, 70), (4, 50)), True, id="rises"),
        pytest.param(page((1, 90), (2, 70), (4, 50)), False, id="leaves"),
    ],
)
def test_not_higher_is_the_mirror_of_not_lower(after: Page, expected: bool) -> None:
    assert is_violated("not_higher", BEFORE, after, {3}) is expected
    assert is_violated("not_lower", after, BEFORE, {3}) is expected
