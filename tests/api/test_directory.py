"""What the crawler says of itself: the page, the directory of its key, its addresses."""

import base64
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from litestar import Litestar
from litestar.di import Provide
from litestar.testing import AsyncTestClient

from crawler.__main__ import make_sign
from crawler.discovery.visit import VisitLimits
from crawler.frontier import allocation, schedule
from crawler.http.body import BodyLimits
from crawler.http.guard import RedirectRule, parse_target
from crawler.robots import robots_cache
from crawler.robots.robots_txt import parse_robots
from registry import keyring
from registry.errors import Refused
from registry.identity.keys.jwk import parse_jwks
from registry.identity.requests.message_signature import Message, verify_message
from registry.identity.requests.web_bot_auth import (
    DIRECTORY_COVERED,
    DIRECTORY_PATH,
    DIRECTORY_TAG,
    SignatureAgent,
)
from registry.interfaces.http.services import Bot
from registry.interfaces.web.pages import get_addresses, get_directory, show_bot
from registry.open_services import _bot
from registry.settings import Network, Settings
from tests.api import expect
from tests.api.running import RunningRegistry
from tests.unit.identity.fixed_keys import fixed_key

HOUR = timedelta(hours=1)
ORIGIN = "https://registry.example"
NOW = datetime(2026, 11, 22, 13, 30, tzinfo=UTC)
AGENT = SignatureAgent(origin=ORIGIN, key=fixed_key("Ed25519", "bot"))
NETWORKS = (ip_network("198.51.100.16/28"), ip_network("2001:db8:7::/48"))
USER_AGENT = Settings(public_url=ORIGIN).user_agent


@asynccontextmanager
async def opened(
    *,
    agent: SignatureAgent | None = None,
    networks: tuple[Network, ...] = (),
    contact: str = "",
) -> AsyncIterator[AsyncTestClient[Litestar]]:
    async def services() -> SimpleNamespace:
        return SimpleNamespace(
            bot=Bot(user_agent=USER_AGENT, networks=networks, agent=agent),
            clock=lambda: NOW,
            contact=contact,
        )

    app = Litestar(
        [get_addresses, get_directory, show_bot],
        dependencies={"services": Provide(services)},
        openapi_config=None,
        logging_config=None,
    )
    async with AsyncTestClient(app, base_url="http://127.0.0.1:8080") as client:
        yield client


@pytest.mark.parametrize("path", [DIRECTORY_PATH, "/bot.json"])
def test_what_is_not_set_is_not_there(http: httpx.Client, path: str) -> None:
    expect.problem(http.get(path), 404, "not_found")


async def test_the_directory_is_proved_for_the_registrys_own_authority() -> None:
    """Whatever Host the request names: another's would be signed away."""
    async with opened(agent=AGENT) as client:
        answer = await client.get(DIRECTORY_PATH, headers={"Host": "evil.example"})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == (
        "application/http-message-signatures-directory+json"
    )
    assert answer.headers["Cache-Control"] == "public, max-age=3600"
    assert [*answer.json()] == ["keys"]
    (published,) = answer.json()["keys"]
    expect.members(published, "kty crv kid x use")
    (key,) = parse_jwks(answer.content)
    assert published["kid"] == key.kid
    parameters = verify_message(
        Message(
            fields=dict(answer.headers),
            request=Message(derived={"@authority": "registry.example"}),
        ),
        tag=DIRECTORY_TAG,
        required=DIRECTORY_COVERED,
        key=key,
        now=int(NOW.timestamp()),
    )
    # What a cache keeps for an hour has to hold for longer.
    assert isinstance(parameters["expires"], int)
    assert parameters["expires"] > NOW.timestamp() + 3600
    digest = base64.b64encode(hashlib.sha256(answer.content).digest()).decode()
    assert answer.headers["Content-Digest"] == f"sha-256=:{digest}:"


async def test_a_directory_that_is_known_is_not_sent_again() -> None:
    async with opened(agent=AGENT) as client:
        first = await client.get(DIRECTORY_PATH)
        again = await client.get(
            DIRECTORY_PATH, headers={"If-None-Match": first.headers["ETag"]}
        )
    assert again.status_code == 304
    assert again.content == b""
    assert again.headers["Signature"]


