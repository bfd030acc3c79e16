from collections.abc import Iterable
from ipaddress import IPv4Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.__main__ import make_resolver
from crawler.http.guard import (
    RedirectRule,
    Target,
    decide_redirect,
    parse_target,
    verify_address,
)
from registry.errors import Refused
from registry.settings import Settings


def table(first: str, cases: Iterable[tuple[object, ...]]) -> list[Any]:
    """Cases named U1-http, U2-file, … by their place in the table and their name."""
    letter = first.rstrip("0123456789")
    number = int(first.removeprefix(letter))
    return [
        pytest.param(*case, id=f"{letter}{number + place}-{name}")
        for place, (name, *case) in enumerate(cases)
    ]


LABEL_64 = "a" * 64
URLS = table(
    "U1",
    [
        ("http", "http://shop.io/", "scheme"),
        ("file", "file:///etc/passwd", "scheme"),
        ("gopher", "gopher://shop.io/", "scheme"),
        ("ftp", "ftp://shop.io/", "scheme"),
        ("data", "data:text/plain,hi", "scheme"),
        ("no-scheme", "//shop.io/a", "scheme"),
        ("javascript", "javascript:alert(1)", "scheme"),
        ("user-and-password", "https://user:pw@shop.io/", "userinfo"),
        ("user-alone", "https://shop.io@127.0.0.1/", "userinfo"),
        ("loopback-v4", "https://127.0.0.1/", "ip_literal"),
        ("loopback-v6", "https://[::1]/", "ip_literal"),
        ("mapped-v6", "https://[::ffff:127.0.0.1]/", "ip_literal"),
        ("scoped-v6", "https://[fe80::1%25eth0]/", "ip_literal"),
        ("short-form", "https://127.1/", "ip_literal"),
        ("decimal", "https://2130706433/", "ip_literal"),
        ("hex", "https://0x7f000001/", "ip_literal"),
        ("octal", "https://0177.0.0.1/", "ip_literal"),
        ("mixed-radix", "https://0x7f.0.0.0x1/", "ip_literal"),
        ("fullwidth-digits", "https://１２７.0.0.1/", "ip_literal"),  # noqa: RUF001
        ("ideographic-dots", "https://127。0。0。1/", "ip_literal"),
        ("circled-digits", "https://①②⑦.0.0.①/", "ip_literal"),
        ("ends-in-hex", "https://shop.0x10/", "ip_literal"),
        ("localhost", "https://localhost/", "special_tld"),
        ("below-localhost", "https://foo.localhost/", "special_tld"),
        ("cloud-metadata", "https://metadata.google.internal/", "special_tld"),
        ("local", "https://printer.local/", "special_tld"),
        ("onion", "https://x.onion/", "special_tld"),
        ("home-arpa", "https://router.home.arpa/", "special_tld"),
        ("single-label", "https://intranet/", "special_tld"),
        ("trailing-dot", "https://shop.io./", "trailing_dot"),
        ("empty-label", "https://shop..io/", "host_form"),
        ("leading-hyphen", "https://-shop.io/", "host_form"),
        ("underscore", "https://sh_op.io/", "idna"),
        ("label-of-64", f"https://{LABEL_64}.io/", "host_form"),
        ("name-of-263", f"https://{'a.' * 130}io/", "host_form"),
        ("ssh", "https://shop.io:22/", "port"),
        ("postgres", "https://shop.io:5432/", "port"),
        ("beyond-65535", "https://shop.io:99999/", "port"),
        ("port-zero", "https://shop.io:0/", "port"),
        ("empty-port", "https://shop.io:/", "port"),
        ("http-port", "https://shop.io:80/", "port"),
        ("backslash-at", "https://shop.io\\@127.0.0.1/", "url_chars"),
        ("crlf", "https://shop.io/\r\nX: y", "url_chars"),
        ("space", "https://shop.io/a b", "url_chars"),
        ("tab-in-host", "https://sh\top.io/", "url_chars"),
        ("leading-space", " https://shop.io/", "url_chars"),
        ("zero-width-space", "https://sh\u200bop.io/", "url_chars"),
        ("bidi-override", "https://shop.io/\u202egnp.exe", "url_chars"),
        ("escaped-dot", "https://shop%2eio/", "host_escape"),
        ("escaped-nul", "https://shop.io%00.evil.com/", "host_escape"),
        ("bad-escape", "https://shop.io/%zz", "url_chars"),
        ("fragment", "https://shop.io/#frag", "fragment"),
        ("empty-fragment", "https://shop.io/#", "fragment"),
        ("no-host", "https:///path", "no_host"),
        ("3000-characters", f"https://shop.io/{'a' * 3000}", "url_length"),
        ("suffix-co-uk", "https://co.uk/", "public_suffix"),
        ("suffix-github-io", "https://github.io/", "public_suffix"),
        ("suffix-com", "https://com/", "public_suffix"),
        ("unknown-tld", "https://shop.nosuchtld/", "public_suffix"),
        ("xn--a", "https://xn--a/", "idna"),
        ("xn--shop-", "https://xn--shop-.io/", "host_form"),
        # beyond the table
        ("dot-segments", "https://shop.io/a/../b", "url_chars"),
        ("escaped-dot-segments", "https://shop.io/a/%2E%2e/b", "url_chars"),
        ("path-nul", "https://shop.io/%00", "url_chars"),
        ("fullwidth-port", "https://shop.io:４４３/", "port"),  # noqa: RUF001
        ("surrogate", "https://shop.io/\ud800", "url_chars"),
        ("open-bracket", "https://[::1/", "url_syntax"),
        ("bare-v6", "https://::1/", "no_host"),
        ("test-host", "https://shop.test/", "special_tld"),
        ("empty", "", "scheme"),
    ],
)


