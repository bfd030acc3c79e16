"""A feed is well-formed and means what was put in, whatever that was."""

from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.interfaces.rest.sites.atom import Entry, Feed, spell

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
ATOM = "{http://www.w3.org/2005/Atom}"


def feed(text: str, following: str | None = None) -> Feed:
    entry = Entry(
        id="https://registry.example/v1/sites/shop.example/notices#1",
        title=text,
        updated_at=NOON,
        text=text,
        link="https://registry.example/problems/x",
        category=text,
    )
    return Feed(
        address="https://registry.example/v1/sites/shop.example/notices?as=atom",
        title=text,
        author="https://registry.example",
        updated_at=NOON,
        entries=(entry,),
        next_address=following,
    )


def parsed(item: Feed) -> ET.Element:
    return ET.fromstring(spell(item))


def test_a_feed_has_what_rfc_4287_asks_for() -> None:
    root = parsed(feed("News", "https://registry.example/?a=1&b=2"))
    assert root.tag == f"{ATOM}feed"
    assert root.findtext(f"{ATOM}updated") == "2026-11-20T12:00:00Z"
    assert root.findtext(f"{ATOM}author/{ATOM}name")
    links = {
        element.get("rel"): element.get("href")
        for element in root.findall(f"{ATOM}link")
    }
    assert links["self"] == root.findtext(f"{ATOM}id")
    assert links["next"] == "https://registry.example/?a=1&b=2"
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
    root = parsed(feed(text))
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
    root = parsed(feed(text))
    assert (root.findtext(f"{ATOM}entry/{ATOM}content") or "") == text
    category = root.find(f"{ATOM}entry/{ATOM}category")
    assert category is not None
    assert category.get("term") == text
