from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from registry.ranking.capability_depth import (
    Capability,
    capability_depth,
    is_near_duplicate,
    richness,
)
from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.sites.action import Action, Parameter

TERMS = [frozenset({f"verb{n}", f"noun{n}"}) for n in "abcdefghijklmnopqrst"]
PLAIN = Action(name="bookTable")
TYPED = Parameter(name="date", type="string", description="The day")


def depth(*capabilities: Capability) -> int:
    return capability_depth(capabilities, DEFAULT_POLICY)


capabilities = st.lists(
    st.builds(Capability, st.sampled_from(TERMS), st.integers(0, FULL)), max_size=12
)


@given(capabilities, capabilities)
def test_depth_never_falls_with_distinct_actions_and_ignores_order(
    some: list[Capability], more: list[Capability]
) -> None:
    assert 0 <= depth(*some) <= depth(*some, *more) <= FULL
    assert depth(*some, *more) == depth(*reversed(more), *reversed(some))


def test_a_thousand_duplicates_leave_depth_unchanged() -> None:
    own = [Capability(terms, 6000) for terms in TERMS[:5]]
    assert depth(*own, *[own[0]] * 1000) == depth(*own)


def test_numbered_copies_are_duplicates() -> None:
    base = frozenset({"order", "pizza", "online"})
    copies = [Capability(base | {str(number)}, 6000) for number in range(1000)]
    assert depth(*copies) == depth(Capability(base, 6000))


def test_near_duplicates_count_as_the_richest() -> None:
    words = frozenset({"order", "pizza", "from", "oven", "to", "your", "door", "now"})
    rich, poor = Capability(words, 9000), Capability(words | {"hot"}, 3000)
    assert depth(poor, rich) == depth(rich)


def test_depth_is_capped() -> None:
    many = [Capability(frozenset({f"w{chr(97 + n)}"}), FULL) for n in range(26)]
    assert depth(*many) == FULL
    assert depth(*many[:25]) == FULL > depth(*many[:24])


def test_another_distinct_action_raises_depth_ever_less() -> None:
    values = [depth(*[Capability(t, FULL) for t in TERMS[:n]]) for n in range(6)]
    steps = [b - a for a, b in pairwise(values)]
    assert values[0] == 0
    assert all(later < earlier for earlier, later in pairwise(steps))


@pytest.mark.parametrize(
    "declared",
    [
        replace(PLAIN, auth_required=False),
        replace(PLAIN, sensitivity="read"),
        replace(PLAIN, parameters=(TYPED,)),
    ],
)
def test_declaring_more_is_richer(declared: Action) -> None:
    plain = richness(PLAIN, 0, DEFAULT_POLICY)
    assert richness(declared, 0, DEFAULT_POLICY) > plain
    assert richness(PLAIN, 3, DEFAULT_POLICY) > plain


def test_an_action_that_declares_all_is_fully_rich() -> None:
    action = Action(
        name="a", parameters=(TYPED,), auth_required=True, sensitivity="write"
    )
    assert richness(action, 3, DEFAULT_POLICY) == FULL


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        ("", "", True),
        ("", "a", False),
        ("a b c d e f g", "a b c d e f g", True),
        ("a b c d e f g", "a b c d e f g h i j", True),
        ("a b c d e f g", "a b c d e f g h i j k", False),
        ("a b", "c d", False),
    ],
)
def test_sets_are_near_duplicates_by_what_they_share(
    a: str, b: str, alike: bool
) -> None:
    item, other = set(a.split()), set(b.split())
    assert is_near_duplicate(item, other, 7000) is alike
    assert is_near_duplicate(other, item, 7000) is alike
