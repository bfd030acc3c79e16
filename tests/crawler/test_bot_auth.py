"""A server that verifies what the crawler sends, with the key of the directory."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from crawler.__main__ import make_sign
from crawler.http.bot_auth import BotAuth
from crawler.http.exchange import Wanted
from crawler.http.fetch import Fetcher
from crawler.http.head import ANY_TYPE
from crawler.robots.robots_cache import RobotsCache
from registry.errors import Refused
from registry.identity.keys.jwk import parse_jwks
from registry.identity.requests.message_signature import Message, verify_message
from registry.identity.requests.structured_fields import Parameters
from registry.identity.requests.web_bot_auth import REQUEST_TAG, SignatureAgent
from registry.settings_reader import read_settings
from registry.usecases.ids import IdSource
from tests.crawler.net import HOST, HonestSite, Net, Page, Request
from tests.unit.identity.fixed_keys import fixed_key

WWW = f"www.{HOST}"
NOW = 1_800_000_000
SIGNATURE = {"signature", "signature-input", "signature-agent"}
AGENT = SignatureAgent(
    origin="https://registry.example", key=fixed_key("Ed25519", "bot")
)


def signing(net: Net) -> Fetcher:
    ids = IdSource(clock=lambda: datetime.fromtimestamp(NOW, UTC))
    config = replace(net.fetcher().config, sign=BotAuth(AGENT, ids).sign)
    return Fetcher(config)


def verify(request: Request, host: str) -> Parameters:
    """Raises: Refused."""
    (key,) = parse_jwks(AGENT.directory)
    return verify_message(
        Message(derived={"@authority": host}, fields=request.headers),
        tag=REQUEST_TAG,
        required=AGENT.covered,
        key=key,
        now=NOW,
    )


async def test_a_server_can_verify_who_asks(net: Net) -> None:
    site = HonestSite({"/a": Page()})
    await net.serve(site)
    await signing(net).fetch(f"https://{HOST}/a", Wanted(accept=ANY_TYPE))
    (request,) = site.requests
    assert request.headers["host"] == HOST
    assert verify(request, HOST)["created"] == NOW


async def test_no_two_requests_bear_the_same_signature(net: Net) -> None:
    site = HonestSite({"/a": Page()})
    await net.serve(site)
    for _ in range(2):
        await signing(net).fetch(f"https://{HOST}/a", Wanted(accept=ANY_TYPE))
    first, second = (verify(request, HOST)["nonce"] for request in site.requests)
    assert first != second


async def test_where_a_redirect_leads_gets_a_signature_of_its_own(net: Net) -> None:
    here, there = HonestSite(), HonestSite({"/a": Page()})
    moved = {"Location": f"https://{WWW}/a"}
    here.pages["/a"] = Page(status="301 Moved", headers=moved)
    await net.serve(here, HOST)
    await net.serve(there, WWW)
    await signing(net).fetch(f"https://{HOST}/a", Wanted(accept=ANY_TYPE))
    (query,), (led,) = here.requests, there.requests
    verify(query, HOST)
    verify(led, WWW)
    with pytest.raises(Refused):
        verify(query, WWW)
    with pytest.raises(Refused):
        verify(led, HOST)


async def test_robots_txt_is_asked_for_with_a_signature_too(net: Net) -> None:
    site = HonestSite({"/robots.txt": Page(b"", "text/plain")})
    await net.serve(site)
    await RobotsCache(signing(net)).robots_of(HOST)
    (request,) = site.requests
    assert request.path == "/robots.txt"
    verify(request, HOST)


async def test_without_the_setting_nothing_is_signed(net: Net) -> None:
    site = HonestSite({"/a": Page()})
    await net.serve(site)
    await net.fetcher().fetch(f"https://{HOST}/a", Wanted(accept=ANY_TYPE))
    assert not SIGNATURE & site.requests[0].headers.keys()
    assert make_sign(read_settings({})) is None
