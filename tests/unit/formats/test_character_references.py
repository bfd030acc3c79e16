import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from registry.formats.detect import parse_page
from registry.formats.document import Parsed
from registry.formats.html.character_references import decode_attribute, decode_text
from registry.formats.html.links import parse_links
from registry.formats.html.markup import TagFinder
from tests.unit.work import assert_linear

URL = "https://site.example/"
VECTORS = Path(__file__).parents[4] / "shared/vectors/html5lib-tokenizer"
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")


@pytest.mark.parametrize(
    ("text", "in_text", "in_attribute"),
    [
        ("?country=de&region=bw", "?country=de®ion=bw", "?country=de&region=bw"),
        ("?a=1&copy=2", "?a=1©=2", "?a=1&copy=2"),
        ("?a=1&copy", "?a=1©", "?a=1©"),
        ("?a=1&copy;=2", "?a=1©=2", "?a=1©=2"),
        ("&notit;", "¬it;", "&notit;"),
        ("&notin;", "∉", "∉"),
        ("&lt-&lté", "<-<é", "<-<é"),
        ("&nosuch; &nosuch & &;", "&nosuch; &nosuch & &;", "&nosuch; &nosuch & &;"),
        ("&#65&#x42;&#67x", "ABCx", "ABCx"),
        ("&#0;&#xD800;&#x110000;", "\ufffd" * 3, "\ufffd" * 3),
        ("&#128;&#x81;&#1;", "€\x81\x01", "€\x81\x01"),
        (f"&#{'9' * 5000};&#x;&#;", "\ufffd&#x;&#;", "\ufffd&#x;&#;"),
    ],
)
def test_references_are_decoded_as_the_standard_says(
    text: str, in_text: str, in_attribute: str
) -> None:
    assert decode_text(text) == in_text
    assert decode_attribute(text) == in_attribute


def test_the_addresses_of_a_page_keep_their_keys() -> None:
    page = b"""<head><link rel="ai-actions" href="/a.json?site=7&section=eu"></head>
        <form toolname=s tooldescription=x action="/find?country=de&region=bw">
        <input name="p&para=1"></form>"""
    result = parse_page(page, url=URL)
    assert isinstance(result, Parsed)
    (action,) = result.document.site.actions
    assert action.calls[0].target == f"{URL}find?country=de&region=bw"
    assert [parameter.name for parameter in action.parameters] == ["p&para=1"]
    (link,) = parse_links(page, url=URL)
    assert link.url == f"{URL}a.json?site=7&section=eu"


def test_a_decoded_quote_is_part_of_its_value() -> None:
    (tag,) = TagFinder(None).find("<a b=&quot;x&quot;>")
    assert tag.attributes == {"b": '"x"'}


def test_references_take_linear_time() -> None:
    for unit in ("&a", "&#9", "&amp", "&" * 30, "a" * 40 + "&"):
        assert_linear(lambda size, unit=unit: decode_text(unit * size), 200)
        assert_linear(lambda size, unit=unit: decode_attribute(unit * size), 200)


# --- html5lib's tests of tokenizers ---------------------------------------------------


def _vectors(state: str = "Data state") -> Iterator[dict[str, Any]]:
    """Yield the tests that start in this state, their escapes resolved."""
    for file in sorted(VECTORS.glob("*.test")):
        for vector in json.loads(file.read_text()).get("tests", []):
            if state in vector.get("initialStates", ["Data state"]):
                is_escaped = vector.get("doubleEscaped", False)
                yield _resolved(vector) if is_escaped else vector


def _resolved(value: Any) -> Any:
    match value:
        case str():
            return _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), value)
        case list():
            return [_resolved(item) for item in value]
        case dict():
            return {_resolved(name): _resolved(item) for name, item in value.items()}
        case _:
            return value


@pytest.mark.skipif(not VECTORS.is_dir(), reason="html5lib's vectors are not beside")
def test_html5lib_finds_the_same_attributes() -> None:
    finder, compared = TagFinder(None), 0
    for vector in _vectors():
        wanted = [token[2] for token in vector["output"] if token[0] == "StartTag"]
        attributes = [tag.attributes for tag in finder.find(vector["input"])]
        assert attributes == wanted, vector["input"]
        compared += bool(wanted)
    assert compared > 400


@pytest.mark.skipif(not VECTORS.is_dir(), reason="html5lib's vectors are not beside")
def test_html5lib_decodes_text_alike() -> None:
    """Compare tests without tags; line ends are one character before decoding."""
    compared = 0
    for vector in _vectors():
        text = vector["input"].replace("\r\n", "\n").replace("\r", "\n")
        if "<" not in text:
            wanted = "".join(token[1] for token in vector["output"])
            assert decode_text(text) == wanted, vector["input"]
            compared += 1
    assert compared > 4_000


@pytest.mark.skipif(not VECTORS.is_dir(), reason="html5lib's vectors are not beside")
@pytest.mark.parametrize(
    ("state", "name"),
    [
        ("Script data state", "script"),
        ("RCDATA state", "textarea"),
        ("RAWTEXT state", "style"),
        ("PLAINTEXT state", "plaintext"),
    ],
)
def test_html5lib_ends_the_content_of_elements_alike(state: str, name: str) -> None:
    finder, compared = TagFinder(None), 0
    for vector in _vectors(state):
        name_here = vector.get("lastStartTag", name)
        first, *_ = finder.find(f"<{name_here}>{vector['input']}")
        kind, text, *_ = (vector["output"] or [["EndTag", ""]])[0]
        wanted = text if kind == "Character" else ""
        content = first.content.replace("\0", "\ufffd")
        decoded = decode_text(content) if state == "RCDATA state" else content
        assert decoded == wanted, vector["input"]
        compared += 1
    assert compared > 50
