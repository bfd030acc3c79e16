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

_UTF_8 = "utf-8"
_MAX_DECLARATION_BYTES = 50_000
_MAX_SHOWN = 40
_ASCII_LESS = frozenset({"utf-16be", "utf-16le", "replacement"})
# Encoding, Python's codec, and further labels. Browsers refuse to decode the last.
_TABLE = """
utf-8 utf-8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8
ibm866 cp866 866 cp866 csibm866
iso-8859-2 iso8859-2 csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
iso-8859-3 iso8859-3 csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
iso-8859-4 iso8859-4 csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
iso-8859-5 iso8859-5 csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
iso-8859-6 iso8859-6 arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso-8859-7 iso8859-7 csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek
iso-8859-8 iso8859-8 csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical
iso-8859-10 iso8859-10 csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13 iso8859-13 iso8859-13 iso885913
iso-8859-14 iso8859-14 iso8859-14 iso885914
iso-8859-15 iso8859-15 csisolatin9 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16 iso8859-16
koi8-r koi8-r cskoi8r koi koi8 koi8_r
koi8-u koi8-u koi8-ru
macintosh mac-roman csmacintosh mac x-mac-roman
windows-874 cp874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620
windows-1250 cp1250 cp1250 x-cp1250
windows-1251 cp1251 cp1251 x-cp1251
windows-1252 cp1252 ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252 x-user-defined
windows-1253 cp1253 cp1253 x-cp1253
windows-1254 cp1254 cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254
windows-1255 cp1255 cp1255 x-cp1255
windows-1256 cp1256 cp1256 x-cp1256
windows-1257 cp1257 cp1257 x-cp1257
windows-1258 cp1258 cp1258 x-cp1258
x-mac-cyrillic mac-cyrillic x-mac-ukrainian
gbk gb18030 chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk
gb18030 gb18030
big5 big5hkscs big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp euc-jp cseucpkdfmtjapanese x-euc-jp
iso-2022-jp iso2022-jp-ext csiso2022jp
shift_jis cp932 csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis
euc-kr cp949 cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
utf-16be utf-16-be unicodefffe
utf-16le utf-16-le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16
replacement - csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr
"""
_ROWS = [row.split() for row in _TABLE.strip().splitlines()]
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
