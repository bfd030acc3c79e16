"""HTML as a stream of tags and texts, in time linear in its length.

Tree builders are at the mercy of their input: on 500 kB of nested or attribute-laden tags
the ones at hand took 10 to 110 seconds. What the registry looks for (metadata, links,
forms and their controls) needs no tree, so this follows only the tokenization stage of
the HTML standard (section 13.2.5): tags, attributes, comments, raw text.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

_SPACE = r"[\t\n\f\r ]"
_TAG_NAME = re.compile(r"</?([A-Za-z][^\t\n\f\r />]*+)")
_ATTRIBUTE = re.compile(
    rf"(?:{_SPACE}|/)*+(?:(?P<end>>)|(?P<name>[^\t\n\f\r />][^\t\n\f\r />=]*+)"
    rf"(?:{_SPACE}*+={_SPACE}*+"
    r"""(?:"(?P<double>[^"]*+)"|'(?P<single>[^']*+)'"""
    r"""|(?P<bare>[^\t\n\f\r >"'][^\t\n\f\r >]*+)))?)"""
)
_RAW = frozenset(
    {"script", "style", "textarea", "title", "noscript", "iframe", "noembed", "xmp"}
)
_RAW_END = {
    name: re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE) for name in _RAW
}


@dataclass(frozen=True, slots=True)
class Tag:
    """A start tag, or with `closes` an end tag. Names are in lower case."""

    name: str
    attributes: dict[str, str]
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """What stands between two tags. raw: inside a script, style or the like."""

    content: str
    raw: bool = False


def decode_page(body: bytes) -> str:
    """UTF-8; what is not becomes U+FFFD, which no tag or attribute name contains."""
    return body.decode("utf-8", "replace").removeprefix("\ufeff")


def tokenize(page: str) -> Iterator[Tag | Text]:
    position = 0
    while position < len(page):
        start = page.find("<", position)
        if start < 0:
            start = len(page)
        if start > position:
            yield Text(_unescape(page[position:start]))
        if start == len(page):
            return
        position = _skip_comment(page, start)
        if position > start:
            continue
        tag, position = _read_tag(page, start)
        if tag is None:
            continue
        yield tag
        if tag.name in _RAW and not tag.closes:
            end = _end_of_raw(page, position, tag.name)
            yield Text(_raw_content(page[position:end], tag.name), raw=True)
            position = end


def _skip_comment(page: str, start: int) -> int:
    """The position behind a comment or declaration, or `start` if there is none."""
    if page.startswith("<!--", start):
        return _behind(page, "-->", start + 2)
    if page.startswith(("<!", "<?"), start):
        return _behind(page, ">", start)
    closes = page.startswith("</", start)
    if closes and not page[start + 2 : start + 3].isalpha():
        return _behind(page, ">", start)
    return start


def _behind(page: str, mark: str, start: int) -> int:
    found = page.find(mark, start)
    return len(page) if found < 0 else found + len(mark)


def _read_tag(page: str, start: int) -> tuple[Tag | None, int]:
    """The tag at `start` and the position behind it; a lone "<" is text."""
    name = _TAG_NAME.match(page, start)
    if name is None:
        return None, start + 1
    attributes: dict[str, str] = {}
    position = name.end()
    while found := _ATTRIBUTE.match(page, position):
        position = found.end()
        if found["end"]:
            closes = page.startswith("</", start)
            return Tag(name[1].lower(), attributes, closes), position
        value = found["double"] or found["single"] or found["bare"] or ""
        attributes.setdefault(found["name"].lower(), _unescape(value))
    return None, len(page)  # the page ends within the tag: it never was one


def _end_of_raw(page: str, position: int, name: str) -> int:
    found = _RAW_END[name].search(page, position)
    return found.start() if found else len(page)


def _raw_content(content: str, name: str) -> str:
    return _unescape(content) if name in ("title", "textarea") else content


def _unescape(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a numeric reference of thousands of digits
        return text
