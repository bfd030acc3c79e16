from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.formats.reading.call_targets import (
    is_off_origin,
    is_private_target,
    resolve_target,
)

BASE = "https://shop.example/agent.json"
LOOPBACK = (
    "http://127.0.0.1:8010/x",
    "http://localhost:6002/",
    "https://shop.localhost./",
    "ws://[::1]/x",
    "https://[::ffff:127.0.0.1]/",
    "https://127.1/",
    "https://0x7f000001/",
    "https://2130706433/",
    "https://0177.0.0.1/",
    "https://%31%32%37.0.0.1/",
    "https://127\u30020.0.1/",
)
PRIVATE = (
    *LOOPBACK,
    "https://169.254.169.254/latest",
    "https://10.0.0.1/x",
    "https://192.168.1.1:8443/x",
    "https://172.16.0.1/",
    "https://100.64.0.1/",
    "https://0.0.0.0/",
    "https://[fe80::1%25eth0]/",
    "https://[fd00::1]/",
    "https://[64:ff9b::a00:1]/",
    "wss://printer.local/x",
    "https://metadata.google.internal/",
    "https://router.lan/",
    "https://nas.home.arpa/",
    "https://intranet/",
    "https://1.2.3.4.5/",
)


@pytest.mark.parametrize(
    ("declared", "url"),
    [
        ("/api", "https://shop.example/api"),
        ("api/{id}", "https://shop.example/api/{id}"),
        ("//cdn.example/x", "https://cdn.example/x"),
        ("https://other.example/x", "https://other.example/x"),
        ("wss://shop.example/ws", "wss://shop.example/ws"),
        (" /padded ", "https://shop.example/padded"),
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
        *PRIVATE,
    ],
)
def test_targets_that_agents_must_not_follow_are_dropped(declared: str) -> None:
    assert resolve_target(declared, base=BASE) is None


@pytest.mark.parametrize("declared", PRIVATE)
def test_private_targets_are_told_from_those_of_a_wrong_scheme(declared: str) -> None:
    assert is_private_target(declared, base=BASE)
    assert not is_private_target("tel:+431234567", base=BASE)
    assert not is_private_target("http://shop.example/", base=BASE)


@pytest.mark.parametrize("declared", LOOPBACK)
def test_development_calls_this_machine_and_no_other_network(declared: str) -> None:
    assert resolve_target(declared, base=BASE, allow_loopback=True) == declared
    others = (target for target in PRIVATE if target not in LOOPBACK)
    for other in others:
        assert resolve_target(other, base=BASE, allow_loopback=True) is None


def test_paths_below_a_private_base_lead_nowhere() -> None:
    base = "http://127.0.0.1:8010/agent.json"
    assert resolve_target("/x", base=base) is None
    assert resolve_target("/x", base=base, allow_loopback=True) == (
        "http://127.0.0.1:8010/x"
    )


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
