"""Quality probes: whether a site answers as it promised, and how fast.

A WAB bridge is asked for its `ping` (WAB 1.0, 7.3.1); any other site for the document
that lists it, conditionally, so that a healthy one answers 304 and no body. Whether a
bridge conforms in all that may be asked without effect is a question of its own,
`check_bridge`, for now and then.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Literal

from crawler import bridge, refusals
from crawler.fetch import Fetched, Fetcher
from crawler.head import ANY_TYPE, HTML_TYPES, JSON_TYPES, Validators, media_type_of
from crawler.refusals import UnexpectedStatus
from crawler.robots_cache import RobotsCache
from crawler.stopwatch import Stopwatch
from crawler.visit import DOCUMENT_TYPES
from registry.errors import Refused
from registry.formats.detect import parse_document, parse_page
from registry.formats.document import Parsed

Outcome = Literal[
    "alive",
    "auth_wall",
    "wrong_protocol",
    "mismatch",
    "blocked_by_robots",
    "unreachable",
    "never_checked",
]
"""alive: the promised answer. auth_wall: it runs but turns us away. wrong_protocol: it
answers otherwise than over HTTP, or with no document. mismatch: with another document,
or a bridge that says it is not well. unreachable: no answer, or that it can not serve
now (5xx). Not asked, so never downtime: blocked_by_robots by its wish; never_checked by
our own restraint, or not yet."""

NOT_ASKED = frozenset({"blocked_by_robots", "never_checked"})

_TURNED_AWAY = frozenset({401, 402, 403, 407, 429, 451})
_MISMATCHES = frozenset({refusals.BRIDGE_ANSWER.code, refusals.DOCUMENT_OTHER.code})

Expect = Callable[[Fetched], None]
"""Raises: Refused `bridge_answer`, `document_other`."""


def _expect_nothing(answer: Fetched) -> None:
    """Any answer of the accepted types will do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeTarget:
    """accept: the media types of the promised answer. expect: what it must be."""

    url: str
    accept: tuple[str, ...] = ANY_TYPE
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    conditional: Validators | None = None
    expect: Expect = _expect_nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """elapsed_ms: 0 where nothing was asked. code, detail: why it is not alive, or ""."""

    outcome: Outcome
    elapsed_ms: int = 0
    code: str = ""
    detail: str = ""
    retry_after: str = ""


def ping_of(base_url: str) -> ProbeTarget:
    """base_url: absolute, `transport.http.base_url` of a WAB document."""
    return ProbeTarget(
        url=_method_url(base_url, "ping"),
        accept=JSON_TYPES,
        headers=bridge.HEADERS,
        expect=lambda answer: bridge.verify_pong(answer.body, answer.url),
    )


def document_at(
    url: str,
    *,
    promised: str,
    content_type: str,
    body: bytes,
    stored: Validators,
) -> ProbeTarget:
    """The document that was crawled there: the same bytes, or others of its format.

    promised: the format.
    """
    is_page = media_type_of(content_type) in HTML_TYPES
    return ProbeTarget(
        url=url,
        accept=HTML_TYPES if is_page else DOCUMENT_TYPES,
        conditional=stored,
        expect=partial(_expect_format, promised=promised, body=body, is_page=is_page),
    )


async def probe(
    fetcher: Fetcher, robots: RobotsCache, target: ProbeTarget
) -> ProbeResult:
    """Never raises Refused. Only the probe itself is timed, not robots.txt."""
    watch = Stopwatch()
    try:
        await robots.permit(fetcher.target_of(target.url))
        answer = await fetcher.fetch(
            target.url,
            accept=target.accept,
            headers=target.headers,
            conditional=target.conditional,
            permit=robots.permit,
            watch=watch,
        )
        if isinstance(answer, Fetched):
            await asyncio.to_thread(target.expect, answer)
    except Refused as refused:
        outcome = decide_outcome(refused)
        return ProbeResult(
            outcome=outcome,
            elapsed_ms=0 if outcome in NOT_ASKED else watch.elapsed_ms,
            code=refused.code,
            detail=refused.problem.detail,
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
    if refused.code in refusals.LATER:
        return "never_checked"
    if refused.code in _MISMATCHES:
        return "mismatch"
    return "unreachable" if refused.code in refusals.UNREACHABLE else "wrong_protocol"


async def check_bridge(
    fetcher: Fetcher, robots: RobotsCache, base_url: str
) -> Mapping[bridge.Method, ProbeResult]:
    """Which of its answers are to the letter those of WAB 1.0; `alive` says one is.

    Four GETs, one after the other; nothing is executed. Never raises Refused.
    """
    return {
        method: await probe(fetcher, robots, _exactly(method, base_url))
        for method in bridge.METHODS
    }


def _exactly(method: bridge.Method, base_url: str) -> ProbeTarget:
    return ProbeTarget(
        url=_method_url(base_url, method),
        accept=JSON_TYPES,
        headers=bridge.HEADERS,
        expect=lambda answer: bridge.verify_answer(method, answer.body, answer.url),
    )


def _method_url(base_url: str, method: bridge.Method) -> str:
    return f"{base_url.rstrip('/')}/{method}"


def _expect_format(
    answer: Fetched,
    *,
    promised: str,
    body: bytes,
    is_page: bool,
) -> None:
    if answer.body == body:
        return
    parse = parse_page if is_page else parse_document
    parsed = parse(answer.body, url=answer.url)
    if not isinstance(parsed, Parsed):
        detail = f"{answer.url}: {parsed.problem.detail}"
        raise Refused(refusals.DOCUMENT_OTHER, detail)
    if parsed.document.format != promised:
        detail = f"{answer.url}: it is {parsed.document.format}, not {promised}"
        raise Refused(refusals.DOCUMENT_OTHER, detail)