@pytest.mark.parametrize(("url", "code"), URLS)
def test_a_hostile_url_is_refused(url: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_target(url)
    assert refused.value.code == code


SOUND_URLS = table(
    "OK4",
    [
        ("upper-case-scheme", "HTTPS://shop.io/", "https://shop.io/"),
        ("upper-case-host", "https://SHOP.IO", "https://shop.io/"),
        ("sharp-s", "https://faß.de/", "https://xn--fa-hia.de/"),
        ("homograph", "https://аррӏе.com/", "https://xn--80ak6aa92e.com/"),  # noqa: RUF001
        ("default-port", "https://shop.io:443/a?b=c", "https://shop.io/a?b=c"),
    ],
)


@pytest.mark.parametrize(
    ("url", "normalised"),
    [
        *SOUND_URLS,
        ("https://xn--80ak6aa92e.com/", "https://xn--80ak6aa92e.com/"),
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
        (address or "empty", address)
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


SOUND_ADDRESSES = table(
    "OK1",
    [
        (address, address)
        for address in ("8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8")
    ],
)


@pytest.mark.parametrize("address", [*SOUND_ADDRESSES, "172.32.0.1"])
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
    [
        ("https://10.0.0.1/", "ip_literal"),
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


def test_a_redirect_may_be_allowed_to_leave_the_site() -> None:
    rule = RedirectRule(within="any")
    assert redirected("https://other.io/new", rule=rule).url == "https://other.io/new"
    with pytest.raises(Refused) as refused:
        redirected("https://10.0.0.1/", rule=rule)
    assert refused.value.code == "ip_literal"


def test_a_redirect_may_be_held_to_the_host() -> None:
    rule = RedirectRule(within="host")
    assert redirected("/new", rule=rule)
    with pytest.raises(Refused) as refused:
        redirected("https://shop.io/new", rule=rule)
    assert refused.value.code == "redirect_cross_site"


def test_they_are_those_that_a_setting_names() -> None:
    resolver = make_resolver(Settings(own_networks="203.0.113.0/24, 2001:db8::/32"))
    assert [str(network) for network in resolver.config.own_networks] == [
        "203.0.113.0/24",
        "2001:db8::/32",
    ]
