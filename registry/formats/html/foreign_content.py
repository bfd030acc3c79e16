"""SVG and MathML in a page, whose content is not HTML (HTML standard, section 13.2.6.5).

A form in them is no form, `<![CDATA[` begins text, and titles, styles and scripts hold
tags. Within some of their elements HTML stands again. Of the elements around them nothing
is known here: an end tag of HTML ends them, though by the standard only one whose element
is open does.
"""

from collections import Counter
from collections.abc import Mapping

ROOTS = ("svg", "math")
_POINTS = frozenset(
    {"foreignobject", "desc", "title"}
    | {"mi", "mo", "mn", "ms", "mtext", "annotation-xml"}
)
"""Elements within which HTML stands again."""
ELEMENTS = frozenset({*ROOTS, *_POINTS})
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
_LOOKS = frozenset({"color", "face", "size"})
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


class ForeignContent:
    """The open elements of SVG and MathML, and those within them that hold HTML.

    is_current: the innermost of them holds no HTML.
    """

    def __init__(self) -> None:
        self.is_current = False
        self._open: list[str] = []
        self._count: Counter[str] = Counter()

    def is_ended_by(
        self, name: str, attributes: Mapping[str, str], *, closes: bool
    ) -> bool:
        """End what is current, if the tag belongs to the HTML around it."""
        names = HTML_ENDS if closes else HTML_STARTS
        if not self.is_current or name not in names:
            return False
        if name == "font" and _LOOKS.isdisjoint(attributes):
            return False
        while self._open and self._open[-1] in ROOTS:
            self._pop()
        return True

    def enter(self, name: str, attributes: Mapping[str, str]) -> None:
        """Enter an element, if it is a root or one that holds HTML."""
        is_point = name in _POINTS and self.is_current
        if name == "annotation-xml":
            is_point &= attributes.get("encoding", "").lower() in _HTML_TYPES
        if is_point or name in ROOTS:
            self._open.append(name)
            self._count[name] += 1
            self.is_current = not is_point

    def leave(self, name: str) -> None:
        """Leave an element and those that are open within it."""
        left = ""
        while self._count[name] and left != name:
            left = self._pop()

    def _pop(self) -> str:
        name = self._open.pop()
        self._count[name] -= 1
        self.is_current = bool(self._open) and self._open[-1] in ROOTS
        return name
