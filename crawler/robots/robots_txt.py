"""Rules of robots.txt (RFC 9309). Pure.

Absent rules (4xx) allow everything; rules that cannot be fetched (5xx, no connection, a
refusal of our own) forbid everything (2.3.1.3, 2.3.1.4).

Of a file only the rules for us are kept, in a few bytes each, and matching them takes
time linear in their length: a hostile file is half a megabyte of wildcards.
"""

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote, urlsplit

from crawler import refusals
from crawler.refusals import UnexpectedStatus
from registry.errors import ProblemType, Refused

PATH = "/robots.txt"
MAX_BYTES = 500 * 1024

# Misspelt and without the colon, as others read it too: the wish is clear.
_LINE = re.compile(
    r"(?P<field>user[-\s]*+agent|dis{1,2}al{1,2}[ao]w|diasllow|allow)"
    r"(?:\s*+:|\s)\s*+(?P<value>.*+)",
    re.IGNORECASE | re.DOTALL,
)
_LINE_END = re.compile(r"\r\n?|\n")
_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]++(?![0-9])")
_EVERYBODY = re.compile(r"\*(?!\S)")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
_UNESCAPED = "/%:@!$&'()*+,;=~?"
_ALLOW, _DISALLOW = "+", "-"


@dataclass(frozen=True, slots=True)
class Robots:
    """rules: for us, the one that counts most first; None where all is forbidden.

    why, detail: it is, for want of an answer; where the host can't be talked to at all, that, and
    not robots.txt, is the reason. agent: whose group the rules are, "" without one.
    """

    rules: tuple[str, ...] | None
    why: ProblemType = refusals.ROBOTS_UNREACHABLE
    detail: str = field(default="", compare=False)
    agent: str = field(default="", compare=False)

    @property
    def permits(self) -> Literal["everything", "some", "nothing"]:
        """Return whether it permits all or nothing, as far as that is plain without a URL."""
        if self.rules is None or self.rules == (_DISALLOW + "/",):
            return "nothing"
        return (
            "some" if any(rule[0] == _DISALLOW for rule in self.rules) else "everything"
        )

    @property
    def size(self) -> int:
        """Characters of rules."""
        return sum(map(len, self.rules or ()))

    def verify(self, url: str) -> None:
        """Raises: Refused `robots_disallowed`, or why robots.txt could not be fetched."""
        if self.rules is None:
            raise Refused(self.why, self.detail)
        parts = urlsplit(url)
        path = parts.path or "/"
        if path == PATH or not self.rules:
            return
        path = _normalised(f"{path}?{parts.query}" if parts.query else path)
        path = path.replace("*", "%2A").replace("$", "%24")
        for rule in self.rules:
            if _matches(rule[1:], path):
                if rule[0] == _DISALLOW:
                    raise Refused(refusals.ROBOTS_DISALLOWED, f"it forbids {url}")
                return


def parse_robots(body: bytes, product_token: str) -> Robots:
    """body: any bytes; what follows the first 500 KiB is not read (2.5)."""
    if len(body) > MAX_BYTES:
        last_end = max(body.rfind(end, 0, MAX_BYTES) for end in (b"\n", b"\r"))
        body = body[: last_end + 1]
    rules_of: dict[str, set[str]] = {}
    us = product_token.lower()
    for agents, rules in _groups(body.decode("utf-8-sig", "replace")):
        for agent in agents & {us, "*"}:
            rules_of.setdefault(agent, set()).update(rules)
    agent = next((name for name in (us, "*") if name in rules_of), "")
    # The longest counts (2.2.2); of equal ones the allowing, for "+" sorts before "-".
    rules = sorted(rules_of.get(agent, ()), key=lambda rule: (-len(rule), rule))
    return Robots(tuple(rules), agent=agent)


def decide_robots(outcome: bytes | Refused, product_token: str) -> Robots:
    """Return the rules that follow from the attempt to fetch robots.txt."""
    if isinstance(outcome, bytes):
        return parse_robots(outcome, product_token)
    # RFC 9309 counts 429 among the absent too; but it asks us to leave, and we would go on.
    if isinstance(outcome, UnexpectedStatus) and (
        400 <= outcome.status < 500 and outcome.status != 429
    ):
        return Robots(())
    problem = outcome.problem
    if problem.code in refusals.LATER.keys() | refusals.UNREACHABLE:
        return Robots(None, problem.kind, problem.detail)
    return Robots(None, detail=f"robots.txt: {problem.detail}")


def _groups(text: str) -> Iterator[tuple[set[str], list[str]]]:
    """Yield agents and the rules that follow; other lines separate nothing (2.2.4)."""
    agents: set[str] = set()
    rules: list[str] = []
    in_rules = False
    for line in _LINE_END.split(text):
        matched = _LINE.fullmatch(line.partition("#")[0].strip())
        if not matched:
            continue
        field, value = matched["field"].lower(), matched["value"].strip()
        if field.startswith("user"):
            if in_rules:
                yield agents, rules
                agents, rules, in_rules = set(), [], False
            agents.add(_agent(value))
            continue
        in_rules = True
        if value and agents:
            rules.append((_ALLOW if field == "allow" else _DISALLOW) + _pattern(value))
    yield agents, rules


def _agent(value: str) -> str:
    """The product token in lower case, without "/version" and the like (2.2.1)."""
    if _EVERYBODY.match(value):
        return "*"
    token = _PRODUCT_TOKEN.match(value)
    return token.group().lower() if token else ""


def _pattern(value: str) -> str:
    """A "$" stands for itself but at the end."""
    ends = "$" if value.endswith("$") else ""
    return _normalised(value.removesuffix("$")).replace("$", "%24") + ends


def _normalised(path: str) -> str:
    """Return the path in normal form, by the octets (2.2.2)."""
    return _ESCAPE.sub(_spell_escape, quote(path, safe=_UNESCAPED))


def _spell_escape(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape.group().upper()


def _matches(pattern: str, path: str) -> bool:
    """`*` stands for any characters, `$` for the end (2.2.3)."""
    pattern, anchored = pattern.removesuffix("$"), pattern.endswith("$")
    first, *others = pattern.split("*")
    if not path.startswith(first):
        return False
    if not others:
        return not anchored or path == first
    at = len(first)
    *between, last = others
    for part in between:
        at = path.find(part, at)
        if at < 0:
            return False
        at += len(part)
    if anchored:
        return path.endswith(last) and len(path) - len(last) >= at
    return path.find(last, at) >= 0
