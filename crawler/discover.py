"""Finding the discovery documents of a host.

What the registration names is fetched and nothing else. Without such, the places that
the formats know are asked, then the WAB record in the DNS, then the host's own page and
what its head points to. A path does not identify a format: whatever is found is handed
on as bytes, for `registry.formats` to sniff.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from crawler import refusals
from crawler.body import BodyLimits
from crawler.fetch import (
    HTML_TYPES,
    JSON_TYPES,
    Fetched,
    Fetcher,
    NotModified,
    Validators,
    media_type_of,
)
from crawler.refusals import UnexpectedStatus, UnexpectedType
from crawler.robots_cache import RobotsCache
from registry.errors import Problem, Refused
from registry.formats.links import parse_links
from registry.identity.dns_record import WabRecord, parse_wab_records
from registry.identity.key_source import txt_record_url, wab_record_name
from registry.sites.host import Host

FoundBy = Literal["declared", "well_known", "dns", "page", "linked", "known"]
"""known: nowhere pointed to any more, but stored from an earlier visit."""

WELL_KNOWN: tuple[tuple[str, ...], ...] = (
    ("/agent-bridge.json", "/.well-known/wab.json"),
    ("/agent.json",),
    ("/.well-known/agent.json",),
    ("/.well-known/ai-actions.json",),
    ("/.well-known/webmcp", "/.well-known/webmcp.json"),
    ("/.well-known/agent-card.json",),
    ("/.well-known/mcp.json",),
    ("/.well-known/ai-catalog.json",),
)
"""Places to look; of one row, the first that holds something is enough."""

MAX_LINKS = 3
# Files without a suffix are often served as text or bytes.
_DOCUMENT_TYPES = (*JSON_TYPES, "text/json", "text/plain", "application/octet-stream")
_PAGE_LIMITS = BodyLimits(truncate=True)
_TURNED_AWAY = frozenset({429, 503})


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedDocument:
    """url: as it was asked for; final_url: where the redirects ended."""

    url: str
    final_url: str
    found_by: FoundBy
    body: bytes
    content_type: str
    validators: Validators
    fetched_at: datetime
    elapsed_ms: int

    @property
    def is_page(self) -> bool:
        """For `parse_page`, not for `parse_document`."""
        return media_type_of(self.content_type) in HTML_TYPES


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """retry_after: the header as it came, or "". may_pass: it is worth another try."""

    url: str
    found_by: FoundBy
    problem: Problem
    retry_after: str = ""
    may_pass: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What one visit brought.

    documents: in the order of asking; an undeclared page stands among them though it
    may hold no tools. unchanged: URLs that answered 304. absent: URLs at which there
    surely is nothing. failures: why the others, and absent declared ones, were not got;
    what is stored of them still stands.
    """

    documents: tuple[FetchedDocument, ...]
    unchanged: tuple[str, ...]
    absent: tuple[str, ...]
    failures: tuple[Failure, ...]

    @property
    def is_outage(self) -> bool:
        """Nothing was got and something went wrong: time to back off."""
        return bool(self.failures) and not (self.documents or self.unchanged)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitLimits:
    requests: int = 16
    at_once: int = 4
    deadline_s: float = 30.0


async def discover(
    fetcher: Fetcher,
    robots: RobotsCache,
    host: Host,
    *,
    clock: Callable[[], datetime],
    declared: Sequence[str] = (),
    known: Mapping[str, Validators] | None = None,
    limits: VisitLimits | None = None,
) -> Discovery:
    """Never raises Refused. clock: UTC. known: what is stored, by URL."""
    limits = limits or VisitLimits()
    visit = _Visit(
        fetcher=fetcher,
        robots=robots,
        host=host,
        clock=clock,
        known=known or {},
        limits=limits,
    )
    try:
        async with asyncio.timeout(limits.deadline_s):
            await robots.robots_of(host.name)
            await (visit.read_declared(declared) if declared else visit.look_around())
    except TimeoutError:
        detail = f"the visit took more than {limits.deadline_s:g} seconds"
        found_by: FoundBy = "declared" if declared else "well_known"
        visit.note(_page_url(host), found_by, Refused(refusals.DEADLINE, detail))
    return visit.report()


def _page_url(host: Host) -> str:
    return f"https://{host.name}/"


