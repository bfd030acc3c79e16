import pytest

from registry.sites.addresses import is_loopback_host, is_public_host


@pytest.mark.parametrize(
    "host",
    [
        *("shop.example", "8.8.8.8", "134744072", "0x8080808", "010.010.010.010"),
        *("8.8.2056", "2606:4700::1", "{tenant}.shop.example", "localhost.example"),
    ],
)
def test_hosts_that_the_public_can_reach(host: str) -> None:
    assert is_public_host(host)
    assert not is_loopback_host(host)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.1", "017700000001", "0x7f.0.0.0x1", "127.0.1", "LOCALHOST."],
)
def test_loopback_in_every_spelling(host: str) -> None:
    assert is_loopback_host(host)
    assert not is_public_host(host)


@pytest.mark.parametrize(
    "host",
    ["256.1.1.1", "1.2.3.256", "4294967296", "09.1.1.1", "1.2.3.4.5", "x.1", "0x"],
)
def test_numbers_that_are_no_public_address(host: str) -> None:
    assert not is_public_host(host)
    assert not is_loopback_host(host)
