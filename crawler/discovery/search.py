"""Finding the discovery documents of a host.

What the registration names is fetched and nothing else, but for what that points to.
Without such, the addresses that the formats know are asked, then the host's own page and
what its head and its Link headers point to. Whether this brought a WAB or an AWAS
document decides about the rest: the WAB record in the DNS, the manifests of AWAS.

A path does not identify a format: what is found there does, and is handed on as bytes.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from crawler import metrics, refusals, trace
from crawler.discovery.batch_parser import BatchParser
from crawler.discovery.visit import (
    PAGE,
    PAGE_OR_DOCUMENT,
    DocumentResponse,
    Visit,
    VisitLimits,
)
from crawler.discovery.visit_result import DiscoveredBy, Discovery, FetchedDocument
from crawler.http.connection import reusing_connections
from crawler.http.exchange import NotModified, Wanted
from crawler.http.fetch import Fetcher
from crawler.http.head import Validators
from crawler.robots.robots_cache import RobotsCache
from crawler.robots.robots_txt import Robots
from registry.errors import Problem, ProblemType, Refused
from registry.formats.detect import parse_document
from registry.formats.document import Document, Format, Parsed, Rejected
from registry.formats.html.links import DiscoveryLink, parse_link_header, parse_links
from registry.identity.keys.dns_record import Status, choose_record, parse_wab_records
from registry.identity.keys.key_source import txt_record_url, wab_record_name
from registry.identity.refusals import WAB_RECORD_DEPRECATED, WAB_RECORD_PAUSED
from registry.sites.host import Host
from registry.usecases.ids import Clock

_AI_ACTIONS = "/.well-known/ai-actions.json"
WELL_KNOWN: tuple[tuple[Format, tuple[str, ...]], ...] = (
    ("wab", ("/agent-bridge.json", "/.well-known/wab.json")),
    ("awp", ("/agent.json",)),
    ("awp", ("/.well-known/agent.json",)),
    ("awas", (_AI_ACTIONS,)),
    ("webmcp", ("/.well-known/webmcp", "/.well-known/webmcp.json")),
    ("a2a", ("/.well-known/agent-card.json",)),
    ("mcp", ("/.well-known/mcp.json",)),
    ("ard", ("/.well-known/ai-catalog.json", "/.well-known/ard.json")),
)
"""Addresses to look at; of one row, the first that holds the row's format is enough."""

MANIFESTS = ("/.well-known/mcp-manifest.json", "/.well-known/a2a-manifest.json")
"""They point to an AWAS catalogue, where there is none at its own address (AWAS 1.0,
Client Behavior)."""

_LONG_BYTES = 16 * 1024
MAX_LINKS = 4  # a page may point to WAB, AWAS, ABP and WebMCP
_STATUS_NOTES: Mapping[Status, ProblemType] = {
    "paused": WAB_RECORD_PAUSED,
    "deprecated": WAB_RECORD_DEPRECATED,
}


async def discover(
    fetcher: Fetcher,
    robots: RobotsCache,
    host: Host,
    *,
    clock: Clock,
    declared: Sequence[str] = (),
    known: Mapping[str, Validators] | None = None,
    limits: VisitLimits | None = None,
    batch_parser: BatchParser | None = None,
) -> Discovery:
    """Look for a host's documents. Never raises Refused. clock: UTC. known: stored, by URL.

    batch_parser: those of other visits, with which documents are read.
    """
    limits = limits or VisitLimits()
    visit = Visit(fetcher, robots, host, known=known or {}, clock=clock, limits=limits)
    search = _Search(fetcher, host, visit, batch_parser or BatchParser())
    trace.emit(trace.VisitBegun, host=host.name, declared=declared)
    try:
        with reusing_connections(limits.max_bytes):
            async with asyncio.timeout(limits.deadline_s):
                _emit_robots(host.name, await robots.robots_of(host.name))
                await (
                    search.read_declared(declared) if declared else search.look_around()
                )
    except TimeoutError:
        detail = f"the visit took more than {limits.deadline_s:g} seconds"
        found_by: DiscoveredBy = "declared" if declared else "well_known"
        visit.fail(
            f"https://{host.name}/", found_by, Refused(refusals.DEADLINE, detail)
        )
    discovery = search.report()
    metrics.labelled(metrics.VISITS, discovery.outcome).inc()
    trace.emit(
        trace.VisitEnded,
        documents=len(discovery.documents),
        unchanged=len(discovery.unchanged),
        absent=len(discovery.absent),
        failures=len(discovery.failures),
    )
    return discovery


