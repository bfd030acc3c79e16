"""The registry as a site of the demo's town: read like any other, ranked like any other."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.demo.town.house import HttpRequest, Reply
from registry.demo.town.member import CAST
from registry.demo.town.registry_house import REGISTRY, REGISTRY_URLS, RegistryHouse
from registry.demo.town.server import Town
from registry.formats.inspection import inspect
from registry.identity.keys.jwk import parse_jwks
from registry.identity.keys.key_source import KEY_SET_PATH
from registry.identity.keys.private_keys import public_key_of
from registry.interfaces.discovery.own_site import own_site
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY as P
from registry.ranking.profile import Profile, make_profile
from registry.ranking.quality import ProbeFigures
from tests.api.running import RunningRegistry

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


async def ask(house: RegistryHouse, path: str, **other: str) -> Reply:
    members = {"method": "GET", "host": REGISTRY.host, **other}
    return await house.reply(HttpRequest(path=path, **members), NOW)


async def test_documents_of_the_running_registry_are_strict_at_its_host_in_the_town(
    registry: RunningRegistry,
) -> None:
    house = RegistryHouse(KEY, NOW, registry.origin)
    formats = set()
    for url in REGISTRY_URLS:
        reply = await ask(house, url.removeprefix(REGISTRY.url.rstrip("/")))
        fields = dict(reply.headers)
        report = inspect(reply.body, url=url, content_type=fields["Content-Type"])
        assert report.document is not None
        assert (report.deviations, report.conflicts) == ((), ())
        formats.add(report.format)
        assert b"127.0.0.1" not in reply.body
    assert formats == {"wab", "awp", "awas", "abp", "webmcp"}


async def test_a_front_hands_on_what_is_read_and_nothing_else(
    registry: RunningRegistry,
) -> None:
    house = RegistryHouse(KEY, NOW, registry.origin)
    assert b'"status":"ok"' in (await ask(house, "/api/wab/ping")).body
    assert b'"limit"' in (await ask(house, "/v1/search", query="limit=x&q=a")).body
    assert (await ask(house, "/v1/challenges", method="POST")).status == 405
    assert (await ask(house, "/", host="other.test")).status == 421
    first = dict((await ask(house, "/agent.json")).headers)
    again = await ask(house, "/agent.json", if_none_match=first["ETag"])
    assert (again.status, again.body) == (304, b"")
    house.publish_keys([public_key_of(KEY)])
    assert parse_jwks((await ask(house, KEY_SET_PATH)).body) == (public_key_of(KEY),)


async def test_a_front_without_a_registry_behind_it_says_so() -> None:
    house = RegistryHouse(KEY, NOW, "http://127.0.0.1:1")
    assert (await ask(house, "/agent.json")).status == 502


def profile(host: str) -> Profile:
    return make_profile(
        own_site(f"https://{host}"),
        encoder=load_encoder(),
        policy=P,
        site_id=1,
        publisher=1,
        host=host,
        registrable_domain=host,
        formats=("wab",),
        place=None,
        probes=ProbeFigures(),
        changed_at=NOW,
    )


@pytest.mark.parametrize("host", ["registry.example", "registry.net"])
def test_the_ranker_sees_of_the_registry_what_it_sees_of_anybody(host: str) -> None:
    assert profile(REGISTRY.host) == profile(host)


def test_the_registrys_own_name_counts_for_nothing_as_anybodys() -> None:
    ours, other = profile(REGISTRY.host), profile("larder.test")
    assert set(other.site_terms) - set(ours.site_terms) == {"registri"}
    assert ours.quality == other.quality
    assert ours.capability_depth == other.capability_depth


def test_the_registry_joins_a_town_only_where_one_is_named(tmp_path: Path) -> None:
    alone = Town.build(tmp_path / "a", CAST[:1])
    joined = Town.build(tmp_path / "b", CAST[:1], registry="http://127.0.0.1:1")
    assert [site.host for site in alone.sites] == [CAST[0].host]
    site = joined.site(REGISTRY.host)
    assert (site.document_urls, site.story) == (REGISTRY_URLS, "honest")
