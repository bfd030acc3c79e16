import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.formats.detect import parse_page
from registry.formats.document import Document, Parsed, Rejected
from registry.formats.links import DiscoveryLink, parse_links
from registry.formats.markup import Tag, Text, tokenize
from registry.sites.action import Call
from tests.unit.work import assert_linear

URL = "https://kiosk.example/index.html"
TOOL = 'toolname="find" tooldescription="Find a magazine"'


def _read(html: str) -> Document:
    result = parse_page(html.encode(), url=URL)
    assert isinstance(result, Parsed), result
    return result.document


def _rejection(html: str) -> str:
    result = parse_page(html.encode(), url=URL)
    assert isinstance(result, Rejected), result
    return result.problem.code


def _parameters(controls: str) -> dict[str, tuple[str, bool | None, str]]:
    (action,) = _read(f"<form {TOOL}>{controls}</form>").site.actions
    return {p.name: (p.type, p.required, p.description) for p in action.parameters}


def test_a_described_form_is_a_tool() -> None:
    document = _read(
        f"""<!doctype html><html lang="de-AT"><head><title>Kiosk &amp; Co</title>
        <meta name="Description" content="Magazines"></head>
        <form {TOOL} action="/find" method="post"><input name="q" required></form>"""
    )
    (action,) = document.site.actions
    assert document.conformance == "strict"
    assert document.raw is None
    assert (document.site.name, document.site.description) == (
        "Kiosk & Co",
        "Magazines",
    )
    assert document.site.languages == ("de-AT",)
    assert (action.name, action.description) == ("find", "Find a magazine")
    assert action.calls == (
        Call(
            format="webmcp",
            transport="form",
            method="POST",
            target="https://kiosk.example/find",
            operation="find",
        ),
    )


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<title>Kiosk</title>",
        '<form toolname="find"><input name=q></form>',
        '<form tooldescription="Find"></form>',
        '<div toolname="find" tooldescription="Find"></div>',
        '<form tool-name="find" tool-description="Find"></form>',
        f"<!-- <form {TOOL}></form> -->",
        f"<script>'<form {TOOL}>'</script>",
        f"<template><form {TOOL}></form></template>",
        f"<textarea><form {TOOL}></form></textarea>",
        f"<noscript><form {TOOL}></form></noscript>",
        f"<form {TOOL}",
        "\x00\ufffd<<<>>>",
    ],
)
def test_other_pages_hold_no_tools(html: str) -> None:
    assert _rejection(html) == "page_without_tools"


def test_controls_are_parameters_by_chromiums_rules() -> None:
    found = _parameters(
        """<input name=a><input name=off disabled><input name=fixed readonly>
        <input type=hidden name=token><input type=hidden name=day
          toolparamdescription="The day"><input name=a type=number>
        <input type=number name=n required><input type=checkbox name=c>
        <input type=submit name=s><button name=b>x</button><input type=file name=f>
        <textarea name=t></textarea><input name=__proto__><input>
        <fieldset disabled><input name=g></fieldset><input name=h>"""
    )
    assert found == {
        "a": ("string", False, ""),
        "day": ("string", False, "The day"),
        "n": ("number", True, ""),
        "c": ("boolean", False, ""),
        "t": ("string", False, ""),
        "__proto__": ("string", False, ""),
        "h": ("string", False, ""),
    }


def test_controls_elsewhere_join_by_the_forms_id() -> None:
    (action,) = _read(
        f"""<input name=early form=f><form id=f {TOOL}><input name=own>
        <input name=foreign form=other></form><input name=loose><input name=late form=f>
        """
    ).site.actions
    assert [p.name for p in action.parameters] == ["own", "early", "late"]


def test_a_form_within_a_form_is_none() -> None:
    (action,) = _read(
        f"<form {TOOL}><input name=a><form {TOOL} id=b><input name=c></form>"
    ).site.actions
    assert [p.name for p in action.parameters] == ["a", "c"]


def test_choices_come_from_options_and_radio_buttons() -> None:
    (action,) = _read(
        f"""<form {TOOL}><select name=s><option value="">-<option value=x>X<option>Y
        </select><select name=m multiple><option>1</select>
        <input type=radio name=r value=a><input type=radio name=r value=b></form>"""
    ).site.actions
    assert [(p.name, p.type, p.enum) for p in action.parameters] == [
        ("s", "string", ("x", "Y")),
        ("m", "array", ("1",)),
        ("r", "string", ("a", "b")),
    ]


def test_labels_describe_controls_that_say_nothing_themselves() -> None:
    found = _parameters(
        """<label for=x>Title of it</label><input id=x name=a>
        <label>Author <input name=b></label><input name=c aria-label="Year">
        <label>Unused <input name=d toolparamdescription="Its colour"></label>"""
    )
    assert [description for _, _, description in found.values()] == [
        "Title of it",
        "Author",
        "Year",
        "Its colour",
    ]


def test_autosubmit_false_still_submits_and_is_told() -> None:
    document = _read(f'<form {TOOL} toolautosubmit="false"></form>')
    (deviation,) = document.deviations
    assert (deviation.rule, deviation.pointer) == ("autosubmit", "form[find]")
    assert _read(f"<form {TOOL} toolautosubmit></form>").deviations == ()


def test_one_attribute_alone_is_told_beside_a_whole_tool() -> None:
    document = _read(f"<form toolname=x></form><form {TOOL}></form><form tool-name=y>")
    assert {d.rule for d in document.deviations} == {"required", "spelling"}
    assert len(document.site.actions) == 1


