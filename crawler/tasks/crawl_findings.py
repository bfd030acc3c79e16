"""Findings of a visit, as its owner is notified of them. Pure.

Our own restraint is nothing that is wrong with a site, and what an outage hid is neither
mended nor worse: both leave standing what stood.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from crawler import refusals
from crawler.discovery.visit_result import Discovery, Failure
from registry.errors import Problem
from registry.formats.refusals import PAGE_WITHOUT_TOOLS
from registry.identity.refusals import DOCUMENT_SIGNATURE_EXPIRED
from registry.usecases.refusals import DOCUMENT_MISSING
from registry.usecases.sites.notices import (
    Condition,
    ConditionChanges,
    Conditions,
    Topic,
    compare,
    topic_of,
)
from registry.usecases.sites.parse_site import NoDocument, ParsedSite, url_of

_SEVERAL_CAUSES = frozenset((refusals.STATUS.code, refusals.TLS.code))
"""Codes that the detail divides: 403 is mended in another way than 500."""

ReadOutcome: TypeAlias = ParsedSite | NoDocument | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubles:
    """looked_at: of these topics it is known that nothing else is wrong."""

    conditions: tuple[Condition, ...]
    looked_at: Collection[Topic]


def troubles_of(
    discovery: Discovery,
    reading: ReadOutcome,
    *,
    stored: Collection[str],
    is_outage: bool,
) -> Troubles:
    """found: what became of the documents. stored: the URLs of those that are listed."""
    blocked = _of_robots(discovery)
    if is_outage:
        down = _of_outage(discovery)
        looked_at: tuple[Topic, ...] = ("unreachable",)
        if _is_restrained(discovery):
            looked_at = ()
        elif not down:
            looked_at = ("unreachable", "robots")
        return Troubles(conditions=(*blocked, *down), looked_at=looked_at)
    conditions = (
        *blocked,
        *_of_fetching(discovery, stored),
        *_of_documents(discovery, reading, stored),
    )
    whole: tuple[Topic, ...] = (
        *("robots", "unreachable", "missing", "expired", "refused", "unread"),
    )
    return Troubles(
        conditions=conditions, looked_at=() if _is_restrained(discovery) else whole
    )


def compare_crawl(
    before: Conditions, troubles: Troubles, now: datetime
) -> ConditionChanges:
    unseen = [key for key in before if topic_of(key) not in troubles.looked_at]
    return compare(before, troubles.conditions, now, unseen=unseen)


def _is_restrained(discovery: Discovery) -> bool:
    return any(failure.problem.code in refusals.LATER for failure in discovery.failures)


def _of_robots(discovery: Discovery) -> tuple[Condition, ...]:
    """Return one condition, however many addresses it keeps us from."""
    for failure in discovery.failures:
        if failure.problem.code == refusals.ROBOTS_DISALLOWED.code:
            detail = f"{failure.url} is forbidden."
            return (_condition("robots", failure.problem, detail, about=failure.url),)
    return ()


def _of_outage(discovery: Discovery) -> tuple[Condition, ...]:
    """Return one condition: how a server fails changes from visit to visit."""
    failures = sorted(_of_the_site(discovery), key=lambda item: not item.is_expected)
    for failure in failures[:1]:
        detail = f"{failure.url}: {failure.problem.detail}"
        return (_condition("unreachable", failure.problem, detail, about=failure.url),)
    return ()


def _of_fetching(discovery: Discovery, stored: Collection[str]) -> Iterator[Condition]:
    """Return conditions of addresses that somebody points to; at others nothing need be."""
    for failure in _of_the_site(discovery):
        is_expected = failure.is_expected or failure.url in stored
        if is_expected and failure.url not in discovery.absent:
            yield _condition(
                "unread", failure.problem, failure.problem.detail, failure.url
            )


def _of_documents(
    discovery: Discovery, reading: ReadOutcome, stored: Collection[str]
) -> Iterator[Condition]:
    if isinstance(reading, NoDocument):
        if not reading.has_expired:  # which says it already
            yield _of_absence(reading.problem, set(stored) & set(discovery.absent))
        for url, problem in reading.unsound.items():
            yield _of_document(problem, problem.detail, url)
        left_out = reading.left_out
    else:
        left_out = reading.problems if reading else ()
    known = set(discovery.problems)
    for problem in left_out:
        url = url_of(problem)
        if problem in known or problem.code == PAGE_WITHOUT_TOOLS.code:
            continue
        yield _of_document(problem, problem.detail.removeprefix(f"{url}: "), url)


def _of_absence(problem: Problem, vanished: Collection[str]) -> Condition:
    """Return that none counts; what stood there before is named first."""
    detail = "".join(f"{url} is no longer there; " for url in sorted(vanished))
    about = min(vanished, default="")
    return _condition("missing", problem, detail + problem.detail, about=about)


def _of_document(problem: Problem, detail: str, url: str) -> Condition:
    is_over = problem.code == DOCUMENT_SIGNATURE_EXPIRED.code
    return _condition("expired" if is_over else "refused", problem, detail, url)


def _of_the_site(discovery: Discovery) -> Iterator[Failure]:
    ours = {refusals.ROBOTS_DISALLOWED.code, *refusals.LATER}
    return (
        failure for failure in discovery.failures if failure.problem.code not in ours
    )


def _condition(
    topic: Topic, problem: Problem, detail: str, url: str = "", *, about: str = ""
) -> Condition:
    return Condition(
        topic=topic,
        detail=detail,
        fix=problem.fix or DOCUMENT_MISSING.fix,
        problem=problem.code,
        cause=problem.detail if problem.code in _SEVERAL_CAUSES else "",
        url=url,
        about=about,
    )
