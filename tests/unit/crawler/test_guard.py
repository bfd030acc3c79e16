from collections.abc import Iterable
from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.guard import (
    RedirectRule,
    Target,
    decide_redirect,
    parse_target,
    verify_address,
)
from registry.errors import Refused


def table(first: str, cases: Iterable[tuple[object, ...]]) -> list[object]:
    """Cases named U1, U2, … by their place in the table."""
    letter, number = first[0], int(first[1:])
    return [
        pytest.param(*case, id=f"{letter}{number + place}")
        for place, case in enumerate(cases)
    ]


LABEL_64 = "a" * 64
URLS = table(
    "U1",
    [
        ("http://shop.io/", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("gopher://shop.io/", "scheme"),
        ("ftp://shop.io/", "scheme"),
        ("data:text/plain,hi", "scheme"),
        ("//shop.io/a", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("https://user:pw@shop.io/", "userinfo"),
        ("https://shop.io@127.0.0.1/", "userinfo"),
        ("https://127.0.0.1/", "ip_literal"),
        ("https://[::1]/", "ip_literal"),
        ("https://[::ffff:127.0.0.1]/", "ip_literal"),
        ("https://[fe80::1%25eth0]/", "ip_literal"),
        ("https://127.1/", "ip_literal"),
        ("https://2130706433/", "ip_literal"),
        ("https://0x7f000001/", "ip_literal"),
        ("https://0177.0.0.1/", "ip_literal"),
        ("https://0x7f.0.0.0x1/", "ip_literal"),
        ("https://１２７.0.0.1/", "ip_literal"),  # noqa: RUF001
        ("https://127。0。0。1/", "ip_literal"),
        ("https://①②⑦.0.0.①/", "ip_literal"),
        ("https://shop.0x10/", "ip_literal"),
        ("https://localhost/", "special_tld"),
        ("https://foo.localhost/", "special_tld"),
        ("https://metadata.google.internal/", "special_tld"),
        ("https://printer.local/", "special_tld"),
        ("https://x.onion/", "special_tld"),
        ("https://router.home.arpa/", "special_tld"),
        ("https://intranet/", "special_tld"),
        ("https://shop.io./", "trailing_dot"),
        ("https://shop..io/", "host_form"),
        ("https://-shop.io/", "host_form"),
        ("https://sh_op.io/", "idna"),
        (f"https://{LABEL_64}.io/", "host_form"),
        (f"https://{'a.' * 130}io/", "host_form"),
        ("https://shop.io:22/", "port"),
        ("https://shop.io:5432/", "port"),
        ("https://shop.io:99999/", "port"),
        ("https://shop.io:0/", "port"),
        ("https://shop.io:/", "port"),
        ("https://shop.io:80/", "port"),
        ("https://shop.io\\@127.0.0.1/", "url_chars"),
        ("https://shop.io/\r\nX: y", "url_chars"),
        ("https://shop.io/a b", "url_chars"),
        ("https://sh\top.io/", "url_chars"),
        (" https://shop.io/", "url_chars"),
        ("https://sh\u200bop.io/", "url_chars"),
        ("https://shop.io/\u202egnp.exe", "url_chars"),
        ("https://shop%2eio/", "host_escape"),
        ("https://shop.io%00.evil.com/", "host_escape"),
        ("https://shop.io/%zz", "url_chars"),
        ("https://shop.io/#frag", "fragment"),
        ("https://shop.io/#", "fragment"),
        ("https:///path", "no_host"),
        (f"https://shop.io/{'a' * 3000}", "url_length"),
        ("https://co.uk/", "public_suffix"),
        ("https://github.io/", "public_suffix"),
        ("https://com/", "public_suffix"),
        ("https://shop.nosuchtld/", "public_suffix"),
        ("https://xn--a/", "idna"),
        ("https://xn--shop-.io/", "host_form"),
        # beyond the table
        ("https://shop.io/a/../b", "url_chars"),
        ("https://shop.io/a/%2E%2e/b", "url_chars"),
        ("https://shop.io/%00", "url_chars"),
        ("https://shop.io:４４３/", "port"),  # noqa: RUF001
        ("https://shop.io/\ud800", "url_chars"),
        ("https://[::1/", "url_syntax"),
        ("https://::1/", "no_host"),
        ("https://shop.test/", "special_tld"),
        ("", "scheme"),
    ],
)


@pytest.mark.parametrize(("url", "code"), URLS)
def test_a_hostile_url_is_refused(url: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_target(url)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("url", "normalised"),
    [
        ("HTTPS://SHOP.IO", "https://shop.io/"),
        ("https://faß.de/", "https://xn--fa-hia.de/"),
        ("https://xn--80ak6aa92e.com/", "https://xn--80ak6aa92e.com/"),
        ("https://shop.io:443/a?b=c", "https://shop.io/a?b=c"),
        ("https://shop.io/ü?q=é", "https://shop.io/%C3%BC?q=%C3%A9"),
        ("https://shop.io/a%20b", "https://shop.io/a%20b"),
        ("https://shop.io/.well-known/x", "https://shop.io/.well-known/x"),
        ("https://a.b.shop.co.uk/...", "https://a.b.shop.co.uk/..."),
    ],
)
def test_a_sound_url_is_normalised(url: str, normalised: str) -> None:
    assert parse_target(url).url == normalised


def test_the_path_of_a_target_holds_the_query() -> None:
    target = parse_target("https://shop.io/a?b=c?d")
    assert (target.path, target.port) == ("/a?b=c?d", 443)


def test_a_test_host_passes_in_development_only() -> None:
    assert parse_target("https://shop.test/", allow_test=True).host.name == "shop.test"


def test_another_port_passes_where_it_is_allowed() -> None:
    target = parse_target("https://shop.io:8443/a", ports=(443, 8443))
    assert (target.url, target.port) == ("https://shop.io:8443/a", 8443)


@given(st.text(max_size=80))
def test_any_text_is_refused_or_gives_a_target_that_parses_again(text: str) -> None:
    for url in (text, f"https://{text}", f"https://shop.io/{text}"):
        try:
            target = parse_target(url)
        except Refused:
            continue
        assert target.url.isascii()
        assert parse_target(target.url) == target


ADDRESSES = table(
    "A1",
    [
        (address,)
        for address in (
            # IPv4, A1 to A24
            *("127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.1.2.3"),
            *("172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254"),
            *("169.254.170.2", "100.64.0.1", "100.100.100.200", "192.0.0.8"),
            *("192.0.0.170", "192.0.2.1", "192.88.99.1", "198.18.0.1"),
            *("198.51.100.1", "203.0.113.7", "224.0.0.1", "239.255.255.250"),
            *("240.0.0.1", "255.255.255.255", "168.63.129.16"),
            # IPv6, A25 to A49
            *("::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe"),
            *("::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
            *("64:ff9b:1::a00:1", "2002:7f00:1::1", "2001:0:4136:e378:8000:63bf::1"),
            *("2001:db8::1", "3fff::1", "fe80::1", "fe80::1%eth0", "fec0::1"),
            *("fc00::1", "fd00:ec2::254", "ff02::1", "ff0e::1", "100::1", "5f00::1"),
            *("4000::1", "2001:10::1", "2001:2::1"),
            # beyond the table
            *("", "localhost", "8.8.8.8%eth0", "2606:4700::1111%eth0", "127.1"),
        )
    ],
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    with pytest.raises(Refused) as refused:
        verify_address(address)
    assert refused.value.code == "address"


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "172.32.0.1"]
)
def test_a_public_address_passes(address: str) -> None:
    assert str(verify_address(address)) == address.removeprefix("::ffff:")


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_development_allows_loopback(address: str) -> None:
    assert verify_address(address, allow_loopback=True).is_loopback


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "169.254.169.254", "0.0.0.0", "fe80::1", "::1%lo"]
)
def test_development_allows_nothing_else(address: str) -> None:
    with pytest.raises(Refused):
        verify_address(address, allow_loopback=True)


