"""Webhooks: nobody is sent what he did not ask for, and nothing is lost on the way."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from crawler import deliveries
from crawler.deliveries import MOST_FAILURES, MOST_UNANSWERED, Deliverer
from crawler.http.bot_auth import BotAuth
from registry.db import operators, webhooks
from registry.db.engine.engines import Engine, Role
from registry.db.webhooks import Webhook
from registry.errors import Conflict, NotFound, Refused
from registry.identity.keys.jwk import parse_jwks
from registry.identity.keys.private_keys import generate_private_key, public_key_of
from registry.identity.requests.message_signature import (
    Message,
    content_digest,
    verify_message,
)
from registry.identity.requests.web_bot_auth import (
    DELIVERY_COVERED,
    DELIVERY_TAG,
    SignatureAgent,
)
from registry.usecases import subscriptions
from tests.crawler.net import HOST, Handler, Net, raw, silent
from tests.db.scene import Scene

Json = dict[str, Any]
URL = f"https://{HOST}/hooks/registry?tenant=a"
PENDING: webhooks.Lane = ("pending", False)
ACTIVE: webhooks.Lane = ("active", False)
AGENT = SignatureAgent(
    origin="https://registry.example",
    key=generate_private_key("Ed25519"),
)


class Receiver:
    """An honest receiver. status: of its answers to changes."""

    def __init__(self) -> None:
        self.status = "200 OK"
        self.answers_challenges = True
        self.received: list[tuple[dict[str, str], Json]] = []

    @property
    def bodies(self) -> list[Json]:
        return [body for _, body in self.received]

    @property
    def changes(self) -> list[Json]:
        return [body for body in self.bodies if body["type"] == "changes"]

    async def __call__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.rstrip().split("\r\n")
        fields = dict[str, str]()
        for line in lines:
            name, value = line.split(": ", 1)
            fields[name.lower()] = value
        fields["@path"] = first.split()[1]
        content = await reader.readexactly(int(fields["content-length"]))
        assert fields["content-digest"] == content_digest(content)
        body = json.loads(content)
        self.received.append((fields, body))
        status, answer = self.status, b"{}"
        if body["type"] == "challenge":
            status = "200 OK"
            if self.answers_challenges:
                answer = json.dumps({"challenge": body["challenge"]}).encode()
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Length: {len(answer)}\r\n\r\n".encode()
            + answer
        )
        await writer.drain()


class Subscription:
    """A subscription of an operator of its own, and a crawler that serves it."""

    def __init__(self, scene: Scene, net: Net, operator: str, **fetcher: Any) -> None:
        self.scene = scene
        self.operator = operator
        context = scene.context(net.fetcher(**fetcher))
        self.deliverer = Deliverer(context, BotAuth(AGENT, scene.ids))
        self.webhook_id = ""

    async def subscribe(self, url: str = URL, network: str | None = None) -> None:
        async with self.scene.engines[Role.API].begin() as connection:
            row = await subscriptions.subscribe(
                connection, self.operator, url, self.scene.ids, network
            )
        self.webhook_id = row.webhook_id

    async def row(self) -> Webhook:
        async with self.scene.engines[Role.API].connect() as connection:
            return await subscriptions.find_webhook(
                connection, self.operator, self.webhook_id
            )

    async def run(self, **later: float) -> Webhook:
        """Deliver all that is due, after a while."""
        self.scene.clock.advance(**later)
        await self.deliverer.deliver_due()
        await self.deliverer.join()
        return await self.row()

    async def resume(self) -> None:
        async with self.scene.engines[Role.API].begin() as connection:
            await subscriptions.resume(
                connection, self.operator, self.webhook_id, self.scene.ids
            )


async def add_operator(scene: Scene) -> str:
    key = public_key_of(generate_private_key("Ed25519"))
    async with scene.engines[Role.API].begin() as connection:
        now = scene.clock()
        await operators.add_operator(connection, key, now=now, stated_at=now)
    return key.kid


@pytest.fixture
async def open_subscription(
    scene: Scene, net: Net, owner: Engine
) -> Callable[..., Awaitable[Subscription]]:
    async def open_(handler: Handler, **fetcher: Any) -> Subscription:
        async with owner.begin() as connection:
            await connection.exec_driver_sql("DELETE FROM registry.webhook")
        await net.serve(handler)
        opened = Subscription(scene, net, await add_operator(scene), **fetcher)
        await opened.subscribe()
        return opened

    return open_


Open = Callable[..., Awaitable[Subscription]]


async def test_changes_come_once_the_challenge_is_answered(
    scene: Scene, open_subscription: Open
) -> None:
    receiver = Receiver()
    opened = await open_subscription(receiver)
    site = await scene.register()
    assert (await opened.row()).state == "pending"
    assert (await opened.run()).state == "active"
    assert [body["type"] for body in receiver.bodies] == ["challenge"]
    row = await opened.run(seconds=10)
    (delivery,) = receiver.changes
    assert [change["host"] for change in delivery["changes"]] == [site.host.name]
    assert delivery["changes"][0]["listed"] is True
    assert row.delivered_at == scene.clock()
    await opened.run(seconds=10)
    assert len(receiver.changes) == 1, "nothing new, nothing sent"
    await scene.play(site, act="withdraw")
    await opened.run(seconds=10)
    assert receiver.changes[-1]["changes"][0]["status"] == "withdrawn"


async def test_deliveries_are_signed_for_their_address_and_content(
    scene: Scene, open_subscription: Open
) -> None:
    receiver = Receiver()
    opened = await open_subscription(receiver)
    await opened.run()
    fields, _ = receiver.received[0]
    path, _, query = fields.pop("@path").partition("?")
    derived = {
        "@method": "POST",
        "@authority": HOST,
        "@path": path,
        "@query": f"?{query}",
    }
    (key,) = parse_jwks(AGENT.directory)
    verified = {
        "tag": DELIVERY_TAG,
        "required": DELIVERY_COVERED,
        "key": key,
        "now": int(scene.clock().timestamp()),
    }
    verify_message(Message(derived=derived, fields=fields), **verified)
    for name in derived:
        moved = {**derived, name: "/elsewhere"}
        with pytest.raises(Refused):
            verify_message(Message(derived=moved, fields=fields), **verified)


async def test_who_does_not_say_the_challenge_back_is_sent_no_change(
    scene: Scene, open_subscription: Open
) -> None:
    receiver = Receiver()
    receiver.answers_challenges = False
    opened = await open_subscription(receiver)
    await scene.register()
    for _ in range(MOST_UNANSWERED + 2):
        row = await opened.run(days=1)
    assert row.state == "suspended"
    assert row.problem is not None
    assert row.problem["code"] == "challenge_unanswered"
    assert len(receiver.bodies) == MOST_UNANSWERED
    assert receiver.changes == []


async def test_a_failure_is_retried_ever_later_with_the_same_id(
    scene: Scene, open_subscription: Open
) -> None:
    receiver = Receiver()
    opened = await open_subscription(receiver)
    await opened.run()
    await scene.register()
    receiver.status = "500 Oops"
    pauses: list[timedelta] = []
    for _ in range(3):
        row = await opened.run(days=1)
        assert row.due_at is not None
        pauses.append(row.due_at - scene.clock())
    assert pauses == sorted(pauses)
    assert pauses[2] > 4 * pauses[0]
    receiver.status = "204 No Content"
    row = await opened.run(days=1)
    assert (row.failures, row.problem) == (0, None)
    assert len({body["id"] for body in receiver.changes}) == 1
    assert len(receiver.changes) == 4


async def test_a_dead_letter_is_its_owners_to_see_and_nothing_is_lost(
    scene: Scene, open_subscription: Open
) -> None:
    receiver = Receiver()
    opened = await open_subscription(receiver)
    await opened.run()
    first = await scene.register()
    receiver.status = "503 Busy"
    for _ in range(MOST_FAILURES + 2):
        row = await opened.run(days=1)
    assert row.state == "suspended"
    assert len(receiver.changes) == MOST_FAILURES
    async with scene.engines[Role.API].connect() as connection:
        (letter,) = await subscriptions.dead_letters(
            connection, opened.operator, opened.webhook_id
        )
        with pytest.raises(NotFound):
            await subscriptions.dead_letters(
                connection, await add_operator(scene), opened.webhook_id
            )
    assert letter.attempts == MOST_FAILURES
    assert letter.problem["detail"] == "it answered 503"
    assert json.loads(letter.body) == receiver.changes[-1]
    second = await scene.register()
    receiver.status = "200 OK"
    await opened.resume()
    assert (await opened.run()).state == "active"
    await opened.run(seconds=10)
    hosts = [change["host"] for change in receiver.changes[-1]["changes"]]
    assert hosts == [first.host.name, second.host.name]


async def test_who_resumes_what_is_not_suspended_has_nobody_asked(
    open_subscription: Open,
) -> None:
    """Else any address would be posted to as often as its operator resumes."""
    receiver = Receiver()
    receiver.answers_challenges = False
    opened = await open_subscription(receiver)
    for _ in range(5):
        row = await opened.run()
        await opened.resume()
    assert (row.state, row.failures, len(receiver.bodies)) == ("pending", 1, 1)


async def test_slow_challenges_hold_up_no_delivery(
    scene: Scene, net: Net, open_subscription: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever subscribes again and again takes the slots of challenges, and no others."""
    receiver = Receiver()
    opened = await open_subscription(receiver)
    await opened.run()
    await scene.register()
    stranger = Subscription(scene, net, await add_operator(scene))
    for number in range(10):
        await stranger.subscribe(f"https://mute-{number}.test/")
    running = opened.deliverer._jobs

    async def hang(_: Webhook) -> None:
        await asyncio.Event().wait()

    monkeypatch.setitem(deliveries.SLOTS, PENDING, 4)
    opened.deliverer._challenge = hang  # type: ignore[method-assign]
    scene.clock.advance(seconds=10)
    await opened.deliverer.deliver_due()
    await asyncio.gather(*(job for job in running if running[job] == ACTIVE))
    await asyncio.sleep(0)  # of its callbacks
    assert list(running.values()) == [PENDING] * deliveries.SLOTS[PENDING]
    assert len(receiver.changes) == 1
    for job in running:
        job.cancel()


