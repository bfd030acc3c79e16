import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.sites.host import Host, parse_host


@pytest.mark.parametrize(
    ("text", "name", "registrable_domain"),
    [
        ("shop.io", "shop.io", "shop.io"),
        ("SHOP.IO", "shop.io", "shop.io"),
        ("a.b.shop.co.uk", "a.b.shop.co.uk", "shop.co.uk"),
        ("me.github.io", "me.github.io", "me.github.io"),
        ("faß.de", "xn--fa-hia.de", "xn--fa-hia.de"),
        ("BÜCHER.de", "xn--bcher-kva.de", "xn--bcher-kva.de"),
        ("shop。io", "shop.io", "shop.io"),
        ("аррӏе.com", "xn--80ak6aa92e.com", "xn--80ak6aa92e.com"),  # noqa: RUF001
        ("пример.рф", "xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
    ],
)
def test_a_host_is_known_by_its_a_labels(
    text: str, name: str, registrable_domain: str
) -> None:
    assert parse_host(text) == Host(name, registrable_domain)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "no_host"),
        ("127.0.0.1", "ip_literal"),
        ("::1", "ip_literal"),
        ("[::1]", "ip_literal"),
        ("0x7f.1", "ip_literal"),
        ("shop.0", "ip_literal"),
        ("https://shop.io", "host_form"),
        ("shop.io/path", "host_form"),
        ("shop.io:443", "host_form"),
        ("me@shop.io", "host_form"),
        ("shop .io", "host_form"),
        ("shop..io", "host_form"),
        (".shop.io", "host_form"),
        ("-shop.io", "host_form"),
        ("shop-.io", "host_form"),
        ("a" * 64 + ".io", "host_form"),
        ("a." * 126 + "io", "host_form"),
        ("a" * 300, "host_form"),
        ("ü" * 60 + ".de", "idna"),
        ("sh%6fp.io", "host_escape"),
        ("shop.io.", "trailing_dot"),
        ("shop.io。", "trailing_dot"),
        ("sh_op.io", "idna"),
        ("sh\u00adop.io", "idna"),
        ("sh\u200bop.io", "idna"),
        ("xn--a.io", "idna"),
        ("xn---bbk.io", "idna"),
        ("ab--cd.io", "idna"),
        ("\ud800.io", "idna"),
        ("😀.io", "idna"),
        ("localhost", "special_tld"),
        ("shop.example", "special_tld"),
        ("shop.test", "special_tld"),
        ("test", "special_tld"),
        ("host.in-addr.arpa", "special_tld"),
        ("co.uk", "public_suffix"),
        ("github.io", "public_suffix"),
        ("com", "public_suffix"),
        ("shop.nosuchtld", "public_suffix"),
    ],
)
def test_what_is_no_public_host_is_refused(text: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_host(text)
    assert refused.value.code == code


def test_hosts_of_the_test_domain_pass_only_when_asked_for() -> None:
    host = parse_host("api.shop.test", test_hosts=True)
    assert host == Host("api.shop.test", "shop.test")
    with pytest.raises(Refused):
        parse_host("test", test_hosts=True)


def test_a_refusal_can_be_written_to_any_terminal() -> None:
    with pytest.raises(Refused) as refused:
        parse_host("\ud800/\u202e\x1b[31m.io")
    assert str(refused.value).isascii()


@given(st.text(max_size=60))
def test_any_text_is_refused_or_gives_a_host_that_parses_to_itself(text: str) -> None:
    for candidate in (text, f"{text}.de"):
        try:
            host = parse_host(candidate)
        except Refused:
            continue
        assert parse_host(host.name) == host
        assert host.name.endswith(host.registrable_domain)
