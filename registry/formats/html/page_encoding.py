"""Decoding of a page by the encoding that it declares, as browsers decode it.

Encodings and labels are those of the Encoding Standard, and the order in which a declaration
counts is that of the HTML standard (section 13.2.3): the byte order mark, the charset of
the Content-Type, the page's own. Python's codecs do the work; where they know less than the
standard, `_substitute` does the rest. What declares nothing is UTF-8: no guess is made.
"""

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

from registry.formats.document import MAX_BODY_BYTES
from registry.formats.html.markup import TagFinder
from registry.toml_table import read_table

_UTF_8 = "utf-8"
_MAX_DECLARATION_BYTES = 50_000
_MAX_SHOWN = 40
_ASCII_LESS = frozenset({"utf-16be", "utf-16le", "replacement"})
_TABLE = read_table(__package__, "page_encodings.toml", dict[str, str])
_ROWS = [f"{name} {row}".split() for name, row in _TABLE.items()]
_CODECS = {name: codec for name, codec, *_ in _ROWS}
_ENCODINGS = {label: name for name, _, *labels in _ROWS for label in (name, *labels)}
_BOMS = (
    (codecs.BOM_UTF8, _UTF_8),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
_CHARSET = re.compile(
    r"charset[\t\n\f\r ]*+=[\t\n\f\r ]*+"
    r"""(?:"([^"]*+)"|'([^']*+)'|([^\t\n\f\r ;"']++))""",
    re.IGNORECASE,
)
_XML = re.compile(r"""<\?xml[^>]{1,200}?\sencoding\s*+=\s*+["']([^"'>]*+)["']""")
_METAS = TagFinder(("meta",))
_C1 = range(0x80, 0xA0)
_REPLACEMENT = "\ufffd"


class PageText(NamedTuple):
    """The text of a page.

    deviation: of its encoding from what HTML asks for, or "". is_readable: browsers
    decode it too.
    """

    text: str
    deviation: str = ""
    is_readable: bool = True


def decode_page(
    body: bytes, content_type: str = "", *, limit: int = MAX_BODY_BYTES
) -> PageText:
    """Decode the first `limit` bytes; what stands for no character becomes U+FFFD."""
    read = body[:limit]
    bom, encoding = next((row for row in _BOMS if body.startswith(row[0])), (b"", ""))
    unknown = ""
    if not encoding:
        encoding, unknown = _declared(read, content_type)
    if encoding not in _ASCII_LESS and _is_plain(read):
        return PageText(read.decode("ascii"))
    if encoding == "replacement":
        label = unknown[:_MAX_SHOWN]
        return PageText("", f"browsers decode no page in {label!a}", is_readable=False)
    text, is_whole = _decode(read[len(bom) :], encoding, is_cut=len(body) > limit)
    if not is_whole:
        return PageText(
            text, f"not all of its bytes are {encoding}, which it is read as"
        )
    if encoding != _UTF_8:
        return PageText(text, f"it is in {encoding}; HTML asks for UTF-8")
    no_label = f"{unknown[:_MAX_SHOWN]!a} is no encoding; it is read as UTF-8"
    return PageText(text, no_label if unknown else "")


# --- what is declared -----------------------------------------------------------------


def _declared(body: bytes, content_type: str) -> tuple[str, str]:
    """Return the encoding that is declared first, and a label that no page may have."""
    unknown = ""
    for label in _labels(body, content_type):
        encoding = _ENCODINGS.get(label.strip("\t\n\f\r ").lower())
        if encoding == "replacement":
            return encoding, label
        if encoding is not None:
            return encoding, unknown
        unknown = unknown or label
    return _UTF_8, unknown


def _labels(body: bytes, content_type: str) -> Iterator[str]:
    yield from _charset_in(content_type.partition(";")[2])
    if _is_plain(body):
        return
    head = body[:_MAX_DECLARATION_BYTES].decode("latin-1")
    xml = _XML.match(head)
    for label in (*_meta_labels(head), *(xml.groups() if xml else ())):
        # Read as ASCII so far, it can't be UTF-16.
        is_utf_16 = _ENCODINGS.get(label.strip().lower(), "").startswith("utf-16")
        yield _UTF_8 if is_utf_16 else label


def _meta_labels(head: str) -> Iterator[str]:
    for tag in _METAS.find(head):
        attributes = tag.attributes
        if "charset" in attributes:
            yield attributes["charset"]
        elif attributes.get("http-equiv", "").lower() == "content-type":
            yield from _charset_in(attributes.get("content", ""))


def _charset_in(text: str) -> Iterator[str]:
    match = _CHARSET.search(text)
    if match:
        yield next(filter(None, match.groups()), "")


def _is_plain(body: bytes) -> bool:
    """Return whether it reads alike in every encoding that holds ASCII."""
    return body.isascii() and b"\x1b" not in body


# --- decoding -------------------------------------------------------------------------


def _decode(body: bytes, encoding: str, *, is_cut: bool) -> tuple[str, bool]:
    """Return the text, and whether all of it could be decoded."""
    make_decoder = codecs.getincrementaldecoder(_CODECS[encoding])
    try:
        return make_decoder("strict").decode(body, final=not is_cut), True
    except UnicodeError:
        text = make_decoder(_SUBSTITUTE).decode(body, final=not is_cut)
        return text, _REPLACEMENT not in text


def _substitute(error: UnicodeError) -> tuple[str, int]:
    """Return what browsers read where a codec of Python's finds no character."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    start = error.start
    byte, following = error.object[start], error.object[start + 1 : start + 2]
    if error.encoding == "charmap" and byte in _C1:
        return chr(byte), start + 1
    if error.encoding == "gb18030" and byte == 0x80:
        return "\u20ac", start + 1
    if error.encoding == "euc_jp" and byte > 0xA0 and following > b"\xa0":
        return _read_nec(byte - 0xA0, following[0] - 0xA0), start + 2
    end = error.end
    if not error.encoding.startswith("utf"):  # a broken sequence takes no ASCII with it
        end = next((i for i in range(start + 1, end) if error.object[i] < 0x80), end)
    return _REPLACEMENT, end


def _read_nec(row: int, cell: int) -> str:
    """Read a character of JIS X 0208 with the rows of NEC and IBM, which Shift_JIS has."""
    lead = (row - 1) // 2 + (0x81 if row <= 62 else 0xC1)
    odd_trail = cell + (0x3F if cell <= 63 else 0x40)
    trail = odd_trail if row % 2 else cell + 0x9E
    return bytes((lead, trail)).decode("cp932", "replace")


_SUBSTITUTE = "fair_registry.substitute"
codecs.register_error(_SUBSTITUTE, _substitute)
