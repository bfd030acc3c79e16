"""Who may fetch what: robots.txt by RFC 9309. Pure.

Absent rules (4xx) allow everything; rules that can not be had (5xx, no connection, a
refusal of our own) forbid everything (2.3.1.3, 2.3.1.4).
"""

import re
from dataclasses import dataclass

from protego import Protego

from crawler import refusals
from crawler.refusals import UnexpectedStatus
from registry.errors import Refused

PATH = "/robots.txt"
MAX_BYTES = 500 * 1024

# As lax as Protego about what is a user-agent line, or laxer.
_AGENT_LINE = re.compile(
    r"\s*user[-\s]*agent(?=[\s:])[\s:]*(?P<agent>.*)", re.IGNORECASE
)
_NOT_US = "another"


@dataclass(frozen=True, slots=True)
class Robots:
    """rules: None where everything is forbidden for want of an answer."""

    product_token: str
    rules: Protego | None

    def verify(self, url: str) -> None:
        """Raises: Refused `robots_disallowed`, `robots_unreachable`."""
        if self.rules is None:
            raise Refused(refusals.ROBOTS_UNREACHABLE)
        if not self.rules.can_fetch(url, self.product_token):
            raise Refused(refusals.ROBOTS_DISALLOWED, f"it forbids {url}")


def parse_robots(body: bytes, product_token: str) -> Robots:
    """body: any bytes; what follows the first 500 KiB is not read (2.5)."""
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES].rpartition(b"\n")[0]
    lines = body.decode("utf-8-sig", "replace").splitlines()
    ours = "\n".join(_addressed(line, product_token) for line in lines)
    return Robots(product_token, Protego.parse(ours))


def _addressed(line: str, product_token: str) -> str:
    """The line; if it names agents, reduced to whether they are all, us or others.

    Groups for others are kept apart by one name for all of them: Protego keeps a rule
    once per agent of its group, so a file of 20,000 names and 20,000 rules would fill
    the memory. And "/version" after our token, which it does not know, is dropped.
    """
    named = _AGENT_LINE.match(line.partition("#")[0])
    if not named:
        return line
    agent = named["agent"].partition("/")[0].strip().lower()
    if agent == "*":
        return "User-agent: *"
    return f"User-agent: {product_token if agent == product_token.lower() else _NOT_US}"


def decide_robots(outcome: bytes | Refused, product_token: str) -> Robots:
    """What follows from the attempt to fetch robots.txt."""
    if isinstance(outcome, bytes):
        return parse_robots(outcome, product_token)
    if isinstance(outcome, UnexpectedStatus) and _is_absent(outcome.status):
        return parse_robots(b"", product_token)
    return Robots(product_token, None)


def _is_absent(status: int) -> bool:
    # RFC 9309 counts 429 among the absent too; but it asks us to leave, and we would
    # go on to ask for more.
    return 400 <= status < 500 and status != 429