async def lease(
    scene: Scene, lane: webhooks.Lane, limit: int = 100
) -> list[webhooks.Webhook]:
    async with scene.crawler.begin() as connection:
        return await webhooks.lease_webhooks(
            connection, lane, scene.clock(), deliveries.LEASE, limit
        )


@pytest.mark.parametrize("lane", deliveries.SLOTS)
async def test_one_domain_holds_its_share_of_each_lane(
    scene: Scene, net: Net, lane: webhooks.Lane
) -> None:
    """Any number of accounts with any number of subdomains: the next domain has its turn."""
    await scene.sql("DELETE FROM registry.webhook")
    for account in range(3):
        strangers = Subscription(scene, net, await add_operator(scene))
        for number in range(9):
            await strangers.subscribe(f"https://h{account}-{number}.drip.test/")
    scene.clock.advance(seconds=1)
    honest = Subscription(scene, net, await add_operator(scene))
    await honest.subscribe()
    await scene.sql(
        "UPDATE registry.webhook SET state = :state, slowness = :slowness",
        state=lane[0],
        slowness=int(lane[1]),
    )
    first = await lease(scene, lane, 2)
    assert honest.webhook_id in {row.webhook_id for row in first}
    rest = await lease(scene, lane)
    domains = Counter(row.registrable_domain for row in (*first, *rest))
    assert domains == {"drip.test": webhooks.SHARE, HOST: 1}
    assert await lease(scene, lane) == []


