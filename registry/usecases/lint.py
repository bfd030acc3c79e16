"""Lint: what the registry would make of a document, for its owner. No I/O.

Nothing is kept, and the same readers do the work as for a listing.
"""

from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from registry.errors import Problem, RegistryError
from registry.formats.assemble import assemble
from registry.formats.detect import parse_document, parse_page
from registry.formats.document import Document, Format, Parsed, Rejected
from registry.formats.html.links import DiscoveryLink, parse_links
from registry.formats.html.markup import starts_as_markup
from registry.ranking.advice import Advice, advise
from registry.ranking.encoder import Encoder
from registry.ranking.policy import Policy
from registry.sites.entry import Conflict
from registry.sites.gazetteer import Gazetteer
from registry.sites.host import Host, parse_host
from registry.sites.site import Site

UNTOLD_URL = "https://your-site.example/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was found.

    url: where the document is taken to lie; what it claims, if nobody said.
    links: discovery documents that a page's head points to.
    """

    url: str
    result: Parsed | Rejected
    conflicts: tuple[Conflict, ...] = ()
    links: tuple[DiscoveryLink, ...] = ()
    advice: tuple[Advice, ...] = ()

    @property
    def document(self) -> Document | None:
        """None if refused."""
        return self.result.document if isinstance(self.result, Parsed) else None

    @property
    def problem(self) -> Problem | None:
        """Why it is refused."""
        return self.result.problem if isinstance(self.result, Rejected) else None

    @property
    def format(self) -> Format | None:
        """Told of a refused document too, where it can be."""
        match self.result:
            case Parsed(document):
                return document.format
            case Rejected(format=meant):
                return meant

    @property
    def conformance(self) -> Literal["strict", "tolerated", "refused"]:
        return self.document.conformance if self.document else "refused"


def inspect(body: bytes, *, url: str = "", content_type: str = "") -> Report:
    """Without advice. url: where it lies or will lie; "" if that is not known."""
    is_page = "html" in content_type.lower() or starts_as_markup(body)
    place = url or UNTOLD_URL
    if is_page:
        result = parse_page(body, url=place)
        links = parse_links(body, url=place)
    else:
        result, place = _read_document(body, place, content_type, is_told=bool(url))
        links = ()
    conflicts: tuple[Conflict, ...] = ()
    if isinstance(result, Parsed):
        conflicts = assemble([result.document], site_url=url).conflicts
    return Report(url=place, result=result, conflicts=conflicts, links=links)


def _read_document(
    body: bytes, place: str, content_type: str, *, is_told: bool
) -> tuple[Parsed | Rejected, str]:
    """Read again where it claims to lie, if nobody said where it lies."""
    result = parse_document(body, url=place, content_type=content_type)
    if not is_told and isinstance(result, Parsed) and result.document.site.url:
        place = result.document.site.url
        result = parse_document(body, url=place, content_type=content_type)
    return result, place


@dataclass(frozen=True, slots=True, kw_only=True)
class Linter:
    """What advice needs, each loaded once a process."""

    gazetteer: Gazetteer
    encoder: Encoder
    policy: Policy

    def lint(self, body: bytes, *, url: str = "", content_type: str = "") -> Report:
        """As `inspect`, with advice."""
        report = inspect(body, url=url, content_type=content_type)
        if report.document is None:
            return report
        site, host = report.document.site, _host_of(report.url)
        return replace(report, advice=self.advise(site, host))

    def advise(self, site: Site, host: Host) -> tuple[Advice, ...]:
        return advise(
            site,
            host=host.name,
            registrable_domain=host.registrable_domain,
            place=self.gazetteer.locate(site.location),
            encoder=self.encoder,
            policy=self.policy,
        )


def _host_of(url: str) -> Host:
    """Whose names are cut out of the text; nobody's, where the host is none."""
    try:
        return parse_host(urlsplit(url).hostname or "", test_hosts=True)
    except (RegistryError, ValueError):
        return Host("", "")
