"""The one table of limits: what a network, an operator or an auditor may use of what.

`Limits.allow(scope, kind, account)` decides for any way into the registry, and costs some
15 µs. Handlers call `Limits.admit` (or `credentials.admit_caller`, which also says who
asks), guards are `limit_writes`, `limit_accounts` and `limit_lints`.

docs/limits.md explains the table; the header fields are those of
draft-ietf-httpapi-ratelimit-headers-10.
"""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from ipaddress import ip_address
from typing import Any, NamedTuple

import structlog
from litestar.connection import ASGIConnection
from litestar.datastructures import Headers
from litestar.handlers.base import BaseRouteHandler
from litestar.types import Guard, Scope

from registry.errors import RateLimited, RegistryError, Unavailable
from registry.identity.keys.public_keys import PublicKey
from registry.interfaces.http.bucket_table import Allowance, BucketTable, Quota
from registry.interfaces.http.client_networks import client_of, networks_of
from registry.interfaces.http.envelope import headers_of_answer
from registry.interfaces.http.refusals import ANONYMOUS_TURNED_AWAY, TOO_MANY_REQUESTS
from registry.interfaces.http.spare_room import SpareRoom
from registry.observability import LIMITED
from registry.tlog.note import parse_vkey

TOGETHER = 4
"""Times its limit: what an IPv6 /48, or the operators of one network, have together."""
LENIENCE = 100.0  # in development a demo town registers within seconds
TURNED_AWAY_S = 30
HOLD_UP_S, HELD_UP_MAX, REFUSALS_PER_S = 0.25, 16_384, 250
"""64 connections at full speed, or those beyond the number, would have a whole core."""


class Kind(Enum):
    """Kinds of limited calls, by their names in the header fields."""

    SEARCH = "search"
    SELECTION = "selection"
    ERASURE = "erasure"
    REPORT = "report"
    WRITE = "writes"
    LINT = "lint"
    ACCOUNT = "account"
    INQUIRY = "inquiry"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class LimitRow:
    """anonymous: of a network. operator, auditor: of a key; None: as the column before."""

    anonymous: Quota
    operator: Quota | None = None
    auditor: Quota | None = None


LIMITS: Mapping[Kind, LimitRow] = {
    Kind.SEARCH: LimitRow(Quota(300, 20), Quota(1_000, 100)),
    Kind.SELECTION: LimitRow(Quota(300, 20), Quota(1_000, 100)),
    Kind.ERASURE: LimitRow(Quota(60, 2), Quota(300, 20)),
    # Seconds of a core each, but for those that are at hand.
    Kind.REPORT: LimitRow(Quota(6, 1 / 20), Quota(12, 1 / 10), Quota(30, 1 / 10)),
    # Statements and challenges: signed or not, they cost the same.
    Kind.WRITE: LimitRow(Quota(120, 2)),
    # Up to a second of a core each: advice is tried with the encoder.
    Kind.LINT: LimitRow(Quota(30, 1 / 5)),
    # Each account has an operator's allowance.
    Kind.ACCOUNT: LimitRow(Quota(10, 1 / 60)),
    # Counterfactual questions of known auditors, each a second of work.
    Kind.INQUIRY: LimitRow(Quota(30, 1 / 10)),
    # Of a protocol whose every message costs half a millisecond before it says anything.
    Kind.MESSAGE: LimitRow(Quota(600, 40)),
}
PUT_OFF_FIRST = frozenset({Kind.SEARCH, Kind.SELECTION})
"""Kinds that anonymous askers write into the log; to erase must always be possible."""

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Verdict:
    """headers: of the answer. allowance: of the scarcest bucket, None where none was asked.

    refusal: None if the request may go on. It makes the error: one that a variable holds
    is a circle with its own traceback, left to the garbage collector.
    """

    headers: Mapping[str, str]
    refusal: Callable[[], RegistryError] | None = None
    allowance: Allowance | None = None


