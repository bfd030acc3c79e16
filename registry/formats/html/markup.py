"""Finding of tags in an HTML page, in time linear in its length.

Hostile input can stall tree builders: on 500 kB of nested or attribute-laden tags common
ones took 10 to 110 seconds. Metadata, links, forms and their controls need no tree, so
this follows only the tokenization stage of the HTML standard (section 13.2.5): tags,
attributes, comments, raw text, and what depends on standing in SVG or MathML. One regular
expression for each of the two, which never backtracks, skips all else.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from registry.formats.html.character_references import decode_attribute, decode_text
from registry.formats.html.foreign_content import (
    ELEMENTS,
    HTML_ENDS,
    HTML_STARTS,
    HTML_TYPES,
    ROOTS,
    ForeignContent,
)

_RAW_NAMES = (
    *("script", "style", "textarea", "title", "noscript", "iframe"),
    *("noembed", "noframes", "xmp", "plaintext"),
)
_MARKUP = re.compile(  # in UTF-8, or UTF-16 with its mark
    rb"(?:\xef\xbb\xbf)?\s*+<|\xff\xfe(?>(?:\s\0)*)<\0|\xfe\xff(?>(?:\0\s)*)\0<"
)
_SPACE = r"[\t\n\f\r ]"
_NAME_ENDS = r"(?=[\t\n\f\r />])"
_NAME = r"[A-Za-z][^\t\n\f\r />]*+"
# A quote that is never closed runs to the end of the page, and so does its tag.
_VALUE = r"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >"'][^\t\n\f\r >]*+)?"""
_ATTRIBUTE_NAME = r"[^\t\n\f\r />][^\t\n\f\r />=]*+"
_ATTRIBUTE = re.compile(rf"({_ATTRIBUTE_NAME})(?:{_SPACE}*+={_SPACE}*+({_VALUE}))?")
_QUOTES = "\"'"
_MAX_ATTRIBUTES_CHARACTERS = 100_000
# A slash behind an unquoted value is part of it.
_SELF_CLOSING = re.compile(
    rf"(?>(?:{_SPACE}++|/(?!\Z)"
    rf"|{_ATTRIBUTE_NAME}(?:{_SPACE}*+={_SPACE}*+{_VALUE})?)*)/\Z"
)


def _attributes(guard: str = "") -> str:
    """Return a pattern of attributes. guard: a lookahead for the name of each."""
    attribute = rf"{_ATTRIBUTE_NAME}(?:{_SPACE}*+={_SPACE}*+{_VALUE})?"
    return rf"(?>(?:[\t\n\f\r /]++|{guard}{attribute})*)"


def _any_of(names: Iterable[str]) -> str:
    """Return a pattern of names, which the engine can reject by the first character."""
    return "|".join(
        f"[{name[0]}{name[0].upper()}](?i:{name[1:]})" for name in sorted(names)
    )


# All up to the end tag of the element that the last group names; plaintext has none.
_CONTENT = rf"(?>(?:[^<]++|<(?!/(?!(?i:plaintext))(?i:\%d){_NAME_ENDS}))*)"
# In a script a comment holds scripts, whose end tags do not end it (13.2.5.17 and
# following).
_SCRIPT = rf"[sS](?i:cript){_NAME_ENDS}"
_TO_ARROW = r"[^<>]++|(?<!--)>"
_INNER_SCRIPT = rf"<{_SCRIPT}(?>(?:{_TO_ARROW}|<(?!/{_SCRIPT}))*)(?:</{_SCRIPT})?"
_ESCAPED = rf"<!--(?>(?:{_TO_ARROW}|<(?!/?{_SCRIPT})|{_INNER_SCRIPT})*)>?"
_SCRIPT_CONTENT = rf"(?>(?:[^<]++|<(?!!--|/{_SCRIPT})|{_ESCAPED})*)"
# The rest behind the "<" of a tag, of a comment, and of a bogus comment.
_TAG = rf"/?{_NAME}{_attributes()}(?:>|\Z)"
_COMMENT = (
    r"!--(?:-?>|(?>(?:[^-]++|-(?!-!?>))*)(?:--!?>)?)"
    r"|[!?][^>]*+>?|/(?![A-Za-z])[^>]*+>?"
)
_CDATA = r"!\[CDATA\[(?>(?:[^\]]++|\](?!\]>))*)(?:\]\]>)?"
_RAW = (
    rf"({_SCRIPT})|({_any_of(_RAW_NAMES)}){_NAME_ENDS}",
    rf"(?(1)({_SCRIPT_CONTENT})|(?(2)({_CONTENT % 2})))",
)
_NOT_RAW = ("((?!))|((?!))", "()()")


