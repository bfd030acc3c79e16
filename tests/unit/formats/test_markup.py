import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.formats.html.foreign_content import ROOTS
from registry.formats.html.markup import (
    Tag,
    TagFinder,
    read_attributes,
    text_of,
)
from tests.unit.work import assert_linear

FINDER = TagFinder(("a", "input", "form"), ("a", "form"), marks=("data-x",))


def _names(page: str) -> list[str]:
    tags = (tag for tag in FINDER.find(page) if tag.name not in ROOTS)
    return [f"{'/' if tag.closes else ''}{tag.name}" for tag in tags]


def test_only_the_tags_asked_for_are_found_with_their_place() -> None:
    page = (
        "<A B='1&amp;2' c=x d b=2/>t<b><script>a<b</SCRIPT >1 < 2</form x><i data-xy>"
    )
    assert list(FINDER.find(page)) == [
        Tag("a", {"b": "1&2", "c": "x", "d": ""}, end=26),
        Tag("script", {}, end=41, content="a<b"),
        Tag("form", {}, closes=True),
        Tag("i", {"data-xy": ""}, end=len(page)),
    ]


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("<a><input/></a></input>", ["a", "input", "/a"]),
        ("<ab><a-b><inputs>", []),
        ("<!-- <a> --><a>", ["a"]),
        ("<!--><a>", ["a"]),
        ("<!---><a>", ["a"]),
        ("<!-- <a> --!><a>", ["a"]),
        ("<!-- <a>", []),
        ("<!doctype html><a>", ["a"]),
        ("<![CDATA[ <a> ]]>", []),
        ("<?php <a> ?><a>", ["a"]),
        ("</><a>", ["a"]),
        ("</ <a> ><a>", ["a"]),
        ("<<a>", ["a"]),
        ("< a><3>", []),
        ("<a title='>'><b title=\"<a>\"><a>", ["a", "a"]),
        ("<b title='<a><a>", []),
        ('<a title="', []),
        ("<a", []),
        ("<a ", []),
        ("<textarea><a></textarea><a>", ["textarea", "a"]),
        ("<TITLE><a></tITLE\n><a>", ["title", "a"]),
        ("<style><a></styles></style><a>", ["style", "a"]),
        ("<noscript><a>", ["noscript"]),
        ("<script/><a></script><a>", ["script", "a"]),
        ("</script><a>", ["a"]),
        ("</i data-x><i data-x=1></i>", ["i"]),
        ("<i DATA-X><i xdata-x>", ["i"]),
        ("<plaintext><a></plaintext><a>", ["plaintext"]),
        ("<script><!-- <script> </script> <a> --></script><a>", ["script", "a"]),
        ("<script><!-- </script><a>", ["script", "a"]),
        ("<script><!--><script></script><a>", ["script", "a"]),
        ("<script><!-- <script> --></script><a>", ["script", "a"]),
        ("<script>'<!--<script>'</script><a>", ["script"]),
        ("<script><!--<scripts></script><a>", ["script", "a"]),
    ],
)
def test_tags_are_told_as_browsers_tell_them(page: str, names: list[str]) -> None:
    assert _names(page) == names


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("<svg><a></svg><a>", ["a"]),
        ("<svg><![CDATA[ > <a> ]]><a></svg><a>", ["a"]),
        ("<svg/><a>", ["a"]),
        ("<svg b=c/><a></svg>", []),
        ("<SVG b='c'/><a><svg / ><a></svg>", ["a"]),
        ("<svg><path/><p><a>", ["a"]),
        ("<div><svg></div><a>", ["a"]),
        ("<svg><title><a></title><a></svg><a>", ["a", "a"]),
        ("<svg><title/><a></svg><a>", ["a"]),
        ("<svg><foreignObject><a></a></foreignObject><a></svg>", ["a", "/a"]),
        ("<svg><desc><svg><a></svg><a></desc><a>", ["a"]),
        ("<svg><desc><svg><p><a></svg></desc><a>", ["a", "a"]),
        ("<svg><svg></svg><a></svg><a>", ["a"]),
        ("<svg><style><a></style><b><a>", ["a"]),
        ("<svg><script>1<2</script></svg><a>", ["a"]),
        ("<svg><font><a></svg><a>", ["a"]),
        ("<svg><font size=1><a>", ["a"]),
        ("<svg><g data-x></svg>", ["g"]),
        ("<form><svg></form>", ["form", "/form"]),
        ("<math><mi><a></mi><a></math><a>", ["a", "a"]),
        ("<math><desc><a></math><svg><mi><a></svg><a>", ["a"]),
        ("<math><annotation-xml><a></math>", []),
        ("<math><annotation-xml encoding=text/HTML><a></math>", ["a"]),
        ("<svg><math><mi><a></svg><a>", ["a"]),
        ("</svg></title></desc><a>", ["a"]),
        ("<svg><a ", []),
    ],
)
def test_in_svg_and_math_there_are_no_tags_of_html(page: str, names: list[str]) -> None:
    assert _names(page) == names


