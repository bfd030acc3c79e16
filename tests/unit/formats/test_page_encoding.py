import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.formats.detect import parse_page
from registry.formats.document import Document, Parsed, Rejected
from registry.formats.html.links import parse_links
from registry.formats.html.markup import starts_as_markup
from registry.formats.html.page_encoding import _CODECS, _ENCODINGS, decode_page

URL = "https://site.example/"
HTML = "text/html; charset="
RUSSIAN = "Привет"
CYRILLIC = RUSSIAN.encode("cp1251")


def _read(body: bytes, content_type: str = "") -> Document:
    result = parse_page(body, url=URL, content_type=content_type)
    assert isinstance(result, Parsed), result
    return result.document


def _page(text: str, head: str = "") -> str:
    return f"{head}<form toolname=t tooldescription='{text}'></form>"


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("windows-1251", "cp1251", RUSSIAN),
        ("KOI8-R", "koi8-r", RUSSIAN),
        ("iso-8859-1", "cp1252", "Größe „groß“ €"),
        ("latin1", "latin-1", "Größe"),
        ("iso-8859-9", "cp1254", "İstanbul şehri"),
        ("gb2312", "gbk", "搜索商品"),
        ("GBK", "gbk", "搜尋"),
        ("gb18030", "gb18030", "搜索㐀𠀀"),
        ("big5", "big5", "搜尋商品"),
        ("shift_jis", "cp932", "商品を検索①㈱"),
        ("x-sjis", "cp932", "ｶﾅ"),
        ("euc-jp", "euc-jp", "商品を検索"),
        ("iso-2022-jp", "iso2022-jp", "検索"),
        ("euc-kr", "cp949", "상품 검색 똠"),
        ("windows-874", "cp874", "ค้นหา"),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_declares(
    label: str, codec: str, text: str
) -> None:
    heads = {
        f"<meta charset='{label}'>": "text/html",
        f"<META http-equiv=Content-Type content='text/html; charset={label}'>": "",
        "<meta charset=utf-8>": f'{HTML}"{label}"',
        "<p>": f"{HTML}{label}; x=y",
    }
    for head, content_type in heads.items():
        document = _read(_page(text, head).encode(codec), content_type)
        assert document.site.actions[0].description == text
        assert [row.rule for row in document.deviations] == ["encoding"]
        assert document.conformance == "tolerated"


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_a_byte_order_mark_counts_before_all_else(mark: bytes, codec: str) -> None:
    body = mark + _page(RUSSIAN, " <meta charset=big5>").encode(codec)
    document = _read(body, f"{HTML}shift_jis")
    assert document.site.actions[0].description == RUSSIAN
    assert bool(document.deviations) == (codec != "utf-8")
    assert starts_as_markup(body)


def test_utf_16_counts_only_where_the_header_says_so() -> None:
    page = _page(RUSSIAN, "<meta charset=utf-16>")
    assert _read(page.encode()).conformance == "strict"
    document = _read(page.encode("utf-16-be"), f"{HTML}utf-16be")
    assert document.site.actions[0].description == RUSSIAN


@pytest.mark.parametrize(
    ("head", "content_type", "encoding"),
    [
        ("", "", "utf-8"),
        ("<meta charset=utf-8>", "text/html", "utf-8"),
        ("<meta charset=UTF8><meta charset=windows-1251>", "", "utf-8"),
        ("<meta charset=windows-1251>", f"{HTML}utf-8", "utf-8"),
        ("<!-- <meta charset=windows-1251> -->", "", "utf-8"),
        ("<script>'<meta charset=windows-1251>'</script>", "", "utf-8"),
        ("<meta content='text/html; charset=windows-1251'>", "", "utf-8"),
        ("<meta charset=none><meta charset=windows-1251>", "", "cp1251"),
        (f"{' ' * 3000}<meta charset=windows-1251>", "", "cp1251"),
        ("<meta charset=windows-1251>", f"{HTML}none", "cp1251"),
        ("<?xml version='1.0' encoding='windows-1251'?>", "", "cp1251"),
        ("<?xml version='1.0' encoding='big5'?><meta charset=windows-1251>", "", "cp1251"),
        ("<meta http-equiv=content-type content='x;charset = \"windows-1251\"'>", "", "cp1251"),
    ],
    ids=range(13),
)  # fmt: skip
def test_declarations_count_in_the_order_of_the_standard(
    head: str, content_type: str, encoding: str
) -> None:
    page = _page(RUSSIAN, head).encode(encoding)
    document = _read(page, content_type)
    assert document.site.actions[0].description == RUSSIAN
    assert (document.conformance == "strict") == (encoding == "utf-8")


