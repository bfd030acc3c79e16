"""Links of a page to its discovery documents: in its head, and in Link headers.

Only the head counts: a body may hold visitors' text. Only the first 50,000 characters are
read (ABP, discovery). The relations are those that pages use for documents; `rel="mcp"`
mostly names an endpoint, `service-desc` other kinds of document.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from registry.formats.document import Format
from registry.formats.html.markup import Tag, TagFinder
from registry.formats.html.page_encoding import decode_page
from registry.formats.reading.call_targets import page_base
from registry.formats.reading.reader import DeviationLog

MAX_HEAD_CHARACTERS = 50_000
MAX_LINKS = 20
_MAX_HEAD_BYTES = 4 * MAX_HEAD_CHARACTERS
_WAB = "wab-discovery"
_RELATIONS: dict[str, Format] = {
    "ai-actions": "awas",
    "abp-manifest": "abp",
    "webmcp": "webmcp",
    "webmcp-manifest": "webmcp",
}
_ALL_STARTS = TagFinder(None, ("head", "template"))
# Any other start tag ends the head (HTML standard, section 13.2.6.4.4).
_OF_HEAD = frozenset(
    {"html", "head", "base", "link", "meta", "title", "style", "script"}
    | {"noscript", "template"}
)
# Up to the next comma outside quotes (RFC 8288, section 3 and appendix B).
_LINK_VALUE = re.compile(
    r'[\s,]*+(?:<([^<>]*+)>)?((?>(?:[^",]++|"(?>(?:[^"\\]++|\\.)*)"?)*))'
)
_PARAMETER = re.compile(
    r";\s*+([!#$%&'*+.^_`|~0-9A-Za-z-]++)\s*+"
    r'(?:=\s*+(?:"((?>(?:[^"\\]++|\\.)*))"?|([^\s;"]*+)))?'
)
_QUOTED_PAIR = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class DiscoveryLink:
    """An absolute URL and the format that is promised there."""

    url: str
    format: Format


def parse_links(
    body: bytes, *, url: str, content_type: str = "", allow_loopback: bool = False
) -> tuple[DiscoveryLink, ...]:
    """Return the links in the head of the page at `url`, in order."""
    log = DeviationLog(url=url, allow_loopback=allow_loopback)
    return links_in(decode_page(body, content_type, limit=_MAX_HEAD_BYTES).text, log)


def links_in(html: str, log: DeviationLog) -> tuple[DiscoveryLink, ...]:
    """Return the links in the head, and record those that must not be followed."""
    return _chosen(_head_links(html[:MAX_HEAD_CHARACTERS], log))


def parse_link_header(
    values: Sequence[str], *, url: str, allow_loopback: bool = False
) -> tuple[DiscoveryLink, ...]:
    """Return the links in the Link headers of the response of `url`, in order."""
    log = DeviationLog(url=url, allow_loopback=allow_loopback)
    return _chosen(
        link
        for value in values
        for address, relations in _link_values(value)
        for link in _promised(address, relations, url, log)
    )


def _chosen(links: Iterable[DiscoveryLink]) -> tuple[DiscoveryLink, ...]:
    """Return the distinct links; ABP takes the first manifest link and no other."""
    chosen: dict[DiscoveryLink, None] = {}
    has_abp = False
    for link in links:
        if len(chosen) < MAX_LINKS and not (has_abp and link.format == "abp"):
            chosen[link] = None
            has_abp |= link.format == "abp"
    return tuple(chosen)


def _promised(
    address: str, relations: str, base: str, log: DeviationLog
) -> Iterator[DiscoveryLink]:
    """Yield the links of known relations. relations: in any case, with spaces between."""
    for relation in relations.lower().split():
        if relation in _RELATIONS:
            yield from _linked(address, relation, _RELATIONS[relation], base, log)


def _linked(
    address: str, name: str, promised: Format, base: str, log: DeviationLog
) -> Iterator[DiscoveryLink]:
    """Yield the link, unless it must not be followed. name: of the relation or meta."""
    target = log.resolve(address, base=base)
    if target:
        yield DiscoveryLink(target, promised)
    elif address.strip():
        log.note_dropped_target(f"link[{name}]", address, base)


# --- the head -------------------------------------------------------------------------


def _head_links(head: str, log: DeviationLog) -> Iterator[DiscoveryLink]:
    base, templates = "", 0
    for tag in _tags_of_head(head):
        if tag.name == "template":
            templates += -1 if tag.closes else 1
        if tag.closes or templates > 0:
            continue
        if tag.name == "base":
            base = base or page_base(
                tag.attributes.get("href", ""),
                url=log.url,
                allow_loopback=log.allow_loopback,
            )
        yield from _links_of(tag, base or log.url, log)


def _tags_of_head(head: str) -> Iterator[Tag]:
    for tag in _ALL_STARTS.find(head):
        if tag.closes and tag.name == "head":
            return
        if not tag.closes and tag.name not in _OF_HEAD:
            return
        yield tag


def _links_of(tag: Tag, base: str, log: DeviationLog) -> Iterator[DiscoveryLink]:
    attributes = tag.attributes
    if tag.name == "meta" and attributes.get("name", "").lower() == _WAB:
        yield from _linked(attributes.get("content", ""), _WAB, "wab", base, log)
    elif tag.name == "link":
        relations = attributes.get("rel", "")
        yield from _promised(attributes.get("href", ""), relations, base, log)


# --- Link headers ---------------------------------------------------------------------


def _link_values(header: str) -> Iterator[tuple[str, str]]:
    """Yield address and relations of each link whose context is the response itself."""
    for address, parameters in _LINK_VALUE.findall(header):
        named: dict[str, str] = {}
        for name, quoted, bare in _PARAMETER.findall(parameters):
            value = _QUOTED_PAIR.sub(r"\1", quoted) or bare
            named.setdefault(name.lower(), value)
        if address and "anchor" not in named:
            yield address, named.get("rel", "")
