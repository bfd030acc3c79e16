"""Registrations decided by what real servers serve: what the owner is told."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from crawler.context import Context
from crawler.restraint.breakers import RULES, BreakerRule
from crawler.restraint.politeness import Politeness, PolitenessConfig
from crawler.tasks.registration import settle_registration
from registry.db.registration.registrations import Registration
from registry.identity.keys.jwk import jwks_document
from registry.identity.keys.key_source import KEY_SET_PATH
from registry.identity.statements.document_signature import sign_document
from tests.crawler.net import HonestSite, Net, Page
from tests.db.scene import NOON, Scene, SiteOwner, codes, wab

BRIDGE = "/agent-bridge.json"
BUSY = Page(b"", status="503 Service Unavailable")
MANIFEST = "/.well-known/mcp-manifest.json"


def json_page(content: object) -> Page:
    return Page(json.dumps(content).encode())


AWP = json_page(
    {
        "awp_version": "0.2",
        "domain": "shop.test",
        "intent": "Sell bread.",
        "actions": [{"id": "order_bread", "description": "Order bread."}],
    }
)


def altered(owner: SiteOwner) -> Page:
    """Changed after its owner has signed it."""
    assert isinstance(owner.key, Ed25519PrivateKey)
    return json_page(
        {**sign_document(wab(), owner.key, signed_at=NOON), "tier": "gold"}
    )


async def decide(
    scene: Scene,
    net: Net,
    owner: SiteOwner,
    pages: Mapping[str, Page],
    *,
    docs: tuple[str, ...] = (),
    record: str = "",
) -> Registration:
    """docs: paths that the registration names."""
    keys = Page(jwks_document([owner.public]))
    host = owner.host.name
    await net.serve(HonestSite({KEY_SET_PATH: keys, **pages}), host)
    server = await net.serve_dns({f"_wab.{host}": [record] if record else []})
    fetcher = net.fetcher(dns_server=server)
    context = scene.context(fetcher)
    named = [{"url": f"https://{host}{path}"} for path in docs]
    leased = await scene.lease(await scene.submit(owner, docs=named))
    await settle_registration(context, leased)
    return await scene.registration(leased)


@pytest.mark.parametrize("docs", [(BRIDGE,), ()], ids=["declared", "found"])
async def test_site_whose_only_document_was_altered_is_rejected(
    scene: Scene, net: Net, docs: tuple[str, ...]
) -> None:
    owner = SiteOwner()
    decided = await decide(scene, net, owner, {BRIDGE: altered(owner)}, docs=docs)
    assert (decided.status, codes(decided)) == (
        "rejected",
        ["document_signature_invalid"],
    )
    detail = decided.problems[0].detail
    assert detail.startswith(f"https://{owner.host.name}{BRIDGE}: ")


async def test_site_with_another_format_is_listed_without_the_altered_document(
    scene: Scene, net: Net
) -> None:
    owner = SiteOwner()
    pages = {BRIDGE: altered(owner), "/agent.json": AWP}
    decided = await decide(scene, net, owner, pages, docs=tuple(pages))
    assert (decided.status, codes(decided)) == (
        "active",
        ["document_signature_invalid"],
    )
    entry = await scene.entry(owner)
    assert [action.name for action in entry.site.actions] == ["order_bread"]


async def test_owner_is_told_of_a_reference_that_dangles(
    scene: Scene, net: Net
) -> None:
    pages = {
        "/agent.json": AWP,
        MANIFEST: json_page({"name": "x", "endpoints": {"actions": "/awas.json"}}),
    }
    decided = await decide(scene, net, SiteOwner(), pages)
    assert (decided.status, codes(decided)) == ("active", ["reference_dangling"])


async def test_owner_is_told_of_a_paused_record(scene: Scene, net: Net) -> None:
    record = "v=wab1; path=/agent-bridge; status=paused"
    pages = {"/agent.json": AWP, "/agent-bridge": json_page(wab())}
    decided = await decide(scene, net, SiteOwner(), pages, record=record)
    assert (decided.status, codes(decided)) == ("active", ["wab_record_paused"])


async def test_site_of_which_only_a_paused_record_tells_is_rejected_and_told(
    scene: Scene, net: Net
) -> None:
    record = "v=wab1; path=/agent-bridge; status=paused"
    pages = {"/agent-bridge": json_page(wab())}
    decided = await decide(scene, net, SiteOwner(), pages, record=record)
    assert (decided.status, codes(decided)) == ("rejected", ["document_missing"])
    assert "status=paused" in decided.problems[0].detail


async def test_places_merely_looked_at_in_passing_are_no_problems(
    scene: Scene, net: Net
) -> None:
    """`active` came with "status: https://shop.test/: the server answered 403"."""
    closed = Page(b"", status="403 Forbidden")
    pages = {"/agent.json": AWP, "/": closed, "/.well-known/mcp.json": closed}
    decided = await decide(scene, net, SiteOwner(), pages)
    assert (decided.status, codes(decided)) == ("active", [])


async def test_places_that_were_tried_are_named(scene: Scene, net: Net) -> None:
    closed = Page(b"", status="403 Forbidden")
    decided = await decide(scene, net, SiteOwner(), {"/": closed})
    (problem,) = decided.problems
    assert problem.code == "document_missing"
    for path in ("/agent-bridge.json", "/agent.json", "/.well-known/webmcp"):
        assert f" {path}," in problem.detail
    assert "/ (the server answered 403)" in problem.detail


WAITS = {
    "of our own": PolitenessConfig(
        rules={**RULES, "host": replace(RULES["host"], opens_at=1, min_open_s=1800)}
    ),
    "too long": PolitenessConfig(
        rules={
            **RULES,
            "host": BreakerRule(opens_at=1, min_open_s=9000, max_open_s=9000),
        }
    ),
}


async def submitted_down(
    scene: Scene, net: Net, config: PolitenessConfig
) -> tuple[Context, Registration]:
    """A statement of a host that answers nothing, tried once: its circuit is open."""
    owner = SiteOwner()
    await net.serve(HonestSite({KEY_SET_PATH: BUSY}), owner.host.name)
    fetcher = net.fetcher(
        dns_server=await net.serve_dns({}),
        politeness=Politeness(config, draw=lambda: 1.0, monotonic=lambda: 0.0),
    )
    context = scene.context(fetcher)
    leased = await scene.lease(await scene.submit(owner))
    await settle_registration(context, leased)
    scene.clock.advance(minutes=1)
    return context, await scene.lease(leased)


async def test_open_circuit_is_tried_again_when_it_says_and_not_before(
    scene: Scene, net: Net
) -> None:
    context, leased = await submitted_down(scene, net, WAITS["of our own"])
    await settle_registration(context, leased)
    query = "SELECT due_at FROM registry.registration WHERE registration_id = :id"
    (row,) = await scene.sql(query, id=leased.registration_id)
    assert row.due_at == scene.clock() + timedelta(seconds=1800)
    waiting = await scene.registration(leased)
    assert (waiting.status, codes(waiting)) == ("verifying", ["key_not_published"])
    assert (
        f"asked again from {row.due_at:%H:%M:%S} UTC on" in waiting.problems[0].detail
    )


async def test_who_would_wait_for_hours_is_told_so_at_once(
    scene: Scene, net: Net
) -> None:
    context, leased = await submitted_down(scene, net, WAITS["too long"])
    await settle_registration(context, leased)
    decided = await scene.registration(leased)
    assert (decided.status, codes(decided)) == ("rejected", ["key_not_published"])
    assert "is asked again in 9000 s" in decided.problems[0].detail


async def test_server_that_asks_for_time_gets_it(scene: Scene, net: Net) -> None:
    busy = replace(BUSY, headers={"Retry-After": "120"})
    decided = await decide(scene, net, SiteOwner(), {BRIDGE: busy}, docs=(BRIDGE,))
    assert decided.status == "verifying"
    query = "SELECT due_at FROM registry.registration WHERE registration_id = :id"
    (row,) = await scene.sql(query, id=decided.registration_id)
    assert row.due_at == scene.clock() + timedelta(seconds=120)
    assert codes(decided) == ["status"], "the owner sees why it takes so long"


BYSTANDER = "bystander.test"
MANIFEST_OF_BYSTANDER = f"https://{BYSTANDER}{BRIDGE}"


async def leech(
    scene: Scene, net: Net, document: object, docs: list[str]
) -> tuple[SiteOwner, HonestSite, Registration]:
    """A host without a document of its own, which names those of a bystander."""
    owner, bystander = SiteOwner(), HonestSite({BRIDGE: json_page(document)})
    keys = Page(jwks_document([owner.public]))
    await net.serve(HonestSite({KEY_SET_PATH: keys}), owner.host.name)
    await net.serve(bystander, BYSTANDER)
    context = scene.context(net.fetcher(dns_server=await net.serve_dns({})))
    named = [{"url": url} for url in docs]
    leased = await scene.lease(await scene.submit(owner, docs=named))
    await settle_registration(context, leased)
    return owner, bystander, await scene.registration(leased)


async def test_site_is_not_listed_with_the_document_of_a_bystander(
    scene: Scene, net: Net
) -> None:
    owner, _, decided = await leech(scene, net, wab(), [MANIFEST_OF_BYSTANDER])
    assert (decided.status, codes(decided)) == ("rejected", ["document_elsewhere"])
    (problem,) = decided.problems
    assert MANIFEST_OF_BYSTANDER in problem.detail
    assert owner.host.name in problem.detail
    assert "Serve it on the site's own host" in problem.fix


async def test_document_on_another_host_counts_where_it_names_the_site(
    scene: Scene, net: Net
) -> None:
    owner = SiteOwner()
    document = wab(provider={"name": "Alder", "domain": owner.host.name})
    keys = Page(jwks_document([owner.public]))
    await net.serve(HonestSite({KEY_SET_PATH: keys}), owner.host.name)
    await net.serve(HonestSite({BRIDGE: json_page(document)}), BYSTANDER)
    context = scene.context(net.fetcher(dns_server=await net.serve_dns({})))
    docs = [{"url": MANIFEST_OF_BYSTANDER}]
    leased = await scene.lease(await scene.submit(owner, docs=docs))
    await settle_registration(context, leased)
    assert (await scene.registration(leased)).status == "active"


async def test_statement_sends_the_crawler_to_few_other_hosts(
    scene: Scene, net: Net
) -> None:
    docs = [f"https://{BYSTANDER}/{number}.json" for number in range(8)]
    _, bystander, decided = await leech(scene, net, wab(), docs)
    assert decided.status == "rejected"
    assert len(bystander.paths) == 3, "robots.txt and two documents"