class Limits:
    """The limits of all web processes of a host.

    factor: times all of LIMITS. auditors: operator ids of the known auditors.
    room: None: there is always enough. clock: seconds, monotonic.
    """

    def __init__(
        self,
        buckets: BucketTable,
        *,
        factor: float = 1.0,
        auditors: frozenset[str] = frozenset(),
        room: SpareRoom | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._buckets = buckets
        self._auditors = auditors
        self._room = room
        self._clock = clock
        self._rows = {kind: _scaled(row, factor) for kind, row in LIMITS.items()}
        self._proxy_named = False
        self._held_up = 0

    def quota(self, kind: Kind) -> Quota:
        """Return what a network may use of it without a key."""
        return self._rows[kind].anonymous.own

    def is_auditor(self, account: str | None) -> bool:
        return account in self._auditors

    def allow(self, scope: Scope, kind: Kind, account: str | None = None) -> Verdict:
        """Count a request. account: id of the operator, or key, that has proven itself."""
        waits = account is None and kind in PUT_OFF_FIRST
        if waits and self._room is not None and self._room.is_short:
            return Verdict({}, partial(_turned_away, kind))
        wanted = self._wanted(client_of(scope), kind, account)
        taken, allowances = self._buckets.take(
            [(name, limit) for name, limit, _ in wanted], self._clock()
        )
        scarcest = min(range(len(wanted)), key=lambda n: allowances[n].tokens)
        allowance, policy = allowances[scarcest], wanted[scarcest][2]
        headers = _headers(policy, allowance)
        if taken:
            return Verdict(headers, allowance=allowance)
        self._name_proxy(scope, client_of(scope))
        LIMITED.labels(kind.value).inc()
        return Verdict(headers, partial(_refusal, allowance), allowance)

    async def admit(self, scope: Scope, kind: Kind, account: str | None = None) -> None:
        """Count a request, and add the headers. Raises: RateLimited, Unavailable."""
        verdict = self.allow(scope, kind, account)
        headers_of_answer(scope).update(verdict.headers)
        if verdict.refusal is not None:
            await self.hold_up()
            raise verdict.refusal()

    async def hold_up(self) -> None:
        """Wait before a refusal, so that a client at full speed leaves time to others.

        The more are held up, the longer, so that more connections get no more refusals.
        """
        if self._held_up < HELD_UP_MAX:
            self._held_up += 1
            try:
                await asyncio.sleep(max(HOLD_UP_S, self._held_up / REFUSALS_PER_S))
            finally:
                self._held_up -= 1

    def _wanted(
        self, address: str, kind: Kind, account: str | None
    ) -> list[tuple[str, Quota, str]]:
        """Return names, limits and policies of the buckets, each of which must have a token."""
        row, name, networks = self._rows[kind], kind.value, networks_of(address)
        if account is None:
            narrow = [(f"{name} {networks[0]}", row.anonymous.own, name)]
            return narrow + [
                (f"{name} {wide}", row.anonymous.together, f"{name}-network")
                for wide in networks[1:]
            ]
        limits = row.auditor if account in self._auditors else row.operator
        return [
            (f"{name} {account}", limits.own, f"{name}-key"),
            (f"{name} keys {networks[-1]}", limits.together, f"{name}-keys"),
        ]

    def _name_proxy(self, scope: Scope, address: str) -> None:
        """Say once that a proxy is counted in place of its clients."""
        if self._proxy_named or "x-forwarded-for" not in Headers.from_scope(scope):
            return
        try:
            self._proxy_named = ip_address(address).is_private
        except ValueError:
            return
        if self._proxy_named:
            logger.warning("proxy_not_trusted", setting="TRUSTED_PROXIES")


class _Pair(NamedTuple):
    """own: of a network or key. together: of many in one network."""

    own: Quota
    together: Quota


class _Scaled(NamedTuple):
    anonymous: _Pair
    operator: _Pair
    auditor: _Pair


def _scaled(row: LimitRow, factor: float) -> _Scaled:
    operator = row.operator or row.anonymous
    columns = (row.anonymous, operator, row.auditor or operator)
    return _Scaled(
        *(
            _Pair(limit.times(factor), limit.times(factor * TOGETHER))
            for limit in columns
        )
    )


def _headers(policy: str, allowance: Allowance) -> dict[str, str]:
    limit = allowance.limit
    return {
        "RateLimit-Policy": f'"{policy}";q={limit.burst};w={math.ceil(limit.window_s)}',
        "RateLimit": f'"{policy}";r={allowance.left};t={allowance.full_in_s}',
    }


def _refusal(allowance: Allowance) -> RateLimited:
    limit = allowance.limit
    pace = (
        f"{limit.per_s:g} a second"
        if limit.per_s >= 1
        else f"1 in {1 / limit.per_s:g} s"
    )
    return RateLimited(
        TOO_MANY_REQUESTS,
        f"{limit.burst} may come at once, and {pace} after that",
        retry_after_s=allowance.wait_s,
    )


def _turned_away(kind: Kind) -> Unavailable:
    LIMITED.labels(kind.value).inc()
    return Unavailable(ANONYMOUS_TURNED_AWAY, retry_after_s=TURNED_AWAY_S)


def operator_id_of(vkey: str) -> str:
    """Return the id of an auditor who has registered his key as an operator's."""
    return PublicKey(alg="Ed25519", raw=parse_vkey(vkey).public).kid


def _guard(kind: Kind) -> Guard:
    async def limit(
        connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
    ) -> None:
        await connection.app.state.services.limits.admit(connection.scope, kind)

    return limit


limit_writes, limit_accounts, limit_lints = map(
    _guard, (Kind.WRITE, Kind.ACCOUNT, Kind.LINT)
)
"""Guards. Raise: RateLimited."""
