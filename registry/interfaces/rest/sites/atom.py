"""A feed as Atom (RFC 4287). Whatever the texts hold, it is well-formed.

Only text constructs of type text: no reader takes them for markup.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

MEDIA_TYPE = "application/atom+xml; charset=utf-8"
# XML 1.0, 2.2: what no document may hold, not even as a reference.
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """id, link: URIs that hold no text of others."""

    id: str
    title: str
    updated_at: datetime
    text: str
    link: str
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """address: its own, and its id. next_address: of the page after this (RFC 5005)."""

    address: str
    title: str
    author: str
    updated_at: datetime
    entries: tuple[Entry, ...]
    next_address: str | None = None


def spell(feed: Feed) -> bytes:
    return "\n".join(_feed(feed)).encode()


def _feed(feed: Feed) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield '<feed xmlns="http://www.w3.org/2005/Atom">'
    yield _element("id", feed.address)
    yield _element("title", feed.title)
    yield _element("updated", _spell_instant(feed.updated_at))
    yield f"<author>{_element('name', feed.author)}</author>"
    yield f"<link rel='self' href={_attribute(feed.address)}/>"
    if feed.next_address:
        yield f"<link rel='next' href={_attribute(feed.next_address)}/>"
    for entry in feed.entries:
        yield from _entry(entry)
    yield "</feed>"


def _entry(entry: Entry) -> Iterator[str]:
    yield "<entry>"
    yield _element("id", entry.id)
    yield _element("title", entry.title)
    yield _element("updated", _spell_instant(entry.updated_at))
    yield f"<link href={_attribute(entry.link)}/>"
    yield f"<category term={_attribute(entry.category)}/>"
    yield _element("content", entry.text)
    yield "</entry>"


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(_characters(text))}</{name}>"


def _attribute(text: str) -> str:
    return quoteattr(_characters(text))


def _characters(text: str) -> str:
    return _NO_CHARACTER.sub("\ufffd", text)


def _spell_instant(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
