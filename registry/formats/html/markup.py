"""Finding of tags in an HTML page, in time linear in its length.

Hostile input can stall tree builders: on 500 kB of nested or attribute-laden tags common
ones took 10 to 110 seconds. Metadata, links, forms and their controls need no tree, so
this follows only the tokenization stage of the HTML standard (section 13.2.5): tags,
attributes, comments, raw text. One regular expression, which never backtracks, skips all
else.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from registry.formats.html.character_references import (
    decode_attribute,
    decode_text,
)

_RAW_NAMES = (
    *("script", "style", "textarea", "title", "noscript", "iframe"),
    *("noembed", "noframes", "xmp"),
)
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*+<")
_SPACE = r"[\t\n\f\r ]"
_NAME_ENDS = r"(?=[\t\n\f\r />])"
_NAME = r"[A-Za-z][^\t\n\f\r />]*+"
# A quote that is never closed runs to the end of the page, and so does its tag.
_VALUE = r"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >"'][^\t\n\f\r >]*+)?"""
_ATTRIBUTE_NAME = r"[^\t\n\f\r />][^\t\n\f\r />=]*+"
_ATTRIBUTE = re.compile(
    rf"({_ATTRIBUTE_NAME})(?:{_SPACE}*+={_SPACE}*+({_VALUE}))?",
)
_QUOTES = "\"'"
_MAX_ATTRIBUTES_CHARACTERS = 100_000


def _attributes(guard: str = "") -> str:
    """Return a pattern of attributes. guard: a lookahead for the name of each."""
    attribute = rf"{_ATTRIBUTE_NAME}(?:{_SPACE}*+={_SPACE}*+{_VALUE})?"
    return rf"(?>(?:[\t\n\f\r /]++|{guard}{attribute})*)"


def _any_of(names: Iterable[str]) -> str:
    """Return a pattern of names, which the engine can reject by the first character."""
    return "|".join(f"[{name[0]}{name[0].upper()}](?i:{name[1:]})" for name in names)


# All up to the end tag of the element that group 1 names.
_CONTENT = rf"(?>(?:[^<]++|<(?!/(?i:\1){_NAME_ENDS}))*)"
# The rest behind the "<" of a tag, of a comment, and of a bogus comment.
_TAG = rf"/?{_NAME}{_attributes()}(?:>|\Z)"
_COMMENT = (
    r"!--(?:-?>|(?>(?:[^-]++|-(?!-!?>))*)(?:--!?>)?)"
    r"|[!?][^>]*+>?|/(?![A-Za-z])[^>]*+>?"
)
_RAW = _any_of(_RAW_NAMES)
_APART = _any_of(("select", "button", "output", "template", *_RAW_NAMES))
_NOT_TEXT = re.compile(
    rf"<(?:({_APART}){_NAME_ENDS}{_attributes()}(?:>|\Z){_CONTENT}"
    rf"|{_TAG}|{_COMMENT})"
)


class Tag(NamedTuple):
    """A start tag, or with `closes` an end tag, its names in lower case.

    end: its end in the page, in characters; -1 for an end tag.
    content: the text of a raw element such as a script or a title.
    """

    name: str
    attributes: dict[str, str]
    closes: bool = False
    end: int = -1
    content: str = ""


class TagFinder:
    """Finds start tags and end tags by name, and raw elements.

    starts: None for every name. marks: prefixes of attributes whose start tags are found
    besides, whatever their name. All are in lower case.
    """

    def __init__(
        self,
        starts: Iterable[str] | None,
        ends: Iterable[str] = (),
        *,
        marks: Iterable[str] = (),
    ) -> None:
        self._ends = {name: Tag(name, {}, closes=True) for name in ends}
        wanted = _NAME if starts is None else _any_of((*starts, *_RAW_NAMES))
        guard = f"(?!(?i:{'|'.join(marks)}))" if marks else ""
        start = rf"(?!(?:{wanted}){_NAME_ENDS}){_NAME}{_attributes(guard)}"
        end = (
            rf"/(?!(?:{_any_of(self._ends) or '$'}){_NAME_ENDS}){_NAME}{_attributes()}"
        )
        self._pattern = re.compile(
            r"(?>(?:[^<]++|(?>(?:<(?![A-Za-z!?/]))+)"
            rf"|<(?:{start}(?:>|\Z)|{end}(?:>|\Z)|{_COMMENT}))*)"
            rf"(?:<(?:({_RAW}){_NAME_ENDS}|(/?)({_NAME}))({_attributes()})(>|\Z)"
            rf"(?(1)({_CONTENT}))|\Z)"
        )

    def find(self, page: str) -> Iterator[Tag]:
        """Yield tags in the page's order, without one that the end of the page cuts."""
        for match in self._pattern.finditer(page):
            raw, slash, name, attributes, end, content = match.groups()
            if not end:
                return
            if slash:
                yield self._ends[name.lower()]
                continue
            # Past the constructor, whose keywords cost as much as all the rest.
            yield tuple.__new__(
                Tag,
                (
                    (raw or name).lower(),
                    read_attributes(attributes) if attributes else {},
                    False,
                    match.end(),
                    content or "",
                ),
            )


def is_page(body: bytes, content_type: str) -> bool:
    """Tell a page from a document, by its media type or its first character."""
    return "html" in content_type.lower() or starts_as_markup(body)


def starts_as_markup(body: bytes) -> bool:
    """Tell if it begins with a tag or comment, behind a byte order mark and space."""
    return bool(_MARKUP.match(body))


def decode_page(body: bytes) -> str:
    """Decode UTF-8; invalid bytes become U+FFFD, which no name of a tag contains."""
    return body.decode("utf-8", "replace").removeprefix("\ufeff")


def read_attributes(text: str) -> dict[str, str]:
    """Return name and value of each attribute; of equal names the first.

    A tag may be as long as its page; its first 100,000 characters are read.
    """
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    pairs = _ATTRIBUTE.findall(text, 0, _MAX_ATTRIBUTES_CHARACTERS)
    pairs.reverse()
    attributes = {
        name.lower(): value[1:-1] if value[:1] in _QUOTES else value
        for name, value in pairs
    }
    if "&" in text:
        for name, value in attributes.items():
            attributes[name] = decode_attribute(value)
    return attributes


def text_of(markup: str) -> str:
    """The text in markup, without that of controls and scripts, in single spaces."""
    if "<" in markup:
        markup = _NOT_TEXT.sub("", markup)
    return " ".join(decode_text(markup).split())
