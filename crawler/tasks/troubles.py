"""What a visit found wrong with a site, as its owner is told. Pure.

Our own restraint is nothing that is wrong with a site, and what an outage hid is neither
mended nor worse: both leave standing what stood.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from crawler import refusals
from crawler.discovery.found import Discovery, Failure
from registry.errors import Problem
from registry.formats.refusals import PAGE_WITHOUT_TOOLS
from registry.identity.refusals import DOCUMENT_SIGNATURE_EXPIRED
from registry.usecases.notices import (
    Comparison,
    Condition,
    Conditions,
    Topic,
    compare,
    topic_of,
)
from registry.usecases.refusals import DOCUMENT_MISSING
from registry.usecases.understand import NoDocument, Understood, url_of

Found: TypeAlias = Understood | NoDocument | None

_POINTED_TO = frozenset({"declared", "linked", "referenced", "known"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubles:
    """looked_at: of these topics it is known that nothing else is wrong."""

    conditions: tuple[Condition, ...]
    looked_at: Collection[Topic]


def troubles_of(
    discovery: Discovery, found: Found, *, stored: Collection[str], is_outage: bool
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
        *_of_documents(discovery, found),
    )
    whole: tuple[Topic, ...] = (
        *("robots", "unreachable", "missing", "expired", "refused", "unread"),
    )
    return Troubles(
        conditions=conditions, looked_at=() if _is_restrained(discovery) else whole
    )


def compare_crawl(before: Conditions, troubles: Troubles, now: datetime) -> Comparison:
    unseen = [key for key in before if topic_of(key) not in troubles.looked_at]
    return compare(before, troubles.conditions, now, unseen=unseen)


def _is_restrained(discovery: Discovery) -> bool:
    return any(one.problem.code in refusals.LATER for one in discovery.failures)


def _of_robots(discovery: Discovery) -> tuple[Condition, ...]:
    """One, however many places it keeps us from."""
    for failure in discovery.failures:
        if failure.problem.code == refusals.ROBOTS_DISALLOWED.code:
            detail = f"{failure.url} is forbidden."
            return (_condition("robots", failure.problem, detail),)
    return ()


def _of_outage(discovery: Discovery) -> tuple[Condition, ...]:
    """One, whatever came first: how a server fails changes from visit to visit."""
    for failure in _of_the_site(discovery):
        detail = f"{failure.url}: {failure.problem.detail}"
        return (_condition("unreachable", failure.problem, detail),)
    return ()


def _of_fetching(discovery: Discovery, stored: Collection[str]) -> Iterator[Condition]:
    """Of places that somebody points to; at the others nothing need be."""
    for failure in _of_the_site(discovery):
        is_expected = failure.found_by in _POINTED_TO or failure.url in stored
        if is_expected and failure.url not in discovery.absent:
            yield _condition(
                "unread", failure.problem, failure.problem.detail, failure.url
            )


def _of_documents(discovery: Discovery, found: Found) -> Iterator[Condition]:
    if isinstance(found, NoDocument):
        if not found.has_expired:  # which says it already
            yield _condition("missing", found.problem, found.problem.detail)
        for url, problem in found.unsound.items():
            yield _of_document(problem, problem.detail, url)
        left_out = found.left_out
    else:
        left_out = found.problems if found else ()
    told = set(discovery.problems)
    for problem in left_out:
        url = url_of(problem)
        if problem in told or problem.code == PAGE_WITHOUT_TOOLS.code:
            continue
        yield _of_document(problem, problem.detail.removeprefix(f"{url}: "), url)


def _of_document(problem: Problem, detail: str, url: str) -> Condition:
    is_over = problem.code == DOCUMENT_SIGNATURE_EXPIRED.code
    return _condition("expired" if is_over else "refused", problem, detail, url)


def _of_the_site(discovery: Discovery) -> Iterator[Failure]:
    ours = {refusals.ROBOTS_DISALLOWED.code, *refusals.LATER}
    return (one for one in discovery.failures if one.problem.code not in ours)


def _condition(topic: Topic, problem: Problem, detail: str, url: str = "") -> Condition:
    fix = problem.fix or DOCUMENT_MISSING.fix
    return Condition(topic=topic, detail=detail, fix=fix, problem=problem.code, url=url)
