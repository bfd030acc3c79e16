"""Inspection of a document for its owner: what its reader makes of it, and where it leads.

Nothing is kept, and the same readers do the work as for a listing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal
from urllib.parse import urlsplit

from registry.errors import Problem
from registry.formats.assemble import assemble
from registry.formats.detect import parse_document, parse_page
from registry.formats.document import Deviation, Document, Format, Parsed, Rejected
from registry.formats.html.links import DiscoveryLink, parse_links
from registry.formats.html.markup import is_page
from registry.formats.html.page_actions import concerns_tool
from registry.sites.entry import ClaimConflict
from registry.sites.site_advice import Advice

UNKNOWN_URL = "https://your-site.example/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Result of a lint.

    url: where the document is taken to lie; what it claims, if nobody said. has_address:
    said or claimed; otherwise it is UNKNOWN_URL.
    links: discovery documents that a page's head points to.
    """

    url: str
    result: Parsed | Rejected
    has_address: bool
    conflicts: tuple[ClaimConflict, ...] = ()
    links: tuple[DiscoveryLink, ...] = ()
    advice: tuple[Advice, ...] = ()

    @property
    def document(self) -> Document | None:
        """Return the document, or None if it was refused."""
        return self.result.document if isinstance(self.result, Parsed) else None

    @property
    def problem(self) -> Problem | None:
        """Return the reason of a refusal."""
        return self.result.problem if isinstance(self.result, Rejected) else None

    @property
    def deviations(self) -> tuple[Deviation, ...]:
        """Return all deviations; of a refused document those noted before the refusal."""
        result = self.result
        return (
            result.document.deviations
            if isinstance(result, Parsed)
            else result.deviations
        )

    @property
    def points_on(self) -> bool:
        """Return whether a page without tools names discovery documents instead."""
        is_bare = not any(map(concerns_tool, self.deviations))
        return self.document is None and is_bare and bool(self.links)

    @property
    def format(self) -> Format | None:
        """Return the format, of a refused document too where it is known."""
        match self.result:
            case Parsed(document):
                return document.format
            case Rejected(format=meant):
                return meant

    @property
    def conformance(self) -> Literal["strict", "tolerated", "refused"]:
        return self.document.conformance if self.document else "refused"


def inspect(
    body: bytes,
    *,
    url: str = "",
    file_name: str = "",
    content_type: str = "",
    allow_loopback: bool = False,
) -> Report:
    """Inspect a document, without advice.

    url: where it lies or will lie; "" if that is not known. file_name: of a file, if
    it has one. At the address of a document a page is none, however good its tools.
    """
    address = url or UNKNOWN_URL
    if is_page(body, content_type) and not _is_of_document(url, file_name):
        where = {"url": address, "content_type": content_type}
        result = parse_page(body, **where, allow_loopback=allow_loopback)
        links = parse_links(body, **where, allow_loopback=allow_loopback)
    else:
        parse = partial(
            parse_document,
            body,
            content_type=content_type,
            allow_loopback=allow_loopback,
        )
        result, address = _read_document(parse, address, is_given=bool(url))
        links = ()
    conflicts: tuple[ClaimConflict, ...] = ()
    if isinstance(result, Parsed):
        conflicts = assemble([result.document], site_url=url).conflicts
    return Report(
        url=address,
        result=result,
        has_address=bool(url) or address != UNKNOWN_URL,
        conflicts=conflicts,
        links=links,
    )


def _is_of_document(url: str, file_name: str) -> bool:
    path = urlsplit(url).path if url else file_name
    return path.endswith(".json") or "/.well-known/" in path


def _read_document(
    parse: Callable[..., Parsed | Rejected], address: str, *, is_given: bool
) -> tuple[Parsed | Rejected, str]:
    """Read again where it claims to lie, if nobody said where it lies."""
    result = parse(url=address)
    if not is_given and isinstance(result, Parsed) and result.document.site.url:
        address = result.document.site.url
        result = parse(url=address)
    return result, address