async def test_challenges_from_one_network_hold_their_share(
    scene: Scene, net: Net, open_subscription: Open
) -> None:
    """Domains are free where a host gives them away; the network is forgotten afterwards."""
    opened = await open_subscription(Receiver())
    strangers = Subscription(scene, net, await add_operator(scene))
    for number in range(9):
        url = f"https://mute-{number}.test/"
        await strangers.subscribe(url, network="192.0.2.1")
    leased = Counter(row.network for row in await lease(scene, PENDING))
    assert leased == {"192.0.2.1": webhooks.SHARE, None: 1}
    scene.clock.advance(minutes=2)
    await opened.subscribe(network="198.51.100.7")
    row = await opened.run()
    assert (row.state, row.network) == ("active", None)


async def test_a_thousand_slow_receivers_hold_up_no_quick_one(
    scene: Scene, net: Net, open_subscription: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are broken off, and have their next turn among the slow, with all the time."""
    receiver = Receiver()
    opened = await open_subscription(receiver)
    await opened.run()
    slow = Subscription(scene, net, await add_operator(scene))
    names = [f"slow-{number}.test" for number in range(9)]
    await net.serve(silent, *names)
    for name in names:
        await slow.subscribe(f"https://{name}/")
    await scene.sql("UPDATE registry.webhook SET state = 'active'")
    await scene.sql(
        "UPDATE registry.webhook SET due_at = due_at + interval '1 s' "
        "WHERE webhook_id = :last",
        last=opened.webhook_id,
    )
    await scene.register()
    monkeypatch.setitem(deliveries.SLOTS, ACTIVE, 3)
    monkeypatch.setattr(deliveries, "PATIENCE_S", 0.2)
    for _ in range(3):  # each has its turn, the last one in this one
        await opened.run(seconds=10)
    row = await slow.row()
    assert (row.failures, row.slowness) == (0, deliveries.RECOVERY)
    assert row.due_at == scene.clock()
    await opened.run(seconds=10)
    assert receiver.changes
    assert (await slow.row()).failures == 1, "it was waited for, and it failed"


async def test_who_was_slow_is_quick_again_after_quick_answers(
    scene: Scene, open_subscription: Open
) -> None:
    """Else one quick answer would buy each of thousands a quick slot for a slow one."""
    receiver = Receiver()
    opened = await open_subscription(receiver)
    await opened.run()
    await scene.sql("UPDATE registry.webhook SET slowness = 2")
    await scene.register()
    row = await opened.run(seconds=10)
    assert (len(receiver.changes), row.slowness) == (1, 1)
    assert row.due_at == scene.clock() + deliveries.RESTS * deliveries.QUICK
    await scene.register()
    row = await opened.run(minutes=1)
    assert (len(receiver.changes), row.slowness) == (2, 0)
    assert row.due_at == scene.clock() + deliveries.IDLE


@pytest.mark.parametrize("took", [timedelta(), timedelta(seconds=9)])
async def test_who_answers_slowly_is_left_alone_the_longer(
    scene: Scene, open_subscription: Open, took: timedelta
) -> None:
    """Twenty accounts with ten such receivers each had all slots, minute after minute."""

    class SlowReceiver(Receiver):
        async def __call__(
            self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            scene.clock.advance(seconds=took.total_seconds())
            await super().__call__(reader, writer)

    receiver = SlowReceiver()
    opened = await open_subscription(receiver)
    await opened.run()
    await scene.register()
    row = await opened.run(seconds=10)
    assert len(receiver.changes) == 1
    assert row.slowness == (deliveries.RECOVERY if took else 0)
    assert row.due_at
    assert row.due_at - scene.clock() == (deliveries.RESTS * took or deliveries.IDLE)


async def test_a_receiver_that_has_gone_is_not_asked_again(
    scene: Scene, open_subscription: Open
) -> None:
    receiver = Receiver()
    opened = await open_subscription(receiver)
    await opened.run()
    await scene.register()
    receiver.status = "410 Gone"
    assert (await opened.run(days=1)).state == "suspended"


def chunks_for_ever() -> Handler:
    async def handle(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"ffff\r\n" + b"a" * 0xFFFF + b"\r\n")
            await writer.drain()

    return handle


def one_byte_at_a_time() -> Handler:
    async def handle(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + b" " * 9_000:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.05)

    return handle


HOSTILE: dict[str, Callable[[], Handler]] = {
    "says_nothing": lambda: silent,
    "one_byte_at_a_time": one_byte_at_a_time,
    "never_ends": chunks_for_ever,
    "redirects_inward": lambda: raw(
        b"HTTP/1.1 307 T\r\nLocation: https://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
    ),
    "no_http": lambda: raw(b"SSH-2.0-x\r\n"),
    "hangs_up": lambda: raw(b""),
    "a_challenge_of_its_own": lambda: raw(
        b'HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n{"challenge": ""}'
    ),
    "deep_json": lambda: raw(
        b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + b"[" * 9_000
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
async def test_hostile_receivers_are_put_off_and_learn_nothing(
    scene: Scene, open_subscription: Open, case: str
) -> None:
    opened = await open_subscription(
        HOSTILE[case](), deadline_s=1.0, step_timeout_s=0.5
    )
    row = await opened.run()
    assert row.state == "pending"
    assert row.failures == 1
    assert row.problem is not None
    assert row.due_at is not None
    assert row.due_at > scene.clock()


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/a",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://shop.test:8443/",
        "https://localhost.localdomain/",
    ],
)
async def test_private_addresses_and_other_ports_are_never_asked(
    scene: Scene, net: Net, open_subscription: Open, url: str
) -> None:
    receiver = Receiver()
    opened = await open_subscription(receiver)
    await opened.run()
    known = len(receiver.bodies)
    try:
        await opened.subscribe(url)
    except Refused:  # by its syntax alone
        return
    row = await opened.run()
    assert row.state == "pending"
    assert row.problem is not None
    assert len(receiver.bodies) == known


@pytest.mark.parametrize(
    "url",
    ["http://shop.test/", "https://u:p@shop.test/", "ftp://shop.test", "", "https://a"],
)
async def test_what_is_no_https_address_is_refused(
    scene: Scene, net: Net, url: str
) -> None:
    opened = Subscription(scene, net, await add_operator(scene))
    with pytest.raises(Refused, match="webhook_url_invalid"):
        await opened.subscribe(url)


async def test_an_operator_has_ten_and_not_one_more_at_once(
    scene: Scene, net: Net
) -> None:
    opened = Subscription(scene, net, await add_operator(scene))
    results = await asyncio.gather(
        *(opened.subscribe() for _ in range(14)), return_exceptions=True
    )
    assert sum(row is None for row in results) == 10
    assert sum(isinstance(row, Conflict) for row in results) == 4


async def test_a_crawler_that_died_leaves_a_lease_that_runs_out(
    scene: Scene, open_subscription: Open
) -> None:
    """It had sent, and could not write it down: the next one sends the same again."""
    receiver = Receiver()
    opened = await open_subscription(receiver)
    await opened.run()
    await scene.register()
    scene.clock.advance(seconds=10)
    async with scene.crawler.begin() as connection:
        (lost,) = await webhooks.lease_webhooks(
            connection, ACTIVE, scene.clock(), deliveries.LEASE, 5
        )
    await opened.run(seconds=1)
    assert receiver.changes == [], "it is leased"
    await opened.run(seconds=deliveries.LEASE.total_seconds())
    assert len(receiver.changes) == 1
    async with scene.crawler.begin() as connection:
        held = await webhooks.settle(connection, lost, state="suspended")
    assert not held
    assert (await opened.row()).state == "active"


async def test_a_closed_operator_is_sent_nothing_more(
    scene: Scene, open_subscription: Open
) -> None:
    receiver = Receiver()
    opened = await open_subscription(receiver)
    async with scene.engines[Role.API].begin() as connection:
        assert await webhooks.remove_webhooks(connection, opened.operator) == 1
    await opened.deliverer.deliver_due()
    await opened.deliverer.join()
    assert receiver.bodies == []


@pytest.mark.parametrize(
    ("role", "statement"),
    [
        (Role.API, "UPDATE registry.webhook SET cursor = ''"),
        (Role.API, "UPDATE registry.webhook SET url = ''"),
        (Role.API, "DELETE FROM registry.webhook_letter"),
        (Role.CRAWLER, "UPDATE registry.webhook SET url = ''"),
        (Role.CRAWLER, "INSERT INTO registry.webhook (webhook_id) VALUES ('a')"),
        (Role.CRAWLER, "DELETE FROM registry.webhook"),
        (Role.RANKER, "SELECT * FROM registry.webhook"),
    ],
)
async def test_each_process_may_do_its_own_part_alone(
    scene: Scene, role: Role, statement: str
) -> None:
    with pytest.raises(Exception, match="permission denied"):
        async with scene.engines[role].begin() as connection:
            await connection.exec_driver_sql(statement)
