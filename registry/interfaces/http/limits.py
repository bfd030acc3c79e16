"""Limits of costly requests: a token bucket for each client.

The buckets are a process's own: with several web processes a client may have the limit
several times, which is still a limit. Told by the header fields of
draft-ietf-httpapi-ratelimit-headers-10.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers.base import BaseRouteHandler

from registry.errors import RateLimited
from registry.interfaces.http.envelope import headers_of_answer
from registry.interfaces.http.refusals import TOO_MANY_REQUESTS

BURST = 120
REFILL_PER_S = 2.0
LENIENCE = 100  # in development a demo town registers within seconds
MAX_CLIENTS = 20_000
IPV6_SITE_BITS = 64  # who has one address of such a network has all of them


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The tokens that a client has left. wait_s: until the next request is let through."""

    left: int
    full_in_s: int
    wait_s: int


class TokenBuckets:
    """burst: requests at once. refill_per_s: afterwards. clock: seconds, monotonic.

    The clients that asked longest ago are forgotten first.
    """

    def __init__(
        self,
        *,
        burst: int = BURST,
        refill_per_s: float = REFILL_PER_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.burst = burst
        self.refill_per_s = refill_per_s
        self._clock = clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, client: str) -> Allowance:
        """One token, if the client has one left; `wait_s` is 0 exactly then."""
        bucket = self._filled(client)
        wait_s = 0
        if bucket.tokens >= 1:
            bucket.tokens -= 1
        else:
            wait_s = math.ceil((1 - bucket.tokens) / self.refill_per_s)
        return Allowance(
            left=int(bucket.tokens),
            full_in_s=math.ceil((self.burst - bucket.tokens) / self.refill_per_s),
            wait_s=wait_s,
        )

    def _filled(self, client: str) -> _Bucket:
        now_s = self._clock()
        bucket = self._buckets.pop(client, None) or _Bucket(self.burst, now_s)
        gained = (now_s - bucket.filled_at_s) * self.refill_per_s
        bucket.tokens = min(self.burst, bucket.tokens + gained)
        bucket.filled_at_s = now_s
        self._buckets[client] = bucket
        if len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return bucket


def limit_writes(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """A guard. Raises: RateLimited."""
    buckets: TokenBuckets = connection.app.state.services.write_limits
    address = connection.client.host if connection.client else ""
    allowance = buckets.take(client_of(address))
    window_s = math.ceil(buckets.burst / buckets.refill_per_s)
    headers = headers_of_answer(connection.scope)
    headers["RateLimit-Policy"] = f'"writes";q={buckets.burst};w={window_s}'
    headers["RateLimit"] = f'"writes";r={allowance.left};t={allowance.full_in_s}'
    if allowance.wait_s:
        raise RateLimited(TOO_MANY_REQUESTS, retry_after_s=allowance.wait_s)


def client_of(address: str) -> str:
    """Return the owner of a bucket: an IPv4 address, or an IPv6 network."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    if not isinstance(ip, IPv6Address):
        return address
    if ip.ipv4_mapped:
        return str(ip.ipv4_mapped)
    return f"{int(ip) >> (128 - IPV6_SITE_BITS):x}"