class _Search:
    def __init__(
        self, fetcher: Fetcher, host: Host, visit: Visit, batch_parser: BatchParser
    ) -> None:
        self._batch_parser = batch_parser
        self._fetcher = fetcher
        self._host = host
        self._origin = f"https://{host.name}"
        self._visit = visit
        self._formats: set[Format] = set()
        self._notes: list[Problem] = []
        self._parsed: dict[str, Parsed | Rejected] = {}

    async def read_declared(self, urls: Sequence[str]) -> None:
        await _together(map(self._read_declared, urls))
        await self._read_known()

    async def look_around(self) -> None:
        await _together(self._read_first(*address) for address in WELL_KNOWN)
        await self._read_page(f"{self._origin}/", "page")
        await _together(self._last_resorts())
        await self._read_known()

    def report(self) -> Discovery:
        answers = self._visit.answers.items()
        return Discovery(
            documents=tuple(a for _, a in answers if isinstance(a, FetchedDocument)),
            unchanged=tuple(url for url, a in answers if isinstance(a, NotModified)),
            absent=self._visit.absent,
            failures=tuple(self._visit.failures),
            notes=tuple(self._notes),
            parsed=self._parsed,
        )

    def _last_resorts(self) -> Iterator[Coroutine[Any, Any, object]]:
        if "wab" not in self._formats:
            yield self._read_dns()
        where = self._origin + _AI_ACTIONS
        if "awas" not in self._formats and self._visit.is_absent(where):
            yield self._read_first("awas", MANIFESTS)

    async def _read_declared(self, url: str) -> None:
        if url.lower().endswith(".json"):
            await self._read(url, "declared")
        else:
            await self._read_page(url, "declared", PAGE_OR_DOCUMENT)

    async def _read_first(self, promised: Format, paths: Sequence[str]) -> None:
        for path in paths:
            if await self._read(self._origin + path, "well_known", promised):
                return

    async def _read_known(self) -> None:
        await _together(self._visit.request(url, "known") for url in self._visit.known)

    async def _read(
        self, url: str, found_by: DiscoveredBy, promised: Format | None = None
    ) -> bool:
        return await self._recognise(await self._visit.request(url, found_by), promised)

    async def _recognise(
        self, answer: DocumentResponse, promised: Format | None = None
    ) -> bool:
        """Return whether it is, or leads to, what was promised; stored documents were that."""
        if isinstance(answer, NotModified):
            self._formats |= {promised} if promised else set()
            return True
        document = await self._parse(answer)
        if document is None:
            return False
        if _is_pointer(document):
            return await self._follow(document)
        self._formats.add(document.format)
        return document.format == promised

    # --- pages ---

    async def _read_page(
        self, url: str, found_by: DiscoveredBy, wanted: Wanted = PAGE
    ) -> None:
        page = await self._visit.request(url, found_by, wanted)
        if not isinstance(page, FetchedDocument) or not page.is_page:
            await self._recognise(page)
            return
        links = await _links_of(page, allow_loopback=self._fetcher.allow_loopback)
        for link in links[:MAX_LINKS]:
            trace.emit(trace.Linked, page=url, url=link.url, format=link.format)
            if found_by == "page" and link.format == "wab" in self._formats:
                continue  # a declared page is read at once with what else is declared
            await self._read(link.url, "linked", link.format)

    # --- documents that point to the actions ---

    async def _follow(self, pointer: Document) -> bool:
        """Follow one hop: the catalogue's own references are not followed."""
        if not pointer.references:
            return False
        url = pointer.references[0]
        if not self._is_of_site(url):
            self._note_dangling(pointer, url, "which is on another site")
            return False
        answer = await self._visit.request(url, "referenced")
        if isinstance(answer, NotModified) or _is_catalogue(await self._parse(answer)):
            self._formats.add("awas")
            return True
        if answer is not None or self._visit.is_absent(url):
            self._note_dangling(pointer, url, "where there is no such catalogue")
        return False

    async def _parse(self, answer: DocumentResponse) -> Document | None:
        """A long one off the event loop: it takes a while."""
        if not isinstance(answer, FetchedDocument):
            return None
        read = partial(
            parse_document,
            answer.body,
            url=answer.final_url,
            content_type=answer.content_type,
            site_url=f"{self._origin}/",
            allow_loopback=self._fetcher.allow_loopback,
        )
        if len(answer.body) > _LONG_BYTES:
            parsed = await asyncio.to_thread(read)
        else:
            parsed = await self._batch_parser.document(read)
        self._parsed[answer.url] = parsed
        return _emit_parsed(answer.final_url, parsed)

    def _is_of_site(self, url: str) -> bool:
        try:
            target = self._fetcher.target_of(url)
        except Refused:
            return False
        return target.host.registrable_domain == self._host.registrable_domain

    def _note_dangling(self, pointer: Document, url: str, why: str) -> None:
        detail = f"{pointer.url} points to {url[:80]}, {why}"
        self._note(refusals.REFERENCE_DANGLING, detail)

    # --- the DNS ---

    async def _read_dns(self) -> None:
        if self._visit.turned_away:
            return
        name = wab_record_name(self._host)
        try:
            records = parse_wab_records(await self._fetcher.resolver.texts(name))
        except Refused as refused:
            self._visit.fail(txt_record_url(name), "dns", refused)
            return
        record = choose_record(records, self._host)
        endpoint = record.endpoint_on(self._host) if record else None
        trace.emit(
            trace.RecordRead, name=name, records=len(records), endpoint=endpoint or ""
        )
        if record is None or endpoint is None:
            return
        if record.status in _STATUS_NOTES:
            detail = f"{txt_record_url(name)} says status={record.status}"
            self._note(_STATUS_NOTES[record.status], detail)
        if record.status != "paused":
            await self._read(endpoint, "dns", "wab")

    def _note(self, kind: ProblemType, detail: str) -> None:
        problem = Refused(kind, detail).problem
        self._notes.append(problem)
        trace.emit(trace.Noted.of, problem)


