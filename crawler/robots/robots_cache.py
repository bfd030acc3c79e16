"""robots.txt of the hosts visited lately, each read at most twice a day."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from crawler import refusals, trace
from crawler.http.body import BodyLimits
from crawler.http.exchange import Fetched, Wanted
from crawler.http.fetch import Fetcher
from crawler.http.guard import RedirectRule, Target
from crawler.http.head import ANY_TYPE
from crawler.robots import robots_txt
from crawler.robots.robots_txt import Robots
from registry.errors import Refused

MAX_AGE_S = 24 * 3600.0  # RFC 9309, 2.4
MAX_SIZE = 32 * 1024 * 1024
"""Characters of rules, a host counted as 1,000 more."""

_FRESH_S = MAX_AGE_S / 2
_RETRY_S = 300.0  # an old copy serves meanwhile
_RETRY_WITHOUT_S = (
    1.0  # a failure serves one visit; the schedule decides about the next
)
_HOST_SIZE = 1000
_LONG = 16 * 1024

_WANTED = Wanted(
    accept=ANY_TYPE,
    redirects=RedirectRule(limit=5, within="any"),
    # One byte more than is read shows that the last line may be cut.
    limits=BodyLimits(
        wire_bytes=robots_txt.MAX_BYTES + 1,
        decoded_bytes=robots_txt.MAX_BYTES + 1,
        truncate=True,
    ),
)


@dataclass(frozen=True, slots=True)
class _Copy:
    robots: Robots
    read_s: float
    due_s: float


@dataclass(eq=False)
class RobotsCache:
    """Cache of a process. monotonic: seconds of a clock that never goes back."""

    fetcher: Fetcher
    monotonic: Callable[[], float] = time.monotonic
    max_size: int = field(kw_only=True, default=MAX_SIZE)
    _size: int = 0
    _copies: OrderedDict[str, _Copy] = field(default_factory=OrderedDict)
    _reading: WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=WeakValueDictionary
    )

    async def robots_of(self, host: str) -> Robots:
        """Return the rules of a host. Never raises Refused: what can't be read forbids all.

        Where a fetch fails, rules read within the day still serve.
        """
        copy = self._fresh(host) or await self._read(host)
        return copy.robots

    async def permit(self, target: Target) -> None:
        """Raises: Refused `robots_disallowed`, `robots_unreachable` or of our restraint."""
        rules_of_host = await self.robots_of(target.host.name)
        if rules_of_host.size > _LONG:
            await asyncio.to_thread(rules_of_host.verify, target.url)
        else:
            rules_of_host.verify(target.url)

    def _fresh(self, host: str) -> _Copy | None:
        copy = self._copies.get(host)
        return copy if copy and self.monotonic() < copy.due_s else None

    async def _read(self, host: str) -> _Copy:
        """Read it once for all who ask meanwhile."""
        async with self._reading.setdefault(host, asyncio.Lock()):
            if copy := self._fresh(host):
                return copy
            robots = await load_robots(self.fetcher, host)
            copy = self._renewed(self._copies.get(host), robots)
            self._keep(host, copy)
            return copy

    def _renewed(self, old: _Copy | None, robots: Robots) -> _Copy:
        now_s = self.monotonic()
        if robots.rules is not None:
            return _Copy(robots, now_s, now_s + _FRESH_S)
        if old and old.robots.rules is not None and now_s < old.read_s + MAX_AGE_S:
            due_s = min(now_s + _RETRY_S, old.read_s + MAX_AGE_S)
            return _Copy(old.robots, old.read_s, due_s)
        return _Copy(robots, now_s, now_s + _RETRY_WITHOUT_S)

    def _keep(self, host: str, copy: _Copy) -> None:
        self._forget(host)
        self._copies[host] = copy
        self._size += _HOST_SIZE + copy.robots.size
        while self._size > self.max_size:
            self._forget(next(iter(self._copies)))

    def _forget(self, host: str) -> None:
        copy = self._copies.pop(host, None)
        if copy:
            self._size -= _HOST_SIZE + copy.robots.size


async def load_robots(fetcher: Fetcher, host: str) -> Robots:
    """Load the rules of a host. Never raises Refused."""
    first = fetcher.target_of(f"https://{host}{robots_txt.PATH}")

    async def permit(target: Target) -> None:
        # RFC 9309, 2.3.1.2: even across authorities; but no request of its choice.
        domain = target.host.registrable_domain
        if domain != first.host.registrable_domain and target.path != robots_txt.PATH:
            detail = f"robots.txt leads to {target.url[:80]}"
            raise Refused(refusals.REDIRECT_CROSS_SITE, detail)

    try:
        fetched = await fetcher.fetch(first.url, _WANTED, permit=permit)
    except Refused as refused:
        problem = refused.problem
        trace.emit(trace.RobotsFetched.of, problem, host=host)
        return robots_txt.decide_robots(refused, fetcher.product_token)
    trace.emit(trace.RobotsFetched, host=host)
    body = fetched.body if isinstance(fetched, Fetched) else b""
    if len(body) <= _LONG:
        return robots_txt.decide_robots(body, fetcher.product_token)
    # Half a megabyte takes a second to parse, in which nothing else would be served.
    return await asyncio.to_thread(
        robots_txt.decide_robots, body, fetcher.product_token
    )