@pytest.mark.parametrize(
    ("body", "content_type", "text", "deviation"),
    [
        (b"<a \xff>", "", "<a \ufffd>", "not all of its bytes are utf-8"),
        (CYRILLIC, "", "\ufffd" * 6, "not all of its bytes are utf-8"),
        (CYRILLIC, f"{HTML}utf-8", "\ufffd" * 6, "not all of its bytes are utf-8"),
        (b"\x81<p>", f"{HTML}gbk", "\ufffd<p>", "not all of its bytes are gbk"),
        (b"\x810<p>", f"{HTML}gb18030", "\ufffd0<p>", "not all of its"),
        (b"\x80", f"{HTML}gbk", "€", "it is in gbk"),
        (b"\xad\xa1\xfc\xe2", f"{HTML}euc-jp", "①髙", "it is in euc-jp"),
        (b"\xa5<a>", f"{HTML}euc-jp", "\ufffd<a>", "not all of its bytes are euc-jp"),
        (b"\x81\x8d", f"{HTML}windows-1252", "\x81\x8d", "it is in windows-1252"),
        (b"\xaa", f"{HTML}windows-1253", "\ufffd", "not all of its"),
        ("é".encode(), f"{HTML}utf8mb4", "é", "'utf8mb4' is no encoding"),
        (b"plain", f"{HTML}windows-1252", "plain", ""),
        (b"plain", f"{HTML}utf8mb4", "plain", ""),
        ("\ufffd".encode(), "", "\ufffd", ""),
        (b"a", f"{HTML}utf-16", "\ufffd", "not all of its bytes are utf-16le"),
        (b"\x00\xd8a\x00", f"{HTML}utf-16", "\ufffda", "not all of its"),
    ],
    ids=range(16),
)
def test_what_an_encoding_lacks_is_replaced_and_told(
    body: bytes, content_type: str, text: str, deviation: str
) -> None:
    page = decode_page(body, content_type)
    assert page.text == text
    assert page.deviation.startswith(deviation)
    assert bool(page.deviation) == bool(deviation)


def test_a_character_that_the_limit_cuts_is_not_missed() -> None:
    for encoding, label in (("utf-8", "utf-8"), ("cp932", "sjis"), ("gbk", "gbk")):
        body = "検索".encode(encoding)
        page = decode_page(body, f"{HTML}{label}", limit=len(body) - 1)
        assert (page.text, "not all" in page.deviation) == ("検", False)


@pytest.mark.parametrize("label", ["iso-2022-kr", "hz-gb-2312", "replacement"])
def test_a_page_that_browsers_do_not_decode_is_refused(label: str) -> None:
    body = _page("x", f"<meta charset={label}>é").encode()
    result = parse_page(body, url=URL)
    assert isinstance(result, Rejected)
    assert result.problem.code == "page_encoding"
    assert label in result.problem.detail
    assert "UTF-8" in result.problem.fix
    assert parse_links(body, url=URL) == ()


def test_links_are_read_in_the_encoding_of_the_page() -> None:
    link = "<link rel=webmcp href='/поиск.json'>".encode("cp1251")
    (result,) = parse_links(link, url=URL, content_type=f"{HTML}windows-1251")
    (same,) = parse_links("<link rel=webmcp href='/поиск.json'>".encode(), url=URL)
    assert result == same


def test_every_label_has_a_codec() -> None:
    assert len(_ENCODINGS) == 228
    for name in set(_ENCODINGS.values()) - {"replacement"}:
        codecs.lookup(_CODECS[name])


@given(st.binary(max_size=40), st.sampled_from(sorted(_ENCODINGS)), st.integers(0, 45))
def test_any_bytes_are_decoded(body: bytes, label: str, limit: int) -> None:
    page = decode_page(body, f"{HTML}{label}", limit=limit)
    assert page.is_readable == (_ENCODINGS[label] != "replacement")
    assert len(page.text) <= limit
