"""Outcome of a probe. Pure."""

from dataclasses import dataclass
from typing import Literal

from crawler import refusals
from crawler.refusals import UnexpectedStatus
from registry.errors import Refused

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

NOT_PROBED = frozenset({"blocked_by_robots", "never_checked"})

_TURNED_AWAY = frozenset({401, 402, 403, 407, 429, 451})
_MISMATCHES = frozenset({refusals.BRIDGE_ANSWER.code, refusals.DOCUMENT_OTHER.code})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """elapsed_ms: 0 where nothing was asked. code, detail: why it is not alive, or ""."""

    outcome: Outcome
    elapsed_ms: int = 0
    code: str = ""
    detail: str = ""
    retry_after: str = ""


def decide_outcome(refused: Refused) -> Outcome:
    """Return the outcome of a probe that failed."""
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
