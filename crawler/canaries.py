"""Targets of our own: if we can not reach those, the fault of a probe is ours.

What is probed while they fail is recorded for nobody: neither as downtime nor, of the
sites that still answered, as the slowness of our own line.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

import structlog

from crawler.fetch import ANY_TYPE, Fetcher
from crawler.refusals import UnexpectedStatus
from registry.errors import Refused

WINDOW_S = 60.0
_PAUSE_S = 1.0

logger = structlog.get_logger()


class Canaries:
    """fetcher: without limits and breakers (`politeness.TOWARDS_OURSELVES`).

    urls: none, and all is taken for sound.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        urls: Sequence[str] = (),
        *,
        monotonic: Callable[[], float] = time.monotonic,
        window_s: float = WINDOW_S,
        pause_s: float = _PAUSE_S,
    ) -> None:
        self._fetcher = fetcher
        self._urls = urls
        self._monotonic = monotonic
        self._window_s = window_s
        self._pause_s = pause_s
        self._asking = asyncio.Lock()
        self._asked_s = float("-inf")
        self._sound = True

    async def vouch(self, *, began_s: float, failed: bool) -> bool:
        """Whether a probe that began then, on our clock, may be recorded.

        A failed one needs canaries that were asked after it began; for the others those
        of the last minute do.
        """
        if not self._urls:
            return True
        since_s = began_s if failed else began_s - self._window_s
        async with self._asking:
            if self._asked_s < since_s:
                await self._ask()
            return self._sound

    async def _ask(self) -> None:
        # Of a hundred probes that fail together, each began at another moment.
        rest_s = self._asked_s + self._pause_s - self._monotonic()
        await asyncio.sleep(max(0.0, rest_s))
        self._asked_s = self._monotonic()
        answered = await asyncio.gather(*(self._is_there(url) for url in self._urls))
        sound = 2 * sum(answered) > len(answered)
        if sound != self._sound:
            logger.warning("canaries_changed", sound=sound, answered=sum(answered))
        self._sound = sound

    async def _is_there(self, url: str) -> bool:
        try:
            await self._fetcher.fetch(url, accept=ANY_TYPE)
        except UnexpectedStatus as refused:
            return refused.status < 500
        except Refused:
            return False
        return True
