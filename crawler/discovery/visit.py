"""Visit to a host: each address is asked once, within bounds.

Where to look, and when it is enough, is `search`'s business.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias
from urllib.parse import urlsplit

from crawler import refusals, trace
from crawler.discovery.visit_result import DiscoveredBy, Failure, FetchedDocument
from crawler.http.body import PAGE_LIMITS
from crawler.http.exchange import Fetched, NotModified, Wanted
from crawler.http.fetch import Fetcher
from crawler.http.head import DOCUMENT_TYPES, Validators
from crawler.refusals import UnexpectedStatus, UnexpectedType
from crawler.robots.robots_cache import RobotsCache
from crawler.stopwatch import Stopwatch
from registry.errors import Refused
from registry.formats.document import MAX_WIRE_BYTES
from registry.formats.html.foreign_content import HTML_TYPES
from registry.formats.html.markup import is_html, starts_as_markup
from registry.sites.host import Host
from registry.usecases.ids import Clock

DOCUMENT = Wanted(accept=DOCUMENT_TYPES)
PAGE = Wanted(accept=HTML_TYPES, limits=PAGE_LIMITS)
PAGE_OR_DOCUMENT = replace(PAGE, accept=(*DOCUMENT_TYPES, *HTML_TYPES))
_TURNED_AWAY = frozenset({429, 503})


DocumentResponse: TypeAlias = FetchedDocument | NotModified | None
"""Response to a document's request. None: nothing is there, or a failure that is noted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitLimits:
    """Bounds of a visit.

    requests: robots.txt among them. elsewhere: requests for documents on other hosts,
    which never asked for it. max_bytes: that arrive, of all connections.
    A host without any document is asked 15 times: robots.txt, the well-known addresses,
    the page and both manifests; what these point to, the endpoint in the DNS and what
    is stored take the rest.
    """

    requests: int = 24
    elsewhere: int = 2
    max_bytes: int = 8 * 1024 * 1024
    at_once: int = 4
    deadline_s: float = 30.0


