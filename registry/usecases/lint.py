"""Lint: what the registry would make of a document, for its owner. No I/O.

Nothing is kept, and the same readers do the work as for a listing.
"""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from registry.errors import Problem, RegistryError
from registry.formats.assemble import assemble
from registry.formats.detect import parse_document, parse_page
from registry.formats.document import Document, Format, Parsed, Rejected
from registry.formats.html.links import DiscoveryLink, parse_links
from registry.ranking.advice import Advice, advise
from registry.ranking.encoder import Encoder
from registry.ranking.policy import Policy
from registry.sites.entry import Conflict
from registry.sites.gazetteer import Gazetteer
from registry.sites.host import Host, parse_host
from registry.sites.site import Site

UNTOLD_URL = "https://your-site.example/"
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*+<")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was found.

    url: where the document is taken to lie; what it claims, if nobody said.
    document: None if refused, then `problem` says why; `format` is told even so, where
    it can be. links: discovery documents that
    a page's head points to.
    """

    url: str
    document: Document | None
    format: Format | None = None
    problem: Problem | None = None
    conflicts: tuple[Conflict, ...] = ()
    links: tuple[DiscoveryLink, ...] = ()
    advice: tuple[Advice, ...] = ()

    @property
    def conformance(self) -> Literal["strict", "tolerated", "refused"]:
        return self.document.conformance if self.document else "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Linter:
    """What linting needs, each loaded once a process."""

    gazetteer: Gazetteer
    encoder: Encoder
    policy: Policy

    def lint(self, body: bytes, *, url: str = "", content_type: str = "") -> Report:
        """url: where it lies or will lie; "" if that is not known."""
        is_page = "html" in content_type.lower() or bool(_MARKUP.match(body))
        read = _read_page if is_page else _read_document
        place = url or UNTOLD_URL
        result = read(body, place, content_type)
        if not url and isinstance(result, Parsed) and result.document.site.url:
            place = result.document.site.url
            result = read(body, place, content_type)
        links = parse_links(body, url=place) if is_page else ()
        match result:
            case Rejected(problem, format_):
                return Report(
                    url=place,
                    document=None,
                    format=format_,
                    problem=problem,
                    links=links,
                )
            case Parsed(document):
                return Report(
                    url=place,
                    document=document,
                    format=document.format,
                    conflicts=assemble([document], site_url=url).conflicts,
                    links=links,
                    advice=self._advise(document.site, place),
                )

    def _advise(self, site: Site, url: str) -> tuple[Advice, ...]:
        host = _host_of(url)
        return advise(
            site,
            host=host.name,
            registrable_domain=host.registrable_domain,
            place=self.gazetteer.locate(site.location),
            encoder=self.encoder,
            policy=self.policy,
        )


def _read_document(body: bytes, url: str, content_type: str) -> Parsed | Rejected:
    return parse_document(body, url=url, content_type=content_type)


def _read_page(body: bytes, url: str, _content_type: str) -> Parsed | Rejected:
    return parse_page(body, url=url)


def _host_of(url: str) -> Host:
    """Whose names are cut out of the text; nobody's, where the host is none."""
    try:
        return parse_host(urlsplit(url).hostname or "", test_hosts=True)
    except (RegistryError, ValueError):
        return Host("", "")
