"""Quality probes: whether a site answers as it promised, and how fast.

A WAB bridge is asked for its `ping` (WAB 1.0, 7.3.1); any other site for the document
that lists it, conditionally, so that a healthy one answers 304 and no body. Whether a
bridge conforms in all that may be asked without effect is a question of its own,
`check_bridge`, for now and then.
"""

import asyncio
from collections.abc import Mapping

from crawler.http.exchange import Fetched
from crawler.http.fetch import Fetcher
from crawler.probes import bridge
from crawler.probes.outcome import NOT_PROBED, ProbeResult, decide_outcome
from crawler.probes.targets import ProbeTarget, exactly
from crawler.robots.robots_cache import RobotsCache
from crawler.stopwatch import Stopwatch
from registry.errors import Refused


async def probe(
    fetcher: Fetcher, robots: RobotsCache, target: ProbeTarget
) -> ProbeResult:
    """Probe the target; only the probe is timed, not robots.txt. Never raises Refused."""
    watch = Stopwatch()
    try:
        await robots.permit(fetcher.target_of(target.url))
        answer = await fetcher.fetch(
            target.url, target.wanted, permit=robots.permit, watch=watch
        )
        if isinstance(answer, Fetched):
            await asyncio.to_thread(target.expect, answer)
    except Refused as refused:
        outcome = decide_outcome(refused)
        return ProbeResult(
            outcome=outcome,
            elapsed_ms=0 if outcome in NOT_PROBED else watch.elapsed_ms,
            code=refused.code,
            detail=refused.problem.detail,
            retry_after=getattr(refused, "retry_after", ""),
        )
    return ProbeResult(outcome="alive", elapsed_ms=answer.elapsed_ms)


async def check_bridge(
    fetcher: Fetcher, robots: RobotsCache, base_url: str
) -> Mapping[bridge.Method, ProbeResult]:
    """Check which of its answers conform to WAB 1.0 to the letter; `alive`: one does.

    Four GETs, one after the other; nothing is executed. Never raises Refused.
    """
    return {
        method: await probe(fetcher, robots, exactly(method, base_url))
        for method in bridge.METHODS
    }
