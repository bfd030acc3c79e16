"""Quality probes: whether a site answers as it promised, and how fast.

A WAB bridge is asked for its `ping` (wab-1.0, 7.3.1); any other site for the document
that lists it, conditionally, so that a healthy one answers 304 and no body.
"""

import time
from dataclasses import dataclass
from typing import Literal

from crawler import refusals
from crawler.fetch import ANY_TYPE, JSON_TYPES, Fetcher, Validators
from crawler.refusals import UnexpectedStatus
from crawler.robots_cache import RobotsCache
from registry.errors import Refused

Outcome = Literal[
    "alive", "auth_wall", "wrong_protocol", "blocked_by_robots", "unreachable"
]
"""alive: the promised answer. auth_wall: it runs but turns us away. wrong_protocol: it
answers something else. blocked_by_robots: not asked, never downtime. unreachable: no
answer, or that it can not serve now (5xx)."""

_TURNED_AWAY = frozenset({401, 402, 403, 407, 429, 451})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeTarget:
    """accept: the media types of the promised answer."""

    url: str
    accept: tuple[str, ...] = ANY_TYPE
    conditional: Validators | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """elapsed_ms: 0 where nothing was asked. code: why it is not alive, or ""."""

    outcome: Outcome
    elapsed_ms: int = 0
    code: str = ""
    retry_after: str = ""


def ping_of(base_url: str) -> ProbeTarget:
    """base_url: absolute, `transport.http.base_url` of a WAB document."""
    return ProbeTarget(url=f"{base_url.rstrip('/')}/ping", accept=JSON_TYPES)


async def probe(
    fetcher: Fetcher, robots: RobotsCache, target: ProbeTarget
) -> ProbeResult:
    """Never raises Refused. Only the probe itself is timed, not robots.txt."""
    try:
        await robots.permit(fetcher.target_of(target.url))
    except Refused as refused:
        return ProbeResult(outcome=decide_outcome(refused), code=refused.code)
    started_s = time.monotonic()
    try:
        answer = await fetcher.fetch(
            target.url,
            accept=target.accept,
            conditional=target.conditional,
            permit=robots.permit,
        )
    except Refused as refused:
        return ProbeResult(
            outcome=decide_outcome(refused),
            elapsed_ms=round((time.monotonic() - started_s) * 1000),
            code=refused.code,
            retry_after=getattr(refused, "retry_after", ""),
        )
    return ProbeResult(outcome="alive", elapsed_ms=answer.elapsed_ms)


def decide_outcome(refused: Refused) -> Outcome:
    """What a failed probe says about the site."""
    if isinstance(refused, UnexpectedStatus):
        if refused.status in _TURNED_AWAY:
            return "auth_wall"
        return "unreachable" if refused.status >= 500 else "wrong_protocol"
    if refused.code == refusals.ROBOTS_DISALLOWED.code:
        return "blocked_by_robots"
    return "unreachable" if refused.code in refusals.UNREACHABLE else "wrong_protocol"
