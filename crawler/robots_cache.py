"""robots.txt of the hosts visited lately, each read at most once a day."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from crawler import robots
from crawler.body import BodyLimits
from crawler.fetch import ANY_TYPE, Fetched, Fetcher
from crawler.guard import RedirectRule, Target
from crawler.robots import Robots
from registry.errors import Refused

MAX_AGE_S = 24 * 3600.0  # RFC 9309, 2.4
_RETRY_AGE_S = 1.0  # a failure serves one visit; the schedule decides about the next
_MAX_HOSTS = 10_000

_LIMITS = BodyLimits(
    wire_bytes=robots.MAX_BYTES, decoded_bytes=robots.MAX_BYTES, truncate=True
)
_REDIRECTS = RedirectRule(limit=5)


@dataclass(frozen=True, slots=True)
class _Copy:
    robots: Robots
    read_s: float
    retried_s: float


class RobotsCache:
    """One for a process. monotonic: seconds of a clock that never goes back."""

    def __init__(
        self, fetcher: Fetcher, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._fetcher = fetcher
        self._monotonic = monotonic
        self._copies: OrderedDict[str, _Copy] = OrderedDict()

    async def robots_of(self, host: str) -> Robots:
        """Never raises Refused: what can not be read forbids everything.

        Where a fetch fails, rules read within the day still serve.
        """
        copy = self._copies.get(host)
        if copy and self._serves(copy):
            return copy.robots
        copy = self._renewed(copy, await load_robots(self._fetcher, host))
        self._copies[host] = copy
        self._copies.move_to_end(host)
        while len(self._copies) > _MAX_HOSTS:
            self._copies.popitem(last=False)
        return copy.robots

    async def permit(self, target: Target) -> None:
        """Raises: Refused `robots_disallowed`, `robots_unreachable`."""
        (await self.robots_of(target.host.name)).verify(target.url)

    def _serves(self, copy: _Copy) -> bool:
        limit_s = MAX_AGE_S / 2 if copy.robots.rules else _RETRY_AGE_S
        return self._monotonic() - copy.retried_s < limit_s

    def _renewed(self, old: _Copy | None, robots: Robots) -> _Copy:
        now_s = self._monotonic()
        failed = robots.rules is None
        if failed and old and old.robots.rules and now_s - old.read_s < MAX_AGE_S:
            return _Copy(old.robots, old.read_s, now_s)
        return _Copy(robots, now_s, now_s)


async def load_robots(fetcher: Fetcher, host: str) -> Robots:
    """Never raises Refused."""
    try:
        fetched = await fetcher.fetch(
            f"https://{host}{robots.PATH}",
            accept=ANY_TYPE,
            redirects=_REDIRECTS,
            limits=_LIMITS,
        )
    except Refused as refused:
        return robots.decide_robots(refused, fetcher.product_token)
    body = fetched.body if isinstance(fetched, Fetched) else b""
    # Half a megabyte takes a second to parse, in which nothing else would be served.
    return await asyncio.to_thread(robots.decide_robots, body, fetcher.product_token)
