"""A feed is well-formed and means what was put in, whatever that was."""

from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.interfaces.rest.sites.notices import NoticePage, NoticeView, spell_feed

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
ATOM = "{http://www.w3.org/2005/Atom}"


def feed(text: str, cursor: str | None = None) -> ET.Element:
    notice = NoticeView(
        id="1",
        noted_at=NOON,
        code=text,
        title=text,
        detail=text,
        fix="",
        url=None,
        problem=text,
    )
    page = NoticePage(
        host="shop.example", status="active", notices=(notice,), next_cursor=cursor
    )
    return ET.fromstring(spell_feed("https://registry.example", page, NOON, limit=7))


def test_a_feed_has_what_rfc_4287_asks_for() -> None:
    root = feed("News", "x-y_z")
    assert root.tag == f"{ATOM}feed"
    assert root.findtext(f"{ATOM}updated") == "2026-11-20T12:00:00Z"
    assert root.findtext(f"{ATOM}author/{ATOM}name")
    links = {
        element.get("rel"): element.get("href")
        for element in root.findall(f"{ATOM}link")
    }
    assert links["self"] == root.findtext(f"{ATOM}id")
    assert links["next"] == f"{links['self']}&limit=7&cursor=x-y_z"
    (entry,) = root.findall(f"{ATOM}entry")
    for name in ("id", "title", "updated", "content"):
        assert entry.findtext(ATOM + name)
    assert "rel" not in entry.find(f"{ATOM}link").attrib  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "]]>",
        "&amp;&#0;&lt;",
        "<!-- --><!DOCTYPE x [<!ENTITY a 'b'>]>",
        "'\"><x y='",
        "\0\x08\x0b\x1f\ufffe\uffff\ud800",
        "\u202eevil\u2066",
        "x" * 100_000,
    ],
    ids=ascii,
)
def test_hostile_text_stays_text(text: str) -> None:
    root = feed(text)
    names = {element.tag.removeprefix(ATOM) for element in root.iter()}
    assert names == {
        *("feed", "id", "title", "updated", "author", "name", "link", "entry"),
        *("category", "content"),
    }


@given(
    st.text(
        st.characters(
            exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"
        )
    )
)
def test_text_comes_out_as_it_went_in(text: str) -> None:
    root = feed(text)
    assert (root.findtext(f"{ATOM}entry/{ATOM}content") or "") == text
    category = root.find(f"{ATOM}entry/{ATOM}category")
    assert category is not None
    assert category.get("term") == text