class _Visit:
    def __init__(
        self,
        *,
        fetcher: Fetcher,
        robots: RobotsCache,
        host: Host,
        clock: Callable[[], datetime],
        known: Mapping[str, Validators],
        limits: VisitLimits,
    ) -> None:
        self._fetcher = fetcher
        self._robots = robots
        self._host = host
        self._clock = clock
        self._known = known
        self._requests_left = limits.requests - 1  # robots.txt was one
        self._slots = asyncio.Semaphore(limits.at_once)
        self._turned_away = False
        self._answers: dict[str, FetchedDocument | NotModified | None] = {}
        self._absent: list[str] = []
        self._failures: list[Failure] = []

    async def read_declared(self, urls: Sequence[str]) -> None:
        async with asyncio.TaskGroup() as tasks:
            for url in urls:
                tasks.create_task(self._read_declared(url))

    async def look_around(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for paths in WELL_KNOWN:
                tasks.create_task(self._read_first(paths))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._read_dns())
            tasks.create_task(self._read_page(_page_url(self._host), "page"))
        async with asyncio.TaskGroup() as tasks:
            for url in self._known:
                tasks.create_task(self._read(url, "known", _DOCUMENT_TYPES))

    def note(self, url: str, found_by: FoundBy, refused: Refused) -> None:
        retry_after = getattr(refused, "retry_after", "")
        self._failures.append(
            Failure(
                url=url,
                found_by=found_by,
                problem=refused.problem,
                retry_after=retry_after,
                may_pass=refusals.may_pass(refused),
            )
        )

    def report(self) -> Discovery:
        answers = self._answers.items()
        return Discovery(
            documents=tuple(a for _, a in answers if isinstance(a, FetchedDocument)),
            unchanged=tuple(url for url, a in answers if isinstance(a, NotModified)),
            absent=tuple(self._absent),
            failures=tuple(self._failures),
        )

    async def _read_declared(self, url: str) -> None:
        if url.lower().endswith(".json"):
            await self._read(url, "declared", _DOCUMENT_TYPES)
        else:
            await self._read_page(url, "declared", (*_DOCUMENT_TYPES, *HTML_TYPES))

    async def _read_first(self, paths: Sequence[str]) -> None:
        for path in paths:
            url = f"https://{self._host.name}{path}"
            if await self._read(url, "well_known", _DOCUMENT_TYPES):
                return

    async def _read_dns(self) -> None:
        if self._turned_away:
            return
        name = wab_record_name(self._host)
        try:
            records = parse_wab_records(await self._fetcher.resolver.texts(name))
        except Refused as refused:
            self.note(txt_record_url(name), "dns", refused)
            return
        for record in records[:1]:
            if url := self._endpoint_of(record):
                await self._read(url, "dns", _DOCUMENT_TYPES)

    def _endpoint_of(self, record: WabRecord) -> str | None:
        """None if the record, which stands at the apex, speaks of another host."""
        origin = f"https://{self._host.name}"
        if self._host.name == self._host.registrable_domain:
            return record.endpoint or f"{origin}{record.path}"
        endpoint = record.endpoint or ""
        return endpoint if endpoint.startswith(f"{origin}/") else None

    async def _read_page(
        self, url: str, found_by: FoundBy, accept: Sequence[str] = HTML_TYPES
    ) -> None:
        page = await self._read(url, found_by, accept, _PAGE_LIMITS)
        if not isinstance(page, FetchedDocument) or not page.is_page:
            return
        found = await asyncio.to_thread(parse_links, page.body, url=page.final_url)
        for link in found.links[:MAX_LINKS]:
            await self._read(link.url, "linked", _DOCUMENT_TYPES)

    async def _read(
        self,
        url: str,
        found_by: FoundBy,
        accept: Sequence[str],
        limits: BodyLimits | None = None,
    ) -> FetchedDocument | NotModified | None:
        """None: nothing there, or a failure that is noted."""
        if url in self._answers:
            return self._answers[url]
        self._answers[url] = None
        async with self._slots:
            # Asked only now: while this one waited, the host may have turned us away.
            if self._turned_away and found_by != "declared":
                return None
            try:
                fetched = await self._fetch(url, accept, limits)
                self._answers[url] = self._accept(url, found_by, fetched, accept)
            except Refused as refused:
                self._take(url, found_by, refused)
        return self._answers[url]

    async def _fetch(
        self, url: str, accept: Sequence[str], limits: BodyLimits | None
    ) -> Fetched | NotModified:
        if self._requests_left <= 0:
            raise Refused(refusals.BUDGET)
        self._requests_left -= 1
        await self._robots.permit(self._fetcher.target_of(url))
        return await self._fetcher.fetch(
            url,
            accept=accept,
            conditional=self._known.get(url),
            limits=limits,
            permit=self._robots.permit,
        )

    def _accept(
        self,
        url: str,
        found_by: FoundBy,
        fetched: Fetched | NotModified,
        accept: Sequence[str],
    ) -> FetchedDocument | NotModified:
        if isinstance(fetched, NotModified):
            return fetched
        is_page = media_type_of(fetched.content_type) in HTML_TYPES
        if fetched.truncated and not is_page:
            raise Refused(refusals.BODY_WIRE)
        if not set(HTML_TYPES) & set(accept) and _looks_like_markup(fetched.body):
            raise Refused(refusals.NOT_FOUND, "a web page stands in its place")
        return FetchedDocument(
            url=url,
            final_url=fetched.url,
            found_by=found_by,
            body=fetched.body,
            content_type=fetched.content_type,
            validators=fetched.validators,
            fetched_at=self._clock(),
            elapsed_ms=fetched.elapsed_ms,
        )

    def _take(self, url: str, found_by: FoundBy, refused: Refused) -> None:
        status = refused.status if isinstance(refused, UnexpectedStatus) else 0
        # A host that is down or asks us to leave is not asked ten more times.
        if refused.code in refusals.UNREACHABLE or status in _TURNED_AWAY:
            self._turned_away = self._turned_away or found_by != "linked"
        refused = _soft_404(refused)
        absent = refused.code == refusals.NOT_FOUND.code or status in (404, 410)
        if absent:
            self._absent.append(url)
        if found_by == "declared" or not absent:
            self.note(url, found_by, refused)


def _soft_404(refused: Refused) -> Refused:
    """A page for people where a document was asked for says that there is none."""
    if isinstance(refused, UnexpectedType) and refused.media_type in HTML_TYPES:
        return Refused(refusals.NOT_FOUND, "a web page stands in its place")
    return refused


def _looks_like_markup(body: bytes) -> bool:
    return body.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"
