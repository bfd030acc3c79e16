"""Circuit breakers: what failed too often lately is left in peace for a while. Pure.

A circuit stands for a host, a registrable domain or a network. Closed, it counts
failures in a row. Open, nobody asks. When that time is over it is half-open: one asks,
and its outcome closes the circuit or opens it for twice as long.

A domain opens by failures of several hosts and a network by those of several domains:
behind one address stand thousands of sites, and none of them may stop the visits to its
neighbours.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from crawler import refusals
from crawler.refusals import UnexpectedStatus
from registry.errors import Refused

MAX_CIRCUITS = 50_000
_OVERLOADED = frozenset({429, 503})
_MAX_DOUBLINGS = 32

Level = Literal["host", "domain", "network"]
State = Literal["closed", "open", "half_open"]
Outcome = Literal["success", "failure", "none"]
"""Outcome of a request. none: nothing was learned, for it was we who broke off."""


class Scope(NamedTuple):
    """name: of the host or the domain, or the network's prefix."""

    level: Level
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerRule:
    """opens_at: failures in a row; of a domain or network, each of another member.

    min_open_s, max_open_s: of the first opening and of any, before the jitter.
    """

    opens_at: int
    min_open_s: float
    max_open_s: float


RULES: Mapping[Level, BreakerRule] = MappingProxyType(
    {
        "host": BreakerRule(opens_at=5, min_open_s=15, max_open_s=3600),
        "domain": BreakerRule(opens_at=8, min_open_s=15, max_open_s=3600),
        # Shorter: its many sites suffer by it.
        "network": BreakerRule(opens_at=16, min_open_s=15, max_open_s=600),
    }
)


@dataclass(slots=True)
class _Circuit:
    """failed: members whose failure counts; a host's own are numbered."""

    state: State = "closed"
    failed: set[str] = field(default_factory=set)
    openings: int = 0
    open_until_s: float = 0.0
    is_tried: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Breakers:
    """draw: a number of [0, 1). on_change: is called once for every change of a state.

    Only what failed is remembered, and of that what was asked for last.
    """

    draw: Callable[[], float]
    on_change: Callable[[Scope, State], None]
    rules: Mapping[Level, BreakerRule] = field(default_factory=lambda: RULES)
    capacity: int = MAX_CIRCUITS
    _circuits: OrderedDict[Scope, _Circuit] = field(
        init=False, default_factory=OrderedDict
    )

    def verify(self, scope: Scope, now_s: float) -> None:
        """Raises: Refused `breaker_open`, with the seconds until another try."""
        circuit = self._circuits.get(scope)
        if circuit and circuit.state == "open" and now_s < circuit.open_until_s:
            wait_s = circuit.open_until_s - now_s
            detail = f"the {scope.level} {scope.name} is asked again in {wait_s:.0f} s"
            raise Refused(
                refusals.BREAKER_OPEN, detail, retry_after_s=max(1, round(wait_s))
            )

    def enter(self, scope: Scope, now_s: float) -> bool:
        """Return whether to ask now; if not, somebody is trying: wait for the outcome.

        Who entered reports by `note`. Raises: Refused `breaker_open`.
        """
        self.verify(scope, now_s)
        circuit = self._circuits.get(scope)
        if circuit is None or circuit.state == "closed":
            return True
        if circuit.state == "open":
            self._change(scope, circuit, "half_open")
        elif self.is_tried(scope):
            return False
        circuit.is_tried = True
        return True

    def is_tried(self, scope: Scope) -> bool:
        """Return whether it is half-open and somebody asks."""
        circuit = self._circuits.get(scope)
        return circuit is not None and circuit.is_tried

    def note(
        self, scope: Scope, outcome: Outcome, *, member: str, now_s: float
    ) -> None:
        """member: the host at its domain, the domain at its network."""
        if outcome == "success":
            self._forget(scope)
        elif outcome == "failure":
            self._count(scope, member, now_s)
        elif scope in self._circuits:
            self._circuits[scope].is_tried = False

    def snapshot(self) -> dict[str, int]:
        """Circuits by level and state; the closed are those with a failure or more."""
        counted = Counter(
            f"{scope.level}_{circuit.state}"
            for scope, circuit in self._circuits.items()
        )
        return dict(counted)

    def _forget(self, scope: Scope) -> None:
        circuit = self._circuits.pop(scope, None)
        if circuit and circuit.state != "closed":
            self.on_change(scope, "closed")

    def _count(self, scope: Scope, member: str, now_s: float) -> None:
        circuit = self._circuits.setdefault(scope, _Circuit())
        self._circuits.move_to_end(scope)
        if circuit.state == "half_open":
            self._open(scope, circuit, now_s)
        elif circuit.state == "closed":
            number = f"#{len(circuit.failed)}"
            circuit.failed.add(number if scope.level == "host" else member)
            if len(circuit.failed) >= self.rules[scope.level].opens_at:
                self._open(scope, circuit, now_s)
        while len(self._circuits) > self.capacity:
            self._circuits.popitem(last=False)

    def _open(self, scope: Scope, circuit: _Circuit, now_s: float) -> None:
        rule = self.rules[scope.level]
        doublings = min(circuit.openings, _MAX_DOUBLINGS)
        longest_s = min(rule.max_open_s, rule.min_open_s * 2.0**doublings)
        circuit.open_until_s = now_s + longest_s * (1 + self.draw()) / 2
        circuit.openings += 1
        circuit.is_tried = False
        circuit.failed.clear()
        self._change(scope, circuit, "open")

    def _change(self, scope: Scope, circuit: _Circuit, state: State) -> None:
        circuit.state = state
        self.on_change(scope, state)


def decide_outcome(refused: Refused) -> Outcome:
    """Return the verdict on the server of a fetch that was refused.

    One that answers is well, whatever it answers, unless it is the wish to be left
    alone. An answer cut off halfway (`protocol`) says neither.
    """
    if isinstance(refused, UnexpectedStatus):
        return "failure" if refused.status in _OVERLOADED else "success"
    if refused.code in refusals.LATER or refused.code == refusals.PROTOCOL.code:
        return "none"
    return "failure" if refused.code in refusals.UNREACHABLE else "success"