@pytest.mark.parametrize(
    "script",
    [
        "navigator.modelContext.registerTool({name: 'a'})",
        "window.navigator?.modelContext?.registerTool(tool)",
        "document.modelContext.provideContext({tools: []})",
    ],
)
def test_tools_of_scripts_are_reported_not_listed(script: str) -> None:
    document = _read(f"<script>{script}</script>")
    assert document.site.actions == ()
    assert document.deviations[0].rule == "imperative"


def test_a_dangerous_form_action_is_dropped() -> None:
    document = _read(f'<form {TOOL} action="javascript:x()"></form>')
    assert document.site.actions[0].calls[0].target == ""
    assert document.deviations[0].rule == "target"


def test_the_base_decides_where_a_form_goes() -> None:
    (action,) = _read(
        f'<base href="https://cdn.example/"><form {TOOL} action=find></form>'
    ).site.actions
    assert action.calls[0].target == "https://cdn.example/find"
    assert action.calls[0].off_origin


def test_an_oversized_page_is_refused() -> None:
    assert _rejection(" " * (512 * 1024 + 1)) == "json_too_large"


# --- links ----------------------------------------------------------------------------


def test_discovery_links_are_found_in_either_attribute_order() -> None:
    page = b"""<head><link href="/abp.json" rel="abp-manifest">
    <link rel="ABP-manifest" href="/second.json"><meta content="/b.json"
    name="wab-discovery"><link rel="alternate ai-actions" href=/ai.json>
    <link rel=webmcp href="https://cdn.example/w.json"><link rel=webmcp href=/w2>
    <link rel=webmcp-manifest href=/w2><link rel=icon href=/i></head>"""
    assert parse_links(page, url=URL).links == (
        DiscoveryLink("https://kiosk.example/abp.json", "abp"),
        DiscoveryLink("https://kiosk.example/b.json", "wab"),
        DiscoveryLink("https://kiosk.example/ai.json", "awas"),
        DiscoveryLink("https://cdn.example/w.json", "webmcp"),
        DiscoveryLink("https://kiosk.example/w2", "webmcp"),
    )


def test_a_base_moves_the_links() -> None:
    page = b"<base href=https://www.kiosk.example/a/><link rel=webmcp href=w.json>"
    (link,) = parse_links(page, url=URL).links
    assert link.url == "https://www.kiosk.example/a/w.json"


@pytest.mark.parametrize(
    "page",
    [
        "<body><link rel=ai-actions href=/x>",
        "<head></head><link rel=ai-actions href=/x>",
        "<head><!-- <link rel=ai-actions href=/x> -->",
        "<head>" + " " * 50_000 + "<link rel=ai-actions href=/x>",
        "<link rel=ai-actions href=javascript:x>",
        "<link rel=ai-actions href=http://kiosk.example/x>",
        "<link rel=ai-actions>",
    ],
)
def test_links_outside_the_head_or_unsafe_do_not_count(page: str) -> None:
    assert parse_links(page.encode(), url=URL).links == ()


def test_a_page_tells_whether_it_holds_tools() -> None:
    assert parse_links(f"<form {TOOL}>".encode(), url=URL).holds_tools
    assert not parse_links(b"<form toolname=x>", url=URL).holds_tools


# --- tokens ---------------------------------------------------------------------------


def test_tags_attributes_and_texts_are_told_apart() -> None:
    tokens = list(
        tokenize("<A B='1&amp;2' c=x d b=2/>t&lt;<!--n--><script>a<b</SCRIPT >1 < 2")
    )
    assert tokens == [
        Tag("a", {"b": "1&2", "c": "x", "d": ""}),
        Text("t<"),
        Tag("script", {}),
        Text("a<b", raw=True),
        Tag("script", {}, closes=True),
        Text("1 "),
        Text(" 2"),
    ]


@pytest.mark.parametrize(
    ("before", "unit", "after"),
    [
        ("", "<div>", ""),
        ("", "<!--", ""),
        ("", "<?", ""),
        ("", "<![CDATA[", ""),
        ("<a ", "a{} ", ">"),
        ("", '<a b="', ""),
        ("<script>", "</scrip", ""),
        (f"<form {TOOL}>", "<fieldset disabled>", "<input name=a>" * 100),
        (f"<form {TOOL}>", "<input name=a>", ""),
        (f"<form {TOOL}>", "<label>x<input name=a>", ""),
        ("&#", "9", ";"),
        ("<a b='&#", "9", ";'>"),
    ],
)
def test_hostile_markup_takes_linear_time(before: str, unit: str, after: str) -> None:
    def read(times: int) -> None:
        middle = "".join(unit.replace("{}", str(number)) for number in range(times))
        page = (before + middle + after).encode()
        assert isinstance(parse_page(page, url=URL), Parsed | Rejected)
        parse_links(page, url=URL)

    read(5_000)
    assert_linear(read, 300)


_pieces = st.sampled_from(
    [
        "<", ">", "/", "=", '"', "'", " ", "&", "&#x", "&amp;", "<!--", "-->", "a", "\x00",
        "<form ", f"<form {TOOL}>", "</form>", "<input name=", "<select>", "</select>",
        "<option>", "<label>", "</label>", "<script>", "</script", "<template>", "<title>",
        "form=f", "type=radio", "navigator.modelContext", "\u20ac", "<fieldset>",
    ]
)  # fmt: skip


@given(st.lists(_pieces, max_size=25))
def test_any_markup_is_parsed_or_rejected(pieces: list[str]) -> None:
    body = "".join(pieces).encode()
    assert isinstance(parse_page(body, url=URL), Parsed | Rejected)
    parse_links(body, url=URL)