async def test_addresses_are_listed_in_the_form_that_crawlers_have_in_common() -> None:
    async with opened(networks=NETWORKS) as client:
        answer = await client.get("/bot.json")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json() == {
        "creationTime": "2026-11-22T00:00:00Z",
        "prefixes": [
            {"ipv4Prefix": "198.51.100.16/28"},
            {"ipv6Prefix": "2001:db8:7::/48"},
        ],
    }


def test_the_lines_for_robots_txt_do_what_the_page_says(http: httpx.Client) -> None:
    shown = re.findall(r"<pre><code>([^<]*)</code></pre>", http.get("/bot").text)
    whole, part = (parse_robots(text.encode(), "FairRegistryBot") for text in shown)
    part.verify("https://shop.test/")
    for robots, path in ((whole, "/"), (part, "/api/wab/ping")):
        with pytest.raises(Refused):
            robots.verify(f"https://shop.test{path}")


def test_the_page_says_who_the_crawler_is_and_no_more(
    registry: RunningRegistry,
) -> None:
    page = registry.http.get("/bot")
    assert page.status_code == 200
    assert f"FairRegistryBot/1.0 (+{registry.origin}/bot)" in page.text
    assert "Not published." in page.text
    assert "There is no proof" in page.text
    assert DIRECTORY_PATH not in page.text
    assert "/bot.json" not in page.text


def test_the_figures_of_the_page_are_the_crawlers(http: httpx.Client) -> None:
    page = " ".join(http.get("/bot").text.split())
    visit, body = VisitLimits(), BodyLimits()
    pause = f"{schedule.MIN_RETRY_AFTER.seconds} seconds and "
    backoff = f"{schedule.MIN_BACKOFF.seconds} seconds to "
    for figure in (
        f"serves for at most {robots_cache.MAX_AGE_S / 3600:.0f} hours",
        f"every {schedule.REPROOF_INTERVAL.days} days after that",
        f"every {allocation.MIN_RECRAWL // HOUR} hours to {allocation.MAX_RECRAWL.days} days",
        f"at most {visit.requests} requests, {visit.at_once} at a time",
        f"Up to {RedirectRule().limit} are followed",
        f"between {pause}{schedule.MAX_RETRY_AFTER // HOUR} hours later",
        f"from {backoff}{schedule.MAX_BACKOFF // HOUR} hours",
        f"More than {body.wire_bytes // 1024} KiB, or {body.decoded_bytes // 1024} KiB",
    ):
        assert figure in page
    assert schedule.REPROOF_STRIKES == 3
    assert timedelta(days=1) == schedule.REPROOF_RETRY


def test_the_service_shows_the_key_that_the_crawler_signs_with(tmp_path: Path) -> None:
    settings = Settings(
        data=tmp_path, public_url=ORIGIN, bot_auth=True, bot_addresses="192.0.2.0/28"
    )
    keyring.create_keyring(settings.keys, settings.log_origin)
    bot = _bot(settings)
    assert bot.agent is not None
    shown = bot.agent.directory
    sign = make_sign(settings)
    assert sign is not None
    signed = sign(parse_target("https://shop.test/", allow_test=True))
    assert parse_jwks(shown)[0].kid in signed["Signature-Input"]
    assert bot.networks == (ip_network("192.0.2.0/28"),)
    assert _bot(Settings(data=tmp_path / "nowhere")).agent is None


async def test_the_page_shows_what_is_set() -> None:
    async with opened(
        agent=AGENT, networks=NETWORKS, contact="mailto:a@b.example"
    ) as client:
        page = (await client.get("/bot")).text
    assert f'href="{DIRECTORY_PATH}"' in page
    assert 'href="/bot.json"' in page
    assert "<code>198.51.100.16/28</code>" in page
    assert "<code>2001:db8:7::/48</code>" in page
    assert 'href="mailto:a@b.example">a@b.example</a>' in page
    assert "Not published." not in page
    assert "There is no proof" not in page


async def test_the_page_claims_no_more_proof_than_there_is() -> None:
    async with opened(networks=NETWORKS) as client:
        by_address = (await client.get("/bot")).text
    async with opened(agent=AGENT) as client:
        by_signature = (await client.get("/bot")).text
    assert DIRECTORY_PATH not in by_address
    assert "addresses above" in by_address
    assert DIRECTORY_PATH in by_signature
    assert "addresses above" not in by_signature
    assert "Not published." in by_signature
