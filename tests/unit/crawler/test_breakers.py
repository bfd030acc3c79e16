from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler import refusals
from crawler.refusals import UnexpectedStatus, UnexpectedType
from crawler.restraint.breakers import (
    RULES,
    BreakerRule,
    Breakers,
    Level,
    Outcome,
    Scope,
    State,
    decide_outcome,
)
from registry.errors import Refused

HOST = Scope("host", "shop.io")
DOMAIN = Scope("domain", "shop.io")
NETWORK = Scope("network", "8.8.8.0/24")
RULE = BreakerRule(opens_at=3, min_open_s=10, max_open_s=35)


class Scene:
    """Breakers that open at the third failure, and what they told."""

    def __init__(self, draw: Callable[[], float] = lambda: 1.0, capacity: int = 9):
        self.changes: list[tuple[Scope, State]] = []
        self.now_s = 0.0
        self.breakers = Breakers(
            draw=draw,
            on_change=lambda scope, state: self.changes.append((scope, state)),
            rules=dict.fromkeys(RULES, RULE),
            capacity=capacity,
        )

    def enter(self, scope: Scope = HOST) -> bool:
        return self.breakers.enter(scope, self.now_s)

    def note(self, outcome: Outcome, scope: Scope = HOST, member: str = "") -> None:
        self.breakers.note(scope, outcome, member=member, now_s=self.now_s)

    def fail(self, times: int, scope: Scope = HOST) -> None:
        for n in range(times):
            self.note("failure", scope, member=str(n))

    def is_open(self, scope: Scope = HOST) -> bool:
        try:
            self.breakers.verify(scope, self.now_s)
        except Refused as refused:
            return refused.code == "breaker_open"
        return False


def test_a_circuit_opens_at_so_many_failures_in_a_row() -> None:
    scene = Scene()
    scene.fail(2)
    scene.note("success")
    scene.fail(2)
    assert scene.enter()
    assert not scene.is_open()
    scene.fail(1)
    assert scene.is_open()
    assert scene.changes == [(HOST, "open")]


def test_what_taught_nothing_is_not_counted() -> None:
    scene = Scene()
    scene.fail(2)
    for _ in range(5):
        scene.note("none")
    assert not scene.is_open()


def test_the_refusal_says_when_to_come_again() -> None:
    scene = Scene()
    scene.fail(3)
    scene.now_s = 4
    with pytest.raises(Refused) as refused:
        scene.enter()
    assert refused.value.retry_after_s == 6


def test_half_open_lets_one_try_and_the_others_wait_for_the_outcome() -> None:
    scene = Scene()
    scene.fail(3)
    scene.now_s = 10
    assert [scene.enter() for _ in range(3)] == [True, False, False]
    scene.note("success")
    assert [scene.enter() for _ in range(3)] == [True, True, True]
    assert [state for _, state in scene.changes] == ["open", "half_open", "closed"]


def test_a_trial_that_taught_nothing_is_another_s_turn() -> None:
    scene = Scene()
    scene.fail(3)
    scene.now_s = 10
    assert scene.enter()
    scene.note("none")
    assert [scene.enter(), scene.enter()] == [True, False]


def test_each_failed_trial_doubles_the_time_up_to_the_most() -> None:
    scene = Scene()
    scene.fail(3)
    opened = []
    for _ in range(4):
        began_s = scene.now_s
        while scene.is_open():
            scene.now_s += 1
        opened.append(scene.now_s - began_s)
        assert scene.enter()
        scene.note("failure")
    assert opened == [10, 20, 35, 35]


def test_jitter_takes_off_up_to_half_of_the_time() -> None:
    scene = Scene(draw=lambda: 0.0)
    scene.fail(3)
    scene.now_s = 5
    assert scene.enter()


def test_failures_that_began_before_do_not_prolong_the_time() -> None:
    scene = Scene()
    scene.fail(3)
    scene.now_s = 9
    scene.fail(5)
    scene.now_s = 10
    assert not scene.is_open()


def test_a_success_that_began_before_closes_it() -> None:
    scene = Scene()
    scene.fail(3)
    scene.note("success")
    assert scene.enter()


@pytest.mark.parametrize("scope", [DOMAIN, NETWORK])
def test_one_member_alone_does_not_stop_visits_to_its_neighbours(scope: Scope) -> None:
    scene = Scene()
    for _ in range(50):
        scene.note("failure", scope, member="tarpit.shop.io")
    assert scene.enter(scope)
    for member in ("a.shop.io", "b.shop.io"):
        scene.note("failure", scope, member=member)
    assert scene.is_open(scope)


def test_only_so_many_circuits_are_remembered() -> None:
    scene = Scene(capacity=3)
    scopes = [Scope("host", f"{n}.io") for n in range(4)]
    for scope in scopes:
        scene.fail(3, scope)
    assert [scene.is_open(scope) for scope in scopes] == [False, True, True, True]
    assert scene.breakers.snapshot() == {"host_open": 3}


def test_what_is_well_is_not_remembered() -> None:
    scene = Scene()
    scene.fail(2)
    assert scene.breakers.snapshot() == {"host_closed": 1}
    scene.note("success")
    assert scene.breakers.snapshot() == {}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["success", "failure", "none", "ask"]), st.floats(0, 50)
        ),
        max_size=40,
    )
)
def test_whatever_happens_it_is_asked_again_within_the_longest_time(
    steps: list[tuple[str, float]],
) -> None:
    scene = Scene()
    for step, pause_s in steps:
        scene.now_s += pause_s
        if step != "ask":
            scene.note(step)  # type: ignore[arg-type]
        elif not scene.is_open() and scene.enter():
            scene.note("none")
    scene.now_s += RULE.max_open_s
    assert scene.enter()


@pytest.mark.parametrize("level", ["host", "domain", "network"])
def test_the_rules_open_wider_circles_later(level: Level) -> None:
    assert RULES["host"].opens_at <= RULES[level].opens_at <= RULES["network"].opens_at
    assert RULES[level].max_open_s <= RULES["host"].max_open_s


@pytest.mark.parametrize(
    ("refused", "outcome"),
    [
        (Refused(refusals.CONNECT), "failure"),
        (Refused(refusals.DEADLINE), "failure"),
        (Refused(refusals.TIMEOUT), "failure"),
        (Refused(refusals.TLS), "failure"),
        (Refused(refusals.DNS_TIMEOUT), "failure"),
        (Refused(refusals.ADDRESS), "failure"),
        (UnexpectedStatus(429), "failure"),
        (UnexpectedStatus(503), "failure"),
        (UnexpectedStatus(500), "success"),
        (UnexpectedStatus(404), "success"),
        (UnexpectedType("text/html"), "success"),
        (Refused(refusals.BODY_WIRE), "success"),
        (Refused(refusals.PROTOCOL), "none"),
        (Refused(refusals.BREAKER_OPEN), "none"),
        (Refused(refusals.NETWORK_BUSY), "none"),
    ],
)
def test_a_refused_fetch_says_how_the_server_is(
    refused: Refused, outcome: Outcome
) -> None:
    assert decide_outcome(refused) == outcome
