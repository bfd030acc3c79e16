"""Limits of rate that a site declares, whichever format says so: requests in a window."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from registry.strict_json import JsonValue

MOST_LIMITS = 50
_MINUTE = "60s"
_QUOTA = re.compile(r"\s*(\d{1,9})\s*(?:/|per)\s*(s|m|h|d)[a-z]*\s*", re.IGNORECASE)
_WINDOW = re.compile(r"\d{1,6}[smhd]")
_LIST_MEMBERS = ("actions", "capabilities", "entities")

Limit = dict[str, Any]


def declared_limits(format_: str, document: JsonValue) -> list[Limit]:
    """Return what the document declares: requests, window, and of which action, if of one.

    Window: a number and s, m, h or d. What can't be read is left out, never guessed.
    """
    if not isinstance(document, dict):
        return []
    limits = [*_of_site(document), *_of_actions(document)]
    return [{"format": format_, **limit} for limit in limits[:MOST_LIMITS]]


def _of_site(document: Mapping[str, JsonValue]) -> Iterator[Limit]:
    for name in ("rateLimit", "rate_limit"):
        yield from _limit(document.get(name))
    for name in ("security", "rate_limits", "rateLimits"):
        member = document.get(name)
        if isinstance(member, dict):
            for key in ("max_rate", "requests_per_minute", "requestsPerMinute"):
                yield from _quota(member.get(key), _MINUTE)


def _of_actions(document: Mapping[str, JsonValue]) -> Iterator[Limit]:
    for name in _LIST_MEMBERS:
        rows = document.get(name)
        for row in rows if isinstance(rows, list) else ():
            if not isinstance(row, dict):
                continue
            action = row.get("name") or row.get("id")
            for key in ("rateLimit", "rate_limit", "rateLimitHint"):
                for limit in _limit(row.get(key)):
                    yield {"action": str(action), **limit} if action else limit


def _limit(value: JsonValue) -> Iterator[Limit]:
    match value:
        case str():
            if quota := _QUOTA.fullmatch(value):
                yield from _quota(int(quota[1]), f"1{quota[2].lower()}")
        case dict():
            window = value.get("window")
            if isinstance(window, str) and _WINDOW.fullmatch(window):
                yield from _quota(value.get("requests"), window)
        case _:
            pass


def _quota(requests: JsonValue, window: str) -> Iterator[Limit]:
    is_number = isinstance(requests, int) and not isinstance(requests, bool)
    if is_number and requests > 0:  # type: ignore[operator] # a number it is
        yield {"requests": requests, "window": window}
