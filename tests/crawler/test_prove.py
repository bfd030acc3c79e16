import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from crawler.control.control_evidence import FetchedKeys, PublishedPins, UnreadSource
from crawler.control.fetch_evidence import fetch_evidence
from registry.identity.keys.jwk import jwks_document
from registry.identity.keys.public_keys import PublicKey
from registry.sites.host import parse_host
from tests.crawler.net import HOST, HonestSite, Net, Page, silent

PATH = "/.well-known/agent-registry-keys.json"
SHOP = parse_host(HOST, test_hosts=True)


@pytest.fixture(scope="module")
def key() -> PublicKey:
    secret = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
    return PublicKey(alg="Ed25519", raw=secret.public_key().public_bytes_raw())


async def test_a_key_set_on_the_host_is_read(net: Net, key: PublicKey) -> None:
    page = Page(jwks_document([key]), "application/jwk-set+json")
    await net.serve(HonestSite({PATH: page}))
    evidence = await fetch_evidence(net.fetcher(), SHOP)
    result = evidence.find(key.kid)
    assert result == (evidence.key_set, key)
    assert result[0].source_url == f"https://{HOST}{PATH}"
    assert evidence.unread == ()


async def test_a_key_set_may_not_come_from_another_host(
    net: Net, key: PublicKey
) -> None:
    elsewhere = HonestSite({"/keys": Page(jwks_document([key]))})
    await net.serve(elsewhere, f"cdn.{HOST}")
    location = {"Location": f"https://cdn.{HOST}/keys"}
    moved = Page(b"", status="302 Found", headers=location)
    await net.serve(HonestSite({PATH: moved}))
    evidence = await fetch_evidence(net.fetcher(), SHOP)
    assert isinstance(evidence.key_set, UnreadSource)
    assert evidence.key_set.problem.code == "redirect_cross_site"
    assert elsewhere.paths == []


@pytest.mark.parametrize(
    ("page", "code"),
    [
        (Page(status="404 Not Found"), "status"),
        (Page(status="500 Oops"), "status"),
        (Page(b"<html>", "text/html"), "content_type"),
    ],
)
async def test_keys_that_can_not_be_read_are_not_keys_that_are_gone(
    net: Net, page: Page, code: str
) -> None:
    await net.serve(HonestSite({PATH: page}))
    evidence = await fetch_evidence(net.fetcher(), SHOP)
    assert isinstance(evidence.key_set, UnreadSource)
    assert evidence.key_set.problem.code == code


async def test_an_empty_key_set_was_read(net: Net, key: PublicKey) -> None:
    await net.serve(HonestSite({PATH: Page(b'{"keys":[]}')}))
    evidence = await fetch_evidence(net.fetcher(), SHOP)
    assert isinstance(evidence.key_set, FetchedKeys)
    assert evidence.key_set.keys == ()
    assert evidence.find(key.kid) is None


async def test_keys_and_pins_stand_in_the_dns(net: Net, key: PublicKey) -> None:
    pk = base64.b64encode(key.raw).decode()
    server = await net.serve_dns(
        {
            f"_wab.{HOST}": [f"v=wab1; path=/wab; pk=ed25519:{pk}", "spf1 -all"],
            f"_agent-registry.{HOST}": [f"v=ar1; kid={key.kid}"],
        }
    )
    await net.serve(HonestSite())
    evidence = await fetch_evidence(net.fetcher(dns_server=server), SHOP)
    result = evidence.find(key.kid)
    assert result == (evidence.wab_record, key)
    assert result[0].source_url == f"dns:_wab.{HOST}?type=TXT"
    assert isinstance(evidence.pins, PublishedPins)
    assert evidence.pins.kids == {key.kid}


async def test_a_dns_without_the_records_was_read(net: Net) -> None:
    server = await net.serve_dns({})
    await net.serve(HonestSite())
    evidence = await fetch_evidence(net.fetcher(dns_server=server), SHOP)
    assert isinstance(evidence.wab_record, FetchedKeys)
    assert isinstance(evidence.pins, PublishedPins)
    assert evidence.pins.kids == frozenset()


@pytest.mark.parametrize(
    ("expected", "code"),
    [(None, "dns_timeout"), ("", "dns_failed"), (["v=wab1; pk=x"], "")],
)
async def test_a_dns_that_fails_leaves_the_records_unread(
    net: Net, expected: list[str] | None, code: str
) -> None:
    server = await net.serve_dns({f"_wab.{HOST}": expected})
    await net.serve(HonestSite())
    evidence = await fetch_evidence(net.fetcher(dns_server=server), SHOP)
    assert isinstance(evidence.wab_record, UnreadSource)
    assert evidence.wab_record.problem.code == (code or "wab_record_malformed")
    assert not code or f"_wab.{HOST} could" in evidence.wab_record.problem.detail


async def test_key_set_that_takes_longer_than_it_may_is_worth_another_try(
    net: Net,
) -> None:
    await net.serve(silent)
    evidence = await fetch_evidence(net.fetcher(), SHOP, key_set_s=0.1)
    assert isinstance(evidence.key_set, UnreadSource)
    assert evidence.key_set.problem.code == "deadline"
    assert evidence.key_set.may_pass