def test_without_names_every_start_tag_is_found() -> None:
    everything = TagFinder(None, ("b",))
    assert [tag.name for tag in everything.find("<b><x-y></b></i><title>")] == [
        "b",
        "x-y",
        "b",
        "title",
    ]


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        (" a = 'x' b= \"y\"c=z", {"a": "x", "b": "y", "c": "z"}),
        ("/a/b/=c", {"a": "", "b": "", "=c": ""}),
        (" a=1 A=2", {"a": "1"}),
        (" a=x'y\"z b==", {"a": "x'y\"z", "b": "="}),
        (" a='&lt;&quot;' b=&#9;", {"a": '<"', "b": "\t"}),
        (" a=&#" + "9" * 5_000, {"a": "\ufffd"}),
        ("\n\f\r\t ", {}),
    ],
    ids=range(7),
)
def test_attributes_are_read_in_every_spelling(
    text: str, attributes: dict[str, str]
) -> None:
    assert read_attributes(text) == attributes


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("  a \n b ", "a b"),
        ("<i>a</i>b<!-- c --> &amp; d", "ab & d"),
        ("a <select><option>b</select> c", "a c"),
        ("a <button>b</button><textarea>c</textarea><output>d", "a"),
        ("<script>a</script><style>b</style>c", "c"),
        ("a < b > c", "a < b > c"),
        ("<b", ""),
    ],
)
def test_the_text_of_markup_leaves_out_what_is_not_its_own(
    markup: str, text: str
) -> None:
    assert text_of(markup) == text


@pytest.mark.parametrize(
    ("before", "unit", "after"),
    [
        ("", "<b>", ""),
        ("", "<a>", ""),
        ("", "<", ""),
        ("", "</", ""),
        ("", "<!--", ""),
        ("", "<!-", ""),
        ("", "--", ""),
        ("", "<?", ""),
        ("<a ", "a{} ", ">"),
        ("<b ", "a ", ""),
        ("<a ", "=", ">"),
        ("", '<a b="', ""),
        ("", "<a b='\"", ""),
        ("<script>", "</scrip", ""),
        ("<script>", "<script>", ""),
        ("<textarea>", "<", ""),
        ("&#", "9", ";"),
        ("<a b='&#", "9", ";'>"),
        ("", "<svg>", "<a>"),
        ("", "<svg><p>", ""),
        ("<svg>" * 200, "</math>", ""),
        ("", "<math><mi><svg>", "</math>"),
        ("<script>", "<!--<script></script>", ""),
    ],
)
def test_hostile_markup_takes_linear_time(before: str, unit: str, after: str) -> None:
    def read(times: int) -> None:
        middle = "".join(unit.replace("{}", str(number)) for number in range(times))
        page = before + middle + after
        for tag in FINDER.find(page):
            assert tag.name
        text_of(page)

    assert_linear(read, 300)


@given(st.text(alphabet="<>/!-='\" \nasciptextrdb&;", max_size=60))
def test_any_text_is_read_without_end_tags_out_of_nowhere(page: str) -> None:
    for tag in FINDER.find(page):
        assert tag.closes == (tag.end == -1)
        assert tag.end <= len(page)
    assert "\n" not in text_of(page)
