import pytest

from registry.errors import Refused
from registry.identity.keys.key_source import (
    key_set_url,
    pin_record_name,
    txt_record_url,
    verify_key_set_origin,
    wab_record_name,
)
from registry.sites.host import parse_host

HOST = parse_host("shop.example.co.uk")


def test_sources_are_named_after_the_host() -> None:
    assert key_set_url(HOST) == (
        "https://shop.example.co.uk/.well-known/agent-registry-keys.json"
    )
    assert wab_record_name(HOST) == "_wab.example.co.uk"
    assert pin_record_name(HOST) == "_agent-registry.shop.example.co.uk"
    assert txt_record_url("_wab.example.co.uk") == "dns:_wab.example.co.uk?type=TXT"


@pytest.mark.parametrize(
    "final_url",
    [
        key_set_url(HOST),
        "https://shop.example.co.uk/keys.json?v=2",
        "https://shop.example.co.uk:443/keys.json",
        "https://SHOP.example.co.uk/keys.json",
    ],
)
def test_a_redirect_within_the_host_is_followed(final_url: str) -> None:
    verify_key_set_origin(HOST, final_url)


@pytest.mark.parametrize(
    "final_url",
    [
        "https://evil.example.net/.well-known/agent-registry-keys.json",
        "https://www.shop.example.co.uk/keys.json",
        "https://example.co.uk/keys.json",
        "https://shop.example.co.uk.evil.example.net/keys.json",
        "https://shop.example.co.uk:8443/keys.json",
        "https://shop.example.co.uk@evil.example.net/",
        "https://shop.example.co.uk\\.evil.example.net/",
        "http://shop.example.co.uk/keys.json",
        "data:application/json,{}",
        "",
    ],
)
def test_a_key_set_from_elsewhere_is_refused(final_url: str) -> None:
    with pytest.raises(Refused) as caught:
        verify_key_set_origin(HOST, final_url)
    assert caught.value.code == "key_set_elsewhere"
