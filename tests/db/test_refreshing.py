"""A refresh: whose word is taken, how often, and that it moves one crawl and no more."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

from registry.db.frontier import tasks
from registry.db.frontier.tasks import Task
from registry.errors import Conflict, Gone, NotFound, RateLimited, Refused
from registry.identity.keys.private_keys import generate_private_key
from registry.identity.statements.jws import REFRESH_TYP, sign_compact
from registry.sites.host import Host
from registry.usecases.sites.refresh import Refresh, RefreshAllowance, take_refresh
from tests.db.scene import AUDIENCE, LEASE, Scene, SiteOwner

ALLOWANCE = RefreshAllowance(interval=timedelta(minutes=10), burst=3)


def statement(site: SiteOwner, now: datetime, **members: Any) -> dict[str, Any]:
    iat = int(now.timestamp())
    claims = {"aud": AUDIENCE, "sub": site.host.name, "iat": iat, "exp": iat + 600}
    claims_ = {**claims, **members}
    return {name: value for name, value in claims_.items() if value is not None}


async def send(scene: Scene, token: str | bytes, host: Host) -> Refresh:
    async with scene.api.begin() as connection:
        return await take_refresh(
            connection,
            token.encode() if isinstance(token, str) else token,
            host,
            audience=AUDIENCE,
            allowance=ALLOWANCE,
            test_hosts=True,
            now=scene.clock(),
        )


async def refresh(scene: Scene, site: SiteOwner, **members: Any) -> Refresh:
    payload = statement(site, scene.clock(), **members)
    return await send(
        scene, sign_compact(payload, site.key, typ=REFRESH_TYP), site.host
    )


async def task_rows(scene: Scene, site: SiteOwner) -> dict[str, Any]:
    entry = await scene.entry(site)
    rows = await scene.sql(
        "SELECT * FROM registry.task WHERE site_id = :id", id=entry.site_id
    )
    return {row.kind: row for row in rows}


async def lease_of(scene: Scene, site: SiteOwner) -> list[Task]:
    """What a crawler gets of the site; leases of other sites are thrown away."""
    entry = await scene.entry(site)
    async with scene.crawler.begin() as connection:
        leased = await tasks.lease_tasks(
            connection, now=scene.clock(), lease=LEASE, limit=1000
        )
    return [task for task in leased if task.site_id == entry.site_id]


async def settled(scene: Scene) -> SiteOwner:
    """A site whose tasks were done once and are due tomorrow."""
    site = await scene.register()
    scene.clock.advance(days=8)
    for lease in await lease_of(scene, site):
        await complete(scene, lease, failures=0)
    return site


async def complete(scene: Scene, task: Task, **given: Any) -> bool:
    tomorrow = scene.clock() + timedelta(days=1)
    async with scene.crawler.begin() as connection:
        return await tasks.complete(
            connection, task, due_at=tomorrow, outcome={"result": "fetched"}, **given
        )


async def test_refresh_makes_the_crawl_due_now_and_nothing_else(scene: Scene) -> None:
    site = await settled(scene)
    before = await task_rows(scene, site)
    assert await lease_of(scene, site) == [], "nothing is due"
    taken = await refresh(scene, site)
    assert (taken.host, taken.due_at) == (site.host, scene.clock())
    after = await task_rows(scene, site)
    assert after["probe"] == before["probe"]
    assert after["prove"] == before["prove"]
    assert after["crawl"].due_at == before["crawl"].due_at, "the schedule stays"
    (leased,) = await lease_of(scene, site)
    assert (leased.kind, leased.is_early(scene.clock())) == ("crawl", True)


async def test_crawl_uses_the_hint_up(scene: Scene) -> None:
    site = await settled(scene)
    await refresh(scene, site)
    (leased,) = await lease_of(scene, site)
    assert await complete(scene, leased, failures=0)
    assert await lease_of(scene, site) == []


async def test_hint_during_a_crawl_brings_another_one(scene: Scene) -> None:
    """The document may have been read before it changed."""
    site = await settled(scene)
    await refresh(scene, site)
    (leased,) = await lease_of(scene, site)
    scene.clock.advance(seconds=5)
    await refresh(scene, site)
    assert await complete(scene, leased, failures=0)
    (again,) = await lease_of(scene, site)
    assert again.kind == "crawl"


async def test_refresh_waits_for_what_the_site_itself_asked_for(scene: Scene) -> None:
    site = await settled(scene)
    await refresh(scene, site)
    (leased,) = await lease_of(scene, site)
    query = scene.clock() + timedelta(hours=2)
    await complete(scene, leased, failures=3, not_before=query)
    scene.clock.advance(minutes=1)
    assert (await refresh(scene, site)).due_at == query
    assert await lease_of(scene, site) == []
    row = (await task_rows(scene, site))["crawl"]
    assert row.failures == 3, "no failure is forgotten"
    scene.clock.advance(hours=2)
    (leased,) = await lease_of(scene, site)
    assert leased.failures == 3


async def test_hint_during_a_crawl_waits_for_what_that_crawl_was_asked(
    scene: Scene,
) -> None:
    site = await settled(scene)
    await refresh(scene, site)
    (leased,) = await lease_of(scene, site)
    scene.clock.advance(seconds=5)
    await refresh(scene, site)
    query = scene.clock() + timedelta(hours=2)
    await complete(scene, leased, failures=1, not_before=query)
    assert await lease_of(scene, site) == []
    scene.clock.advance(hours=2)
    assert len(await lease_of(scene, site)) == 1


async def test_refreshes_are_as_many_as_allowed(scene: Scene) -> None:
    site = await settled(scene)
    for _ in range(ALLOWANCE.burst):
        await refresh(scene, site)
        scene.clock.advance(seconds=1)
    before = await scene.rows()
    with pytest.raises(RateLimited) as caught:
        await refresh(scene, site)
    assert caught.value.code == "refresh_too_often"
    assert caught.value.retry_after_s == 600 - 3
    assert await scene.rows() == before, "what is refused costs nothing"
    scene.clock.advance(seconds=597)
    await refresh(scene, site)
    with pytest.raises(RateLimited):
        await refresh(scene, site, iat=int(scene.clock().timestamp()) + 1)


async def test_sites_do_not_share_an_allowance(scene: Scene) -> None:
    item, other = await settled(scene), await settled(scene)
    for _ in range(ALLOWANCE.burst):
        await refresh(scene, item)
        scene.clock.advance(seconds=1)
    assert (await refresh(scene, other)).host == other.host


async def test_replay_is_refused_also_long_after(scene: Scene) -> None:
    site = await settled(scene)
    payload = statement(site, scene.clock())
    token = sign_compact(payload, site.key, typ=REFRESH_TYP)
    await send(scene, token, site.host)
    for seconds in (0, 5, 500):
        scene.clock.advance(seconds=seconds)
        with pytest.raises(Conflict) as caught:
            await send(scene, token, site.host)
        assert caught.value.code == "refresh_replayed"


async def test_older_statement_held_back_is_refused(scene: Scene) -> None:
    site = await settled(scene)
    held_back = sign_compact(statement(site, scene.clock()), site.key, typ=REFRESH_TYP)
    scene.clock.advance(seconds=5)
    await refresh(scene, site)
    with pytest.raises(Conflict, match="refresh_replayed"):
        await send(scene, held_back, site.host)


async def test_another_sites_key_is_refused(scene: Scene) -> None:
    site, other = await settled(scene), await settled(scene)
    payload = statement(site, scene.clock())
    token = sign_compact(payload, other.key, typ=REFRESH_TYP)
    with pytest.raises(Refused, match="key_not_published"):
        await send(scene, token, site.host)


@pytest.mark.parametrize(
    ("standing", "kind", "code"),
    [
        ("revoked", Refused, "key_revoked"),
        ("absent", Refused, "key_not_published"),
        ("cooling", Conflict, "key_held"),
        ("recovering", Conflict, "key_held"),
    ],
)
async def test_only_a_trusted_key_speaks(
    scene: Scene, standing: str, kind: type[Exception], code: str
) -> None:
    site = await settled(scene)
    entry = await scene.entry(site)
    await scene.sql(
        "UPDATE registry.site_key SET standing = :standing WHERE site_id = :id",
        standing=standing,
        id=entry.site_id,
    )
    with pytest.raises(kind, match=code):
        await refresh(scene, site)


async def test_key_revoked_at_one_source_is_revoked_at_all(scene: Scene) -> None:
    site = await settled(scene)
    entry = await scene.entry(site)
    await scene.sql(
        "INSERT INTO registry.site_key SELECT site_id, 'dns:_wab.x?type=TXT', kid, jwk, "
        "first_seen_at, 'revoked', last_seen_at FROM registry.site_key WHERE site_id = :id",
        id=entry.site_id,
    )
    with pytest.raises(Refused, match="key_revoked"):
        await refresh(scene, site)


async def test_host_that_is_not_registered_is_unknown(scene: Scene) -> None:
    with pytest.raises(NotFound, match="site_unknown"):
        await refresh(scene, SiteOwner())


async def test_withdrawn_site_is_gone(scene: Scene) -> None:
    site = await settled(scene)
    await scene.play(site, act="withdraw")
    with pytest.raises(Gone, match="site_withdrawn"):
        await refresh(scene, site)


async def test_statement_for_one_host_is_none_for_another(scene: Scene) -> None:
    site, other = await settled(scene), await settled(scene)
    token = sign_compact(statement(site, scene.clock()), site.key, typ=REFRESH_TYP)
    with pytest.raises(Refused, match="refresh_of_another_host"):
        await send(scene, token, other.host)


async def test_registration_is_no_refresh_and_the_reverse(scene: Scene) -> None:
    site = await settled(scene)
    challenge = await scene.challenge(site.host)
    registration = site.sign(challenge, scene.clock())
    with pytest.raises(Refused, match="typ_wrong"):
        await send(scene, registration, site.host)
    everything = {**challenge.payload, **statement(site, scene.clock())}
    hint = sign_compact(everything, site.key, typ=REFRESH_TYP)
    with pytest.raises(Refused, match="typ_wrong"):
        await scene.submit_token(hint.encode())


def tampered(token: str) -> str:
    header, payload, signature = token.split(".")
    other = sign_compact(
        {"aud": AUDIENCE}, generate_private_key("Ed25519"), typ=REFRESH_TYP
    )
    assert other.split(".")[1] != payload
    return f"{header}.{payload}.{other.split('.')[2] if signature else ''}"


@pytest.mark.parametrize(
    ("members", "code"),
    [
        pytest.param(
            {"aud": "https://other.example"}, "aud_wrong", id="other registry"
        ),
        pytest.param({"aud": None}, "payload_member_missing", id="no audience"),
        pytest.param({"sub": None}, "payload_member_missing", id="no subject"),
        pytest.param({"sub": "SHOP.test"}, "sub_spelling", id="capitals"),
        pytest.param({"sub": "127.0.0.1"}, "ip_literal", id="address"),
        pytest.param({"sub": 1}, "payload_member_invalid", id="subject a number"),
        pytest.param({"iat": None}, "payload_member_missing", id="no iat"),
        pytest.param({"exp": None}, "payload_member_missing", id="no exp"),
        pytest.param({"iat": "now"}, "payload_member_invalid", id="iat a text"),
        pytest.param({"iat": True}, "payload_member_invalid", id="iat true"),
        pytest.param({"exp": 10**15}, "payload_member_invalid", id="beyond time"),
        pytest.param({"iat": -1}, "payload_member_invalid", id="before 1970"),
        pytest.param({"exp": 0}, "lifetime_invalid", id="ends before it begins"),
    ],
)
async def test_statement_of_the_wrong_form_is_refused(
    scene: Scene, members: dict[str, Any], code: str
) -> None:
    site = await settled(scene)
    before = await scene.rows()
    with pytest.raises(Refused, match=code):
        await refresh(scene, site, **members)
    assert await scene.rows() == before


@pytest.mark.parametrize(
    ("seconds", "code"),
    [(-700, "statement_expired"), (3000, "statement_from_future")],
)
async def test_statement_out_of_its_time_is_refused(
    scene: Scene, seconds: int, code: str
) -> None:
    site = await settled(scene)
    iat = int(scene.clock().timestamp()) + seconds
    with pytest.raises(Refused, match=code):
        await refresh(scene, site, iat=iat, exp=iat + 600)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(tampered, "signature_invalid", id="another signature"),
        pytest.param(lambda t: t[:-4] + "AAAA", "signature_invalid", id="edited"),
        pytest.param(lambda t: t.rpartition(".")[0], "token_malformed", id="two parts"),
        pytest.param(lambda t: t + "=", "token_malformed", id="padding"),
        pytest.param(lambda _: "", "token_malformed", id="empty"),
        pytest.param(lambda _: "a.b.c", "token_malformed", id="no base64"),
        pytest.param(lambda t: t + "A" * 20_000, "token_too_large", id="too large"),
    ],
)
async def test_token_that_was_tampered_with_is_refused_and_costs_nothing(
    scene: Scene, change: Callable[[str], str], code: str
) -> None:
    site = await settled(scene)
    token = sign_compact(statement(site, scene.clock()), site.key, typ=REFRESH_TYP)
    before = await scene.rows()
    with pytest.raises(Refused, match=code):
        await send(scene, change(token), site.host)
    assert await scene.rows() == before
    assert (await send(scene, token, site.host)).host == site.host


async def test_no_hint_can_be_written_to_a_probe(scene: Scene) -> None:
    """Not even by a web process that is no longer ours."""
    site = await settled(scene)
    entry = await scene.entry(site)
    statement = (
        "UPDATE registry.task SET hinted_at = :now WHERE site_id = :id AND kind = :kind"
    )
    for kind in ("probe", "prove"):
        with pytest.raises(DBAPIError, match="task_hint_is_for_the_crawl"):
            await scene.sql(statement, now=scene.clock(), id=entry.site_id, kind=kind)


async def test_of_the_same_statement_twice_at_once_one_is_taken(scene: Scene) -> None:
    site = await settled(scene)
    token = sign_compact(statement(site, scene.clock()), site.key, typ=REFRESH_TYP)
    outcomes = await asyncio.gather(
        *(send(scene, token, site.host) for _ in range(4)), return_exceptions=True
    )
    taken = [outcome for outcome in outcomes if isinstance(outcome, Refresh)]
    refused = [outcome.code for outcome in outcomes if isinstance(outcome, Conflict)]
    assert (len(taken), refused) == (1, ["refresh_replayed"] * 3)
