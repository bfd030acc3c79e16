"""Which of what a visit met is the owner's trouble."""

from datetime import UTC, datetime

import pytest

from crawler import refusals
from crawler.discovery.visit_result import DiscoveredBy, Discovery, Failure
from crawler.tasks.crawl_findings import compare_crawl, troubles_of
from registry.errors import Problem, ProblemType, Refused
from registry.identity.refusals import DOCUMENT_SIGNATURE_EXPIRED
from registry.usecases.sites.parse_site import NoDocument

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
URL = "https://shop.example/agent-bridge.json"
OTHER = "https://shop.example/.well-known/mcp.json"


def problem(kind: ProblemType) -> Problem:
    return Refused(kind).problem


def failure(
    kind: ProblemType, url: str, found_by: DiscoveredBy = "well_known"
) -> Failure:
    return Failure(url=url, found_by=found_by, problem=problem(kind))


def discovery(*failures: Failure, absent: tuple[str, ...] = ()) -> Discovery:
    return Discovery(
        documents=(), unchanged=(), absent=absent, failures=failures, notes=()
    )


def notices_of(
    result: Discovery, nothing: NoDocument | None = None, *, is_outage: bool = False
) -> list[tuple[str, str | None]]:
    troubles = troubles_of(result, nothing, stored=[URL], is_outage=is_outage)
    compared = compare_crawl({}, troubles, NOON)
    return [(notice.code, notice.url) for notice in compared.notices]


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        pytest.param(
            [failure(refusals.STATUS, URL)], [("document_unread", URL)], id="stored"
        ),
        pytest.param(
            [failure(refusals.STATUS, OTHER, "declared")],
            [("document_unread", OTHER)],
            id="declared",
        ),
        pytest.param(
            [failure(refusals.STATUS, OTHER)], [], id="a place where nothing need be"
        ),
        pytest.param([failure(refusals.BREAKER_OPEN, URL)], [], id="our own restraint"),
        pytest.param(
            [failure(refusals.ROBOTS_DISALLOWED, f"{OTHER}?{n}") for n in range(15)],
            [("robots_blocking", f"{OTHER}?0")],
            id="robots.txt, in fifteen places",
        ),
    ],
)
def test_what_failed_beside_what_was_read(
    failures: list[Failure], expected: list[tuple[str, str | None]]
) -> None:
    assert notices_of(discovery(*failures)) == expected


def test_outage_is_one_notice_whatever_failed() -> None:
    result = discovery(
        failure(refusals.TIMEOUT, URL), failure(refusals.CONNECT, OTHER, "declared")
    )
    assert notices_of(result, is_outage=True) == [("site_unreachable", OTHER)]


def test_place_that_is_surely_empty_is_not_one_that_could_not_be_read() -> None:
    result = discovery(failure(refusals.NOT_FOUND, URL, "declared"), absent=(URL,))
    nothing = NoDocument({}, [problem(refusals.NOT_FOUND)])
    assert notices_of(result, nothing)[0] == ("documents_missing", URL)
    assert ("document_unread", URL) not in notices_of(result, nothing)


def test_expired_document_is_reported_as_that_alone() -> None:
    nothing = NoDocument({URL: problem(DOCUMENT_SIGNATURE_EXPIRED)}, [])
    assert notices_of(discovery(), nothing) == [("document_expired", URL)]


@pytest.mark.parametrize(
    ("failures", "is_outage"),
    [
        ([failure(refusals.TIMEOUT, URL)], True),
        ([failure(refusals.BREAKER_OPEN, URL)], True),
        ([failure(refusals.NETWORK_BUSY, OTHER)], False),
    ],
    ids=["outage", "open circuit", "busy network"],
)
def test_what_was_hidden_is_not_over(
    failures: list[Failure], *, is_outage: bool
) -> None:
    nothing = NoDocument({URL: problem(DOCUMENT_SIGNATURE_EXPIRED)}, [])
    before = compare_crawl(
        {}, troubles_of(discovery(), nothing, stored=[URL], is_outage=False), NOON
    ).standing
    later = troubles_of(discovery(*failures), None, stored=[URL], is_outage=is_outage)
    compared = compare_crawl(before, later, NOON)
    assert before.items() <= compared.standing.items()
    assert "document_stands" not in [notice.code for notice in compared.notices]
