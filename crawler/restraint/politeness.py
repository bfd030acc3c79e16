"""Politeness: hosts that this process asks, how many at a time and how often.

Every request takes its turn here: at its host, at its registrable domain and, once the
name is resolved, at the network it dials, so that ten thousand names that lead to one
address are no attack on it. What has to wait waits a little; what would wait long is
refused as `network_busy`, and what failed too often as `breaker_open`.
"""

import asyncio
import ipaddress
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Self

import structlog

from crawler import metrics, refusals
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
from crawler.restraint.pace import Pace
from crawler.stopwatch import Stopwatch
from registry.errors import Refused
from registry.sites.host import Host

_PREFIX_LENGTHS = {4: 24, 6: 48}
_MAX_WAITING = 250  # in a scope; more would not have their turn in time

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """Limit of requests. at_once: those under way. per_s: begun in the long run; burst: after a rest."""

    at_once: int
    per_s: float
    burst: int


LIMITS: Mapping[Level, Limit] = MappingProxyType(
    {
        # A visit is 24 requests, four at a time; beside it come proof and probe.
        "host": Limit(at_once=8, per_s=10, burst=40),
        "domain": Limit(at_once=16, per_s=20, burst=80),
        # Fronts of a hundred thousand sites are one network.
        "network": Limit(at_once=32, per_s=50, burst=100),
    }
)
# Less would end a visit halfway by our own restraint; see `discovery.visit.VisitLimits`.
_BURST_OF_A_VISIT = 24
_UNBOUNDED = Limit(at_once=10**6, per_s=1e9, burst=10**6)
_draw = random.SystemRandom().random
_NEVER = BreakerRule(opens_at=10**9, min_open_s=1, max_open_s=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolitenessConfig:
    """patience_s: how long a request waits for its turn in one scope.

    spare_loopback: addresses of this machine are no network to be protected.
    """

    limits: Mapping[Level, Limit] = field(default_factory=lambda: LIMITS)
    rules: Mapping[Level, BreakerRule] = field(default_factory=lambda: RULES)
    patience_s: float = 5.0
    spare_loopback: bool = True

    def shared_by(self, crawlers: int) -> "PolitenessConfig":
        """The share of one of so many crawlers, which together keep to all this.

        What can not be shared stays whole: one request, a burst of one visit, and that
        no circuit opens by a single failure.
        """
        limits = {
            level: Limit(
                at_once=max(1, limit.at_once // crawlers),
                per_s=limit.per_s / crawlers,
                burst=min(limit.burst, max(_BURST_OF_A_VISIT, limit.burst // crawlers)),
            )
            for level, limit in self.limits.items()
        }
        rules = {
            level: replace(rule, opens_at=max(2, rule.opens_at // crawlers))
            for level, rule in self.rules.items()
        }
        return replace(self, limits=limits, rules=rules)


TOWARDS_OURSELVES = PolitenessConfig(
    limits=dict.fromkeys(LIMITS, _UNBOUNDED), rules=dict.fromkeys(RULES, _NEVER)
)
"""Configuration for targets of our own: no limits, no breakers."""


@lru_cache(maxsize=4096)
def network_of(address: str) -> str:
    """The /24 of an IPv4 address, the /48 of an IPv6 one."""
    parsed = ipaddress.ip_address(address)
    length = _PREFIX_LENGTHS[parsed.version]
    return str(ipaddress.ip_network((parsed, length), strict=False))


@lru_cache(maxsize=4096)
def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


class _Lane:
    """Requests under way or waiting for the same key: gone with the last of them."""

    def __init__(self, at_once: int) -> None:
        self.slots = asyncio.Semaphore(at_once)
        self.left = asyncio.Event()
        self.users = 0


class Politeness:
    """Restraint of the process. draw: a number of [0, 1). monotonic: seconds."""

    def __init__(
        self,
        config: PolitenessConfig | None = None,
        *,
        draw: Callable[[], float] = _draw,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.config = config or PolitenessConfig()
        self._monotonic = monotonic
        self._counts: Counter[str] = Counter()
        self._breakers = Breakers(
            draw=draw, on_change=self._on_change, rules=self.config.rules
        )
        self._lanes: dict[Scope, _Lane] = {}
        self._paces = {
            level: Pace(per_s=limit.per_s, burst=limit.burst)
            for level, limit in self.config.limits.items()
        }

    def turn(self, host: Host, watch: Stopwatch) -> "Turn":
        """Take a turn for one request; what is raised in the block is its outcome.

        Entering raises: Refused `breaker_open`, `network_busy`.
        """
        return Turn(self, host, watch)

    def snapshot(self) -> dict[str, int]:
        """Return figures for metrics: circuits by level and state, requests under way, counts.

        opened_*: since the start, by level; refused_*: since the start, by code.
        """
        under_way = (
            lane.users for scope, lane in self._lanes.items() if scope.level == "host"
        )
        return {
            "under_way": sum(under_way),
            **self._breakers.snapshot(),
            **self._counts,
        }

    async def enter(self, scope: Scope, watch: Stopwatch) -> None:
        """Raises: Refused `breaker_open`, `network_busy`."""
        lane = self._lanes.get(scope)
        if lane is None:
            lane = self._lanes[scope] = _Lane(self.config.limits[scope.level].at_once)
        lane.users += 1
        try:
            await self._take_turn(scope, lane, watch)
        except BaseException as error:
            self._drop(scope, lane)
            if isinstance(error, Refused):
                self._counts[f"refused_{error.code}"] += 1
                metrics.HELD_BACK.labels(error.code).inc()
            raise

    def leave(self, scope: Scope, outcome: Outcome, member: str) -> None:
        now_s = self._monotonic()
        self._breakers.note(scope, outcome, member=member, now_s=now_s)
        lane = self._lanes[scope]
        lane.slots.release()
        lane.left.set()  # wakes all who wait now; who comes later waits for the next
        lane.left.clear()
        self._drop(scope, lane)

    async def _take_turn(self, scope: Scope, lane: _Lane, watch: Stopwatch) -> None:
        now_s = self._monotonic()
        self._breakers.verify(scope, now_s)
        if lane.users > self.config.limits[scope.level].at_once + _MAX_WAITING:
            raise _busy(scope, lane)
        pause_s = self._paces[scope.level].reserve(
            scope.name, now_s=now_s, patience_s=self.config.patience_s
        )
        if pause_s or lane.slots.locked() or self._breakers.is_tried(scope):
            with watch.stopped():
                await self._wait(scope, lane, pause_s)
        else:
            self._breakers.enter(scope, now_s)
            await lane.slots.acquire()  # at once

    async def _wait(self, scope: Scope, lane: _Lane, pause_s: float) -> None:
        await asyncio.sleep(pause_s)
        try:
            async with asyncio.timeout(self.config.patience_s):
                await lane.slots.acquire()
                await self._await_trial(scope, lane)
        except TimeoutError as error:
            raise _busy(scope, lane) from error

    async def _await_trial(self, scope: Scope, lane: _Lane) -> None:
        """Take a slot, which is given back if nothing comes of it."""
        try:
            while not self._breakers.enter(scope, self._monotonic()):
                await lane.left.wait()
        except BaseException:
            lane.slots.release()
            raise

    def _drop(self, scope: Scope, lane: _Lane) -> None:
        lane.users -= 1
        if lane.users == 0:
            del self._lanes[scope]

    def _on_change(self, scope: Scope, state: State) -> None:
        if state == "open":
            self._counts[f"opened_{scope.level}"] += 1
            metrics.OPENED.labels(scope.level).inc()
        logger.info("circuit_changed", of=scope.level, name=scope.name, state=state)


def _busy(scope: Scope, lane: _Lane) -> Refused:
    detail = f"{lane.users} requests are under way to {scope.name}"
    return Refused(refusals.NETWORK_BUSY, detail, retry_after_s=60)


class Turn:
    """Scopes in which one request is under way."""

    def __init__(self, politeness: Politeness, host: Host, watch: Stopwatch) -> None:
        self._politeness = politeness
        self._host = host
        self._watch = watch
        self._entered: list[Scope] = []

    async def __aenter__(self) -> Self:
        host = self._host
        try:
            await self.enter(Scope("host", host.name))
            await self.enter(Scope("domain", host.registrable_domain))
        except BaseException as error:
            self._leave(self._outcome_of(error))
            raise
        return self

    async def __aexit__(
        self, _: object, raised: BaseException | None, __: object
    ) -> None:
        self._leave("success" if raised is None else self._outcome_of(raised))

    async def dial(self, address: str) -> None:
        """Take a turn before each address is dialled, one after the other.

        Raises: Refused `breaker_open`, `network_busy`.
        """
        if self._entered and self._entered[-1].level == "network":
            self._leave_last("failure")
        spares = self._politeness.config.spare_loopback
        if not (spares and _is_loopback(address)):
            await self.enter(Scope("network", network_of(address)))

    async def enter(self, scope: Scope) -> None:
        await self._politeness.enter(scope, self._watch)
        self._entered.append(scope)

    def _outcome_of(self, raised: BaseException) -> Outcome:
        if isinstance(raised, Refused):
            return decide_outcome(raised)
        is_late = isinstance(raised, asyncio.CancelledError) and self._watch.has_expired
        return "failure" if is_late else "none"

    def _leave(self, outcome: Outcome) -> None:
        while self._entered:
            self._leave_last(outcome)

    def _leave_last(self, outcome: Outcome) -> None:
        scope = self._entered.pop()
        member = self._host.name
        if scope.level == "network":
            member = self._host.registrable_domain
        self._politeness.leave(scope, outcome, member)