def _pattern_of(
    starts: str, ends: str, guard: str, *, is_foreign: bool = False
) -> re.Pattern[str]:
    """Return a pattern of all up to the next tag of these, and of that tag.

    starts, ends: patterns of names. guard: as for `_attributes`.
    """
    raw, content = _NOT_RAW if is_foreign else _RAW
    comment = f"{_CDATA}|{_COMMENT}" if is_foreign else _COMMENT
    start = rf"(?!(?:{starts}){_NAME_ENDS}){_NAME}{_attributes(guard)}"
    end = rf"/(?!(?:{ends}){_NAME_ENDS}){_NAME}{_attributes()}"
    return re.compile(
        r"(?>(?:[^<]++|(?>(?:<(?![A-Za-z!?/]))+)"
        rf"|<(?:{start}(?:>|\Z)|{end}(?:>|\Z)|{comment}))*)"
        rf"(?:<(?:{raw}|(/?)({_NAME}))({_attributes()})(>|\Z){content}|\Z)"
    )


_APART = _any_of(("select", "button", "output", "template", *_RAW_NAMES))
_NOT_TEXT = re.compile(
    rf"<(?:({_APART}){_NAME_ENDS}{_attributes()}(?:>|\Z){_CONTENT % 1}"
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
        self._finds_all = starts is None
        self._starts = frozenset(starts or ())
        self._ends = {name: Tag(name, {}, closes=True) for name in ends}
        self._mark = re.compile("|".join(marks) or "(?!)", re.IGNORECASE)
        self._guard = f"(?!(?i:{self._mark.pattern}))" if marks else ""

    # Compiled where a page is read: most processes read none, or none with other content.
    @cached_property
    def _html(self) -> re.Pattern[str]:
        return self._pattern(self._starts.union(_RAW_NAMES, ROOTS), ELEMENTS)

    @cached_property
    def _foreign(self) -> re.Pattern[str]:
        starts, ends = ELEMENTS | HTML_STARTS, ELEMENTS | HTML_ENDS
        return self._pattern(starts, ends, is_foreign=True)

    def _pattern(
        self, starts: Iterable[str], ends: Iterable[str], **how: bool
    ) -> re.Pattern[str]:
        started = _NAME if self._finds_all else _any_of(starts)
        return _pattern_of(started, _any_of({*self._ends, *ends}), self._guard, **how)

    def find(self, page: str) -> Iterator[Tag]:
        """Yield tags in the page's order, without one that the end of the page cuts."""
        foreign, position = ForeignContent(""), 0
        while match := (self._foreign if foreign.inner else self._html).match(
            page, position
        ):
            script, raw, slash, name, text, end, code, content = match.groups()
            if not end:
                return
            position = match.end()
            name = (script or raw or name).lower()
            attributes = read_attributes(text) if text and not slash else {}
            if foreign.inner or name in ELEMENTS:
                if foreign.is_ended_by(name, attributes, closes=bool(slash)):
                    position = match.start(3) - 1  # read again, as HTML
                    continue
                if slash:
                    foreign.leave(name)
                elif not (text and _SELF_CLOSING.match(text)):
                    foreign.open(name, attributes)
                if not (raw or self._is_sought(name, text, closes=bool(slash))):
                    continue
            if slash:
                yield self._ends[name]
                continue
            # Past the constructor, whose keywords cost as much as all the rest.
            yield tuple.__new__(
                Tag, (name, attributes, False, position, code or content or "")
            )

    def _is_sought(self, name: str, attributes: str, *, closes: bool) -> bool:
        """Return whether a tag in or around foreign content was asked for.

        Roots are found unasked: who takes so many tags and no more is done in time.
        """
        if closes:
            return name in self._ends
        is_sought = self._finds_all or name in ROOTS
        return is_sought or bool(self._mark.search(attributes))


def is_page(body: bytes, content_type: str) -> bool:
    """Distinguish a page from a document, by its media type or its first character."""
    return "html" in content_type.lower() or starts_as_markup(body)


def is_html(content_type: str) -> bool:
    """Return whether it is of a page, which is for `parse_page`, not for `parse_document`."""
    return content_type.partition(";")[0].strip().lower() in HTML_TYPES


def starts_as_markup(body: bytes) -> bool:
    """Return whether a tag or comment comes first, behind byte order mark and space."""
    return bool(_MARKUP.match(body))


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