async def _together(several: Iterable[Coroutine[Any, Any, object]]) -> None:
    """A single one without a task: most sites have one document."""
    jobs = list(several)
    if len(jobs) == 1:
        await jobs[0]
        return
    async with asyncio.TaskGroup() as tasks:
        for job in jobs:
            tasks.create_task(job)


def _emit_parsed(url: str, parsed: Parsed | Rejected) -> Document | None:
    if not isinstance(parsed, Parsed):
        trace.emit(trace.Unrecognised.of, parsed.problem, url=url)
        return None
    document = parsed.document
    trace.emit(
        trace.Recognised.of,
        document,
        actions=len(document.site.actions),
        deviations=len(document.deviations),
    )
    return document


def _emit_robots(host: str, robots: Robots) -> None:
    trace.emit(trace.RobotsApply.of, robots, host=host, rules=len(robots.rules or ()))


def _is_pointer(document: Document) -> bool:
    return document.format == "awas" and document.dialect == "pointer"


def _is_catalogue(document: Document | None) -> bool:
    if document is None or _is_pointer(document):
        return False
    return document.format == "awas"


async def _links_of(
    page: FetchedDocument, *, allow_loopback: bool
) -> tuple[DiscoveryLink, ...]:
    """Return links of the head, then of the header for formats that the head left out."""
    url = page.final_url
    head = await asyncio.to_thread(
        parse_links,
        page.body,
        url=url,
        content_type=page.content_type,
        allow_loopback=allow_loopback,
    )
    promised = {link.format for link in head}
    header = parse_link_header(page.links, url=url, allow_loopback=allow_loopback)
    return (*head, *(link for link in header if link.format not in promised))
