import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.formats.html.links import DiscoveryLink, parse_link_header, parse_links
from tests.unit.work import assert_linear

URL = "https://kiosk.example/index.html"


def _header(*values: str) -> list[tuple[str, str]]:
    return [(link.url, link.format) for link in parse_link_header(values, url=URL)]


# --- the head -------------------------------------------------------------------------


def test_discovery_links_are_found_in_either_attribute_order() -> None:
    page = b"""<!doctype html><html><head><link href="/abp.json" rel="abp-manifest">
    <link rel="ABP-manifest" href="/second.json"><meta content="/b.json"
    name="wab-discovery"><link rel="alternate ai-actions" href=/ai.json>
    <link rel=webmcp href="https://cdn.example/w.json"><link rel=webmcp href=/w2>
    <link rel=webmcp-manifest href=/w2><link rel=icon href=/i></head>"""
    assert parse_links(page, url=URL) == (
        DiscoveryLink("https://kiosk.example/abp.json", "abp"),
        DiscoveryLink("https://kiosk.example/b.json", "wab"),
        DiscoveryLink("https://kiosk.example/ai.json", "awas"),
        DiscoveryLink("https://cdn.example/w.json", "webmcp"),
        DiscoveryLink("https://kiosk.example/w2", "webmcp"),
    )


def test_an_abp_manifest_may_lie_on_another_origin() -> None:
    (link,) = parse_links(
        b'<link rel="abp-manifest" href="//app.example/m.json">', url=URL
    )
    assert link == DiscoveryLink("https://app.example/m.json", "abp")


def test_the_first_base_moves_the_links() -> None:
    page = b"""<base href=https://www.kiosk.example/a/><base href=https://x.example/>
    <link rel=webmcp href=w.json>"""
    (link,) = parse_links(page, url=URL)
    assert link.url == "https://www.kiosk.example/a/w.json"


@pytest.mark.parametrize(
    "page",
    [
        "<body><link rel=ai-actions href=/x>",
        "<head></head><link rel=ai-actions href=/x>",
        "<div><link rel=ai-actions href=/x>",
        "<head><p>Hello</p><link rel=ai-actions href=/x>",
        "<head><!-- <link rel=ai-actions href=/x> -->",
        "<head><template><link rel=ai-actions href=/x></template>",
        "<head><noscript><link rel=ai-actions href=/x></noscript>",
        "<head><title><link rel=ai-actions href=/x></title>",
        "<head>" + " " * 50_000 + "<link rel=ai-actions href=/x>",
        "<link rel=ai-actions href=javascript:x>",
        "<link rel=ai-actions href=http://kiosk.example/x>",
        "<link rel=ai-actions>",
        "<link rel=mcp href=/mcp><link rel=service-desc href=/openapi.json>",
        "<meta name=wab-discovery>",
        "<a rel=ai-actions href=/x>",
    ],
    ids=range(15),
)
def test_links_outside_the_head_or_unsafe_do_not_count(page: str) -> None:
    assert parse_links(page.encode(), url=URL) == ()


def test_a_page_has_at_most_twenty_links() -> None:
    page = "".join(f"<link rel=webmcp href=/{number}>" for number in range(30))
    assert len(parse_links(page.encode(), url=URL)) == 20


# --- Link headers ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("</w>; rel=webmcp", ["/w"]),
        ('</w>;rel="webmcp"', ["/w"]),
        ('</w> ; REL = "WebMCP"', ["/w"]),
        ('</w>; rel="alternate webmcp next"', ["/w"]),
        ("</a>; rel=webmcp, </b>; rel=webmcp", ["/a", "/b"]),
        ("</a>; rel=icon, </b>; rel=webmcp", ["/b"]),
        ('</a>; title="x, </b>; rel=webmcp"; rel=icon', []),
        ('</a>; title="say \\"hi\\", </b>"; rel=webmcp', ["/a"]),
        ("</a,b>; rel=webmcp", ["/a,b"]),
        ("</a>; rel=icon; rel=webmcp", []),
        ("</a>; type=x; crossorigin; rel=webmcp; x*=UTF-8''y", ["/a"]),
        (',, ,</a>; rel="webmcp",,', ["/a"]),
        ("nonsense, </a>; rel=webmcp", ["/a"]),
        ("</a>; rel=webmcp; anchor=/elsewhere", []),
        ("</a; rel=webmcp", []),
        ("<>; rel=webmcp", []),
        ("</a>; rel", []),
        ("</a>", []),
        ('</a>; rel="webmcp', ["/a"]),
        ("<javascript:x>; rel=webmcp", []),
        ("<http://kiosk.example/a>; rel=webmcp", []),
        ("", []),
        (';,<>="\\', []),
    ],
    ids=range(23),
)
def test_link_headers_are_read_as_rfc_8288_writes_them(
    value: str, expected: list[str]
) -> None:
    assert _header(value) == [
        (f"https://kiosk.example{path}", "webmcp") for path in expected
    ]


def test_all_relations_and_all_header_lines_count_but_one_abp_manifest() -> None:
    assert _header(
        '<https://app.example/m.json>; rel="abp-manifest"',
        "</second.json>; rel=abp-manifest, </ai.json>; rel=ai-actions",
        '</w>; rel="webmcp webmcp-manifest"',
        "</w>; rel=webmcp",
    ) == [
        ("https://app.example/m.json", "abp"),
        ("https://kiosk.example/ai.json", "awas"),
        ("https://kiosk.example/w", "webmcp"),
    ]


def test_a_header_has_at_most_twenty_links() -> None:
    assert len(_header(*[f"</{number}>; rel=webmcp" for number in range(30)])) == 20


@pytest.mark.parametrize(
    "unit",
    [
        "<",
        ">",
        '"',
        "\\",
        ",",
        ";",
        "; a",
        '; a="',
        "<a>;",
        " ",
        '"\\',
        "<a>; rel=webmcp,",
    ],
)
def test_hostile_headers_take_linear_time(unit: str) -> None:
    assert_linear(lambda times: parse_link_header([unit * times], url=URL), 300)


@given(st.lists(st.text(alphabet='<>;,="\\ arelwbmcp/:*\x00\xe4', max_size=60)))
def test_any_header_is_read_without_an_error(values: list[str]) -> None:
    for link in parse_link_header(values, url=URL):
        assert link.url.startswith("https://")