class Visit:
    """known: what is stored, by URL. clock: UTC."""

    def __init__(
        self,
        fetcher: Fetcher,
        robots: RobotsCache,
        host: Host,
        *,
        known: Mapping[str, Validators],
        clock: Clock,
        limits: VisitLimits,
    ) -> None:
        self.known = known
        self.turned_away = False
        self.failures: list[Failure] = []
        self._fetcher = fetcher
        self._robots = robots
        self._host = host
        self._clock = clock
        self._requests_left = limits.requests - 1  # robots.txt was one
        self._elsewhere_left = limits.elsewhere
        # More at a time than the host may be asked would only wait there, impatiently.
        allowed = fetcher.config.politeness.config.limits["host"].at_once
        self._slots = asyncio.Semaphore(min(limits.at_once, allowed))
        self._answers: dict[str, asyncio.Future[DocumentResponse]] = {}
        self._absent: dict[str, None] = {}

    async def request(
        self, url: str, found_by: DiscoveredBy, wanted: Wanted = DOCUMENT
    ) -> DocumentResponse:
        """Fetch the URL, once for all who ask for it. Never raises Refused."""
        if url in self._answers:
            return await self._answers[url]
        shared: asyncio.Future[DocumentResponse] = (
            asyncio.get_running_loop().create_future()
        )
        self._answers[url] = shared
        try:
            answer = await self._request(url, found_by, wanted)
            shared.set_result(answer)
        finally:
            shared.cancel()  # for who waits; without effect where there is a result
        return answer

    def fail(self, url: str, found_by: DiscoveredBy, refused: Refused) -> None:
        retry_after = getattr(refused, "retry_after", "")
        self.failures.append(
            Failure(
                url=url,
                found_by=found_by,
                problem=refused.problem,
                retry_after=retry_after,
                may_pass=refusals.may_pass(refused),
                retry_after_s=refused.retry_after_s,
            )
        )

    @property
    def answers(self) -> Mapping[str, FetchedDocument | NotModified]:
        """Return responses by the URL that was asked for, in the order of asking."""
        given = {
            url: shared.result()
            for url, shared in self._answers.items()
            if shared.done() and not shared.cancelled()
        }
        return {url: answer for url, answer in given.items() if answer is not None}

    @property
    def absent(self) -> tuple[str, ...]:
        """Return URLs at which there surely is nothing."""
        return tuple(self._absent)

    def is_absent(self, url: str) -> bool:
        return url in self._absent

    async def _request(
        self, url: str, found_by: DiscoveredBy, wanted: Wanted
    ) -> DocumentResponse:
        async with self._slots:
            # Asked only now: while this one waited, the host may have turned us away.
            if self.turned_away and found_by != "declared":
                trace.emit(trace.PassedOver, url=url)
                return None
            known = self.known.get(url, Validators())
            trace.emit(
                trace.RequestSent,
                url=url,
                found_by=found_by,
                conditional=known != Validators(),
            )
            watch = Stopwatch()
            try:
                request = replace(wanted, conditional=known)
                fetched = await self._fetch(url, request, watch)
                return self._accept(url, found_by, fetched, wanted.accept)
            except Refused as refused:
                self._take(url, found_by, refused, watch.elapsed_ms)
                return None

    async def _fetch(
        self, url: str, wanted: Wanted, watch: Stopwatch
    ) -> Fetched | NotModified:
        target = self._fetcher.target_of(url)
        self._count(target.host)
        await self._robots.permit(target)
        return await self._fetcher.fetch(
            url, wanted, permit=self._robots.permit, watch=watch
        )

    def _count(self, host: Host) -> None:
        """Raises: Refused `budget`."""
        if self._requests_left <= 0:
            raise Refused(refusals.BUDGET)
        if host != self._host:
            if self._elsewhere_left <= 0:
                detail = "too many documents are on other hosts"
                fix = "Serve them on the site's own host."
                raise Refused(refusals.BUDGET, detail, fix=fix)
            self._elsewhere_left -= 1
        self._requests_left -= 1

    def _accept(
        self,
        url: str,
        found_by: DiscoveredBy,
        fetched: Fetched | NotModified,
        accept: Sequence[str],
    ) -> FetchedDocument | NotModified:
        if isinstance(fetched, NotModified):
            _emit_answer(url, fetched, status=304)
            return fetched
        if fetched.wire_bytes > MAX_WIRE_BYTES and not is_html(fetched.content_type):
            raise Refused(refusals.BODY_WIRE)
        if not set(HTML_TYPES) & set(accept) and starts_as_markup(fetched.body):
            raise Refused(refusals.NOT_FOUND, "a web page stands in its place")
        _emit_answer(url, fetched, fetched.content_type, len(fetched.body))
        return FetchedDocument(
            url=url,
            final_url=fetched.url,
            found_by=found_by,
            body=fetched.body,
            content_type=fetched.content_type,
            validators=fetched.validators,
            links=fetched.links,
            fetched_at=self._clock(),
            elapsed_ms=fetched.elapsed_ms,
        )

    def _take(
        self, url: str, found_by: DiscoveredBy, refused: Refused, elapsed_ms: int
    ) -> None:
        status = refused.status if isinstance(refused, UnexpectedStatus) else 0
        # A host that is down or asks us to leave is not asked ten more times.
        gone = refused.code in (refusals.UNREACHABLE | refusals.LATER.keys())
        if gone or status in _TURNED_AWAY:
            is_here = urlsplit(url).hostname == self._host.name
            self.turned_away = self.turned_away or is_here
        refused = _soft_404(refused)
        absent = refused.code == refusals.NOT_FOUND.code or status in (404, 410)
        if absent:
            self._absent[url] = None
            trace.emit(trace.Absent, url=url, soft=status == 0, elapsed_ms=elapsed_ms)
        else:
            facts = {"url": url, "status": status, "elapsed_ms": elapsed_ms}
            trace.emit(trace.NotTaken.of, refused.problem, **facts)
        if found_by == "declared" or not absent:
            self.fail(url, found_by, refused)


def _emit_answer(
    url: str,
    fetched: Fetched | NotModified,
    content_type: str = "",
    body_bytes: int = 0,
    *,
    status: int = 200,
) -> None:
    trace.emit(
        trace.Answered,
        url=url,
        final_url=fetched.url,
        status=status,
        content_type=content_type,
        body_bytes=body_bytes,
        elapsed_ms=fetched.elapsed_ms,
    )


def _soft_404(refused: Refused) -> Refused:
    """A page for people where a document was asked for says that there is none."""
    if isinstance(refused, UnexpectedType) and refused.media_type in HTML_TYPES:
        return Refused(refusals.NOT_FOUND, "a web page stands in its place")
    return refused
