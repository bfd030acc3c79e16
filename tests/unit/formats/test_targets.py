from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.formats.reading.targets import is_off_origin, resolve_target

BASE = "https://shop.example/agent.json"


@pytest.mark.parametrize(
    ("declared", "url"),
    [
        ("/api", "https://shop.example/api"),
        ("api/{id}", "https://shop.example/api/{id}"),
        ("//cdn.example/x", "https://cdn.example/x"),
        ("https://other.example/x", "https://other.example/x"),
        ("wss://shop.example/ws", "wss://shop.example/ws"),
        (" /padded ", "https://shop.example/padded"),
        ("http://127.0.0.1:8010/x", "http://127.0.0.1:8010/x"),
    ],
)
def test_targets_become_absolute(declared: str, url: str) -> None:
    assert resolve_target(declared, base=BASE) == url


@pytest.mark.parametrize(
    "declared",
    [
        "",
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "tel:+431234567",
        "mailto:a@b.example",
        "local://wab/execute",
        "http://shop.example/plain",
        "ws://shop.example/plain",
        "https://user:pw@shop.example/",
        "https://shop.example@evil.example/",
        "\\\\evil.example/x",
        "/\\evil.example",
        "https://",
        "https:evil.example",
        "https:/evil.example",
        "https:///evil.example",
        "///evil.example",
        "https://[::1",
        "https://shop.example:99999/",
        "https://shop.example:0/",
        "https://a\u2100b.example/",
        "/" + "a" * 3_000,
    ],
)
def test_targets_that_agents_must_not_follow_are_dropped(declared: str) -> None:
    assert resolve_target(declared, base=BASE) is None


@pytest.mark.parametrize(
    ("url", "off"),
    [
        ("https://shop.example:443/x", False),
        ("wss://shop.example/x", False),
        ("https://SHOP.example/x", False),
        ("https://shop.example:8443/x", True),
        ("https://api.shop.example/x", True),
        ("https://[broken", True),
    ],
)
def test_another_host_or_port_is_off_origin(url: str, off: bool) -> None:
    assert is_off_origin(url, site_url=BASE) is off


@given(
    st.from_regex(r"(/[a-z0-9_{}~.%-]{0,3}){0,4}", fullmatch=True).filter(
        lambda path: not path.startswith("///")  # refused as it stands
    ),
    st.sampled_from(
        [
            "https://shop.example/a/b?c#d",
            "https://shop.example",
            "http://127.0.0.1:8080/x",
            "http://shop.example/",
            "javascript:x",
            "https://[::1/",
            "",
        ]
    ),
)
def test_a_plain_path_is_joined_as_any_other(path: str, base: str) -> None:
    try:
        joined = urljoin(base, path)
    except ValueError:
        joined = ""
    expected = resolve_target(joined, base="") if path.strip() else None
    assert resolve_target(path, base=base) == expected


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example.evil.example/",
        "https://shop.example:444/",
        "https://shop.example@evil.example/",
        "http://shop.example/",
    ],
)
def test_an_origin_that_only_begins_alike_is_another(url: str) -> None:
    assert is_off_origin(url, site_url="https://shop.example/")
