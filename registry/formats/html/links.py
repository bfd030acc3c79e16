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
from registry.formats.reading.call_targets import resolve_target

MAX_HEAD_CHARACTERS = 50_000
MAX_LINKS = 20
_MAX_HEAD_BYTES = 4 * MAX_HEAD_CHARACTERS
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
    body: bytes, *, url: str, content_type: str = ""
) -> tuple[DiscoveryLink, ...]:
    """Return the links in the head of the page at `url`, in order."""
    page = decode_page(body, content_type, limit=_MAX_HEAD_BYTES)
    return _chosen(_head_links(page.text[:MAX_HEAD_CHARACTERS], url))


def parse_link_header(values: Sequence[str], *, url: str) -> tuple[DiscoveryLink, ...]:
    """Return the links in the Link headers of the response of `url`, in order."""
    return _chosen(
        link
        for value in values
        for address, relations in _link_values(value)
        for link in _promised(address, relations, url)
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


def _promised(address: str, relations: str, base: str) -> Iterator[DiscoveryLink]:
    """Yield the links of known relations. relations: in any case, with spaces between."""
    target = resolve_target(address, base=base)
    for relation in relations.lower().split() if target else ():
        if target and relation in _RELATIONS:
            yield DiscoveryLink(target, _RELATIONS[relation])


# --- the head -------------------------------------------------------------------------


def _head_links(head: str, url: str) -> Iterator[DiscoveryLink]:
    base, templates = "", 0
    for tag in _tags_of_head(head):
        if tag.name == "template":
            templates += -1 if tag.closes else 1
        if tag.closes or templates > 0:
            continue
        if tag.name == "base":
            base = (
                base or resolve_target(tag.attributes.get("href", ""), base=url) or ""
            )
        yield from _links_of(tag, base or url)


def _tags_of_head(head: str) -> Iterator[Tag]:
    for tag in _ALL_STARTS.find(head):
        if tag.closes and tag.name == "head":
            return
        if not tag.closes and tag.name not in _OF_HEAD:
            return
        yield tag


def _links_of(tag: Tag, base: str) -> Iterator[DiscoveryLink]:
    attributes = tag.attributes
    if tag.name == "meta" and attributes.get("name", "").lower() == "wab-discovery":
        target = resolve_target(attributes.get("content", ""), base=base)
        if target:
            yield DiscoveryLink(target, "wab")
    elif tag.name == "link":
        yield from _promised(
            attributes.get("href", ""), attributes.get("rel", ""), base
        )


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