def test_the_operators_own_networks_are_refused_though_public() -> None:
    with pytest.raises(Refused):
        verify_address("8.8.8.8", own_networks=[IPv4Network("8.8.8.0/24")])


HERE = parse_target("https://www.shop.io/dir/page")


def redirected(
    location: str, *, rule: RedirectRule | None = None, hops: int = 1
) -> Target:
    seen = [HERE.url, *(f"https://shop.io/{hop}" for hop in range(1, hops))]
    return decide_redirect(HERE, location, rule=rule or RedirectRule(), seen=seen)


@pytest.mark.parametrize(
    ("location", "code"),
    table(
        "R1",
        [
            ("https://10.0.0.1/", "ip_literal"),
            # R2, a name that resolves to a private address, is the resolver's
            ("https://[fd00::1]/", "ip_literal"),
            ("http://www.shop.io/", "scheme"),
            ("file:///etc/passwd", "scheme"),
            ("https://www.shop.io:6379/", "port"),
            ("https://other.io/", "redirect_cross_site"),
            ("https://user@www.shop.io/", "userinfo"),
            ("//169.254.169.254/latest/meta-data", "ip_literal"),
            ("https://www.shop.io/dir/page", "redirect_loop"),
            ("page", "redirect_loop"),
            ("", "redirect_no_location"),
            (f"/{'a' * 5000}", "url_length"),
            ("/a\nb", "url_chars"),
            ("//[", "url_syntax"),
            ("\\\\evil.io/", "url_chars"),
        ],
    ),
)
def test_a_hostile_redirect_is_refused(location: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        redirected(location)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/new", "https://www.shop.io/new"),
        ("new", "https://www.shop.io/dir/new"),
        ("../new", "https://www.shop.io/new"),
        ("https://shop.io/", "https://shop.io/"),
        ("//api.shop.io/x", "https://api.shop.io/x"),
    ],
)
def test_a_redirect_within_the_site_is_followed(location: str, url: str) -> None:
    assert redirected(location).url == url


def test_the_fourth_redirect_is_refused() -> None:
    assert redirected("/new", hops=3)
    with pytest.raises(Refused) as refused:
        redirected("/new", hops=4)
    assert refused.value.code == "redirect_limit"


def test_a_redirect_may_be_held_to_the_host() -> None:
    rule = RedirectRule(within="host")
    assert redirected("/new", rule=rule)
    with pytest.raises(Refused) as refused:
        redirected("https://shop.io/new", rule=rule)
    assert refused.value.code == "redirect_cross_site"
