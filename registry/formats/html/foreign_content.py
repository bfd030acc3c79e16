"""SVG and MathML in a page, whose content is not HTML (HTML standard, section 13.2.6.5).

A form in them is no form, `<![CDATA[` begins text, and titles, styles and scripts hold
tags. Within some of their elements HTML stands again. Of the elements around them nothing
is known here: an end tag of HTML ends them, though by the standard only one whose element
is open does.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Generic, TypeVar

_POINTS = {
    "svg": ("foreignobject", "desc", "title"),
    "math": ("mi", "mo", "mn", "ms", "mtext", "annotation-xml"),
}
"""Elements of each root within which HTML stands again."""
ROOTS = frozenset(_POINTS)
ELEMENTS = ROOTS.union(*_POINTS.values())
HTML_STARTS = frozenset(
    {"b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt"}
    | {"em", "embed", "font", "h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "i"}
    | {"img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s"}
    | {"small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul"}
    | {"var"}
)
"""Start tags that end foreign content."""
HTML_ENDS = (HTML_STARTS - {"font"}) | {
    *("article", "aside", "button", "fieldset", "footer", "header", "html", "label"),
    *("legend", "main", "nav", "section", "select", "td", "template", "th", "tr"),
}
"""End tags that end foreign content."""
Inner = TypeVar("Inner")

_LOOKS = frozenset({"color", "face", "size"})
HTML_TYPES = ("text/html", "application/xhtml+xml")


class Nesting(Generic[Inner]):
    """The open elements that matter. inner: what stands within the last of them."""

    def __init__(self, outermost: Inner) -> None:
        self.inner = outermost
        self._open: list[tuple[str, Inner]] = []  # names, with what is around each
        self._count: Counter[str] = Counter()

    def enter(self, name: str, inner: Inner) -> None:
        self._open.append((name, self.inner))
        self._count[name] += 1
        self.inner = inner

    def leave(self, name: str) -> None:
        """Leave an element and those that are open within it."""
        left = ""
        while self._count[name] and left != name:
            left = self.leave_last()

    def leave_last(self) -> str:
        name, self.inner = self._open.pop()
        self._count[name] -= 1
        return name


class ForeignContent(Nesting[str]):
    """The open elements of SVG and MathML, and those within them that hold HTML.

    inner: "svg" or "math" where their language stands, "" where HTML does.
    """

    def is_ended_by(
        self, name: str, attributes: Mapping[str, str], *, closes: bool
    ) -> bool:
        """End what is open, if the tag belongs to the HTML around it."""
        if not self.inner or name not in (HTML_ENDS if closes else HTML_STARTS):
            return False
        if name == "font" and _LOOKS.isdisjoint(attributes):
            return False
        while self.inner:
            self.leave_last()
        return True

    def open(self, name: str, attributes: Mapping[str, str]) -> None:
        """Enter an element, if it is a root or one that holds HTML."""
        is_point = name in _POINTS.get(self.inner, ())
        if name == "annotation-xml":
            is_point &= attributes.get("encoding", "").lower() in HTML_TYPES
        if is_point or name in ROOTS:
            self.enter(name, "" if is_point else self.inner or name)
