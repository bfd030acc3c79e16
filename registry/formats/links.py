"""Where a page says its discovery documents are.

Only the head counts: a body may hold what visitors wrote. Nothing beyond the first
50,000 characters is looked at (ABP, discovery).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from registry.formats.document import Format
from registry.formats.markup import Tag, decode_page, tokenize
from registry.formats.targets import resolve_target

MAX_HEAD_CHARACTERS = 50_000
MAX_LINKS = 20
_RELATIONS: dict[str, Format] = {
    "ai-actions": "awas",
    "abp-manifest": "abp",
    "webmcp": "webmcp",
    "webmcp-manifest": "webmcp",
}


@dataclass(frozen=True, slots=True)
class DiscoveryLink:
    """An absolute URL and the format that is promised there."""

    url: str
    format: Format


@dataclass(frozen=True, slots=True)
class PageLinks:
    """links: in the page's order. holds_tools: the page has forms that are tools."""

    links: tuple[DiscoveryLink, ...]
    holds_tools: bool


def parse_links(body: bytes, *, url: str) -> PageLinks:
    page = decode_page(body)
    found: dict[DiscoveryLink, None] = {}
    for link in _head_links(page[:MAX_HEAD_CHARACTERS], url):
        if len(found) < MAX_LINKS and not _is_second_manifest(link, found):
            found[link] = None
    return PageLinks(tuple(found), _holds_tools(page))


def _is_second_manifest(link: DiscoveryLink, found: dict[DiscoveryLink, None]) -> bool:
    """ABP takes the first manifest link and no other."""
    return link.format == "abp" and any(each.format == "abp" for each in found)


def _head_links(head: str, url: str) -> Iterator[DiscoveryLink]:
    base = url
    for token in tokenize(head):
        if not isinstance(token, Tag):
            continue
        if token.name == "body" or (token.closes and token.name == "head"):
            return
        if token.name == "base":
            base = resolve_target(token.attributes.get("href", ""), base=url) or base
        for format_, address in _promises(token):
            target = resolve_target(address, base=base)
            if target:
                yield DiscoveryLink(target, format_)


def _promises(tag: Tag) -> Iterator[tuple[Format, str]]:
    if tag.name == "meta" and tag.attributes.get("name", "").lower() == "wab-discovery":
        yield "wab", tag.attributes.get("content", "")
    if tag.name == "link":
        for relation in tag.attributes.get("rel", "").lower().split():
            if relation in _RELATIONS:
                yield _RELATIONS[relation], tag.attributes.get("href", "")


def _holds_tools(page: str) -> bool:
    return any(
        isinstance(token, Tag)
        and token.name == "form"
        and not token.closes
        and {"toolname", "tooldescription"} <= token.attributes.keys()
        for token in tokenize(page)
    )
