"""Targets of our own: if we can not reach those, the fault of a probe is ours.

What is probed while they fail counts for nobody: neither as downtime nor, of the sites
that still answered, as slowness.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import structlog

from crawler import metrics
from crawler.http.exchange import Wanted
from crawler.http.fetch import Fetcher
from crawler.http.head import ANY_TYPE
from crawler.probes.outcome import ProbeResult
from crawler.refusals import OWN_LINE, UnexpectedStatus
from registry.errors import Refused

WINDOW_S = 60.0
_PAUSE_S = 1.0

logger = structlog.get_logger()

Canary = Callable[[], Awaitable[bool]]
"""Attempt to reach a host; returns whether it could be reached."""


@dataclass(slots=True, eq=False)
class Canaries:
    """Targets of our own; without any, all is taken for sound. monotonic: seconds."""

    canaries: Sequence[Canary] = ()
    monotonic: Callable[[], float] = field(kw_only=True, default=time.monotonic)
    pause_s: float = field(kw_only=True, default=_PAUSE_S)
    _probe_lock: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    _checked_s: float = field(init=False, default=float("-inf"))
    _sound: bool = field(init=False, default=True)

    async def vouched(self, probing: Awaitable[ProbeResult]) -> ProbeResult:
        """The result, or `never_checked` if it may be our own line's.

        A failure needs canaries that were asked after the probe began; for an answer
        those of the last minute do.
        """
        began_s = self.monotonic()
        result = await probing
        failed = result.outcome == "unreachable"
        if not await self._are_sound(began_s if failed else began_s - WINDOW_S):
            result = replace(
                result,
                outcome="never_checked",
                elapsed_ms=0,
                code=OWN_LINE.code,
                detail=OWN_LINE.title,
            )
        metrics.PROBES.labels(result.outcome).inc()
        return result

    async def _are_sound(self, since_s: float) -> bool:
        if not self.canaries:
            return True
        async with self._probe_lock:
            if self._checked_s <= since_s:
                await self._probe()
            return self._sound

    async def _probe(self) -> None:
        # Of a hundred probes that fail together, each began at another moment.
        rest_s = self._checked_s + self.pause_s - self.monotonic()
        await asyncio.sleep(max(0.0, rest_s))
        self._checked_s = self.monotonic()
        answers = await asyncio.gather(*(canary() for canary in self.canaries))
        sound = 2 * sum(answers) > len(answers)
        if sound != self._sound:
            logger.warning("canaries_changed", sound=sound, answered=sum(answers))
        self._sound = sound


def canaries_at(fetcher: Fetcher, urls: Sequence[str]) -> Sequence[Canary]:
    """fetcher: without limits and breakers (`politeness.TOWARDS_OURSELVES`)."""
    return [partial(_is_there, fetcher, url) for url in urls]


async def _is_there(fetcher: Fetcher, url: str) -> bool:
    try:
        await fetcher.fetch(url, Wanted(accept=ANY_TYPE))
    except UnexpectedStatus as refused:
        return refused.status < 500
    except Refused:
        return False
    return True
