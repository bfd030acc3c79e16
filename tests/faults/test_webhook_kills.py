"""Webhooks of a whole registry: signed, in order, and none is lost when its crawler is killed.

The receiver kills the crawler while it holds a delivery, before it answers: what was
received is not written down, so it comes again. A sender that writes down first loses
it, and the check that finds nothing lost finds that.
"""

import asyncio
import json
import ssl
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import msgspec
import pytest
import trustme
from sqlalchemy import update

from registry.db.engine.embedded import start_embedded
from registry.db.engine.engines import Engine, open_engine
from registry.db.schema.operator_tables import webhook
from registry.identity.keys.jwk import parse_jwks
from registry.identity.requests.message_signature import (
    Message,
    content_digest,
    verify_message,
)
from registry.identity.requests.web_bot_auth import (
    DELIVERY_COVERED,
    DELIVERY_TAG,
    DIRECTORY_PATH,
)
from registry.usecases.sites.change_feed import begin_feed
from tests.api.test_operators import Operator
from tests.faults.service import SITES, Service, open_town, register, running
from tests.waiting import until

pytestmark = pytest.mark.slow

Json = dict[str, Any]
ORIGIN, MIRROR = "https://registry.test", "mirror.test"
SETTINGS = {
    "FAIR_REGISTRY_BOT_AUTH": "1",
    "FAIR_REGISTRY_PUBLIC_URL": ORIGIN,
}


class Receiver:
    """A mirror. victim: the service whose crawler it kills while it holds a change."""

    def __init__(self) -> None:
        self.received: list[tuple[Message, Json]] = []
        self.victim: Service | None = None

    @property
    def deliveries(self) -> list[Json]:
        return [body for _, body in self.received if body["type"] == "changes"]

    @property
    def hosts(self) -> set[str]:
        return {row["host"] for body in self.deliveries for row in body["changes"]}

    async def has(self, host: str) -> None:
        await until(f"{host} is delivered", lambda: host in self.hosts)

    async def __call__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.rstrip().split("\r\n")
        fields = {
            name.lower(): value
            for name, _, value in (line.partition(": ") for line in lines)
        }
        content = await reader.readexactly(int(fields["content-length"]))
        assert fields["content-digest"] == content_digest(content)
        path, _, query = first.split()[1].partition("?")
        derived = {
            "@method": "POST",
            "@authority": fields["host"],
            "@path": path,
            "@query": f"?{query}",
        }
        body = json.loads(content)
        self.received.append((Message(derived=derived, fields=fields), body))
        if body["type"] == "changes" and self.victim:
            self.victim.part("crawler").kill()
            self.victim = None
        else:
            answer = json.dumps({"challenge": body.get("challenge")}).encode()
            start = f"HTTP/1.1 200 OK\r\nContent-Length: {len(answer)}\r\n\r\n"
            writer.write(start.encode() + answer)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def receiving(town: Any) -> AsyncIterator[Receiver]:
    """Listen as a host of the town."""
    authority, receiver = trustme.CA(), Receiver()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(MIRROR).configure_cert(context)
    server = await asyncio.start_server(receiver, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    with town.hosts_file.open("a") as hosts, town.ca_file.open("ab") as authorities:
        hosts.write(f"{MIRROR} 127.0.0.1:{port}\n")
        authorities.write(authority.cert_pem.bytes())
    async with server:
        yield receiver


class Mirrored:
    """A registry that runs, its receiver, and the one subscription."""

    def __init__(self, service: Service, receiver: Receiver, owner: Engine) -> None:
        self.service = service
        self.receiver = receiver
        self.owner = owner
        self.http = httpx.Client(base_url=service.origin, timeout=60)

    async def subscribe(self) -> None:
        operator = Operator(SimpleNamespace(origin=ORIGIN, http=self.http))  # type: ignore[arg-type] # all that it uses
        operator.register()
        url = {"url": f"https://{MIRROR}/changes?tenant=a"}
        answer = self.http.post("/v1/webhooks", json=url, auth=operator.bearer)
        assert answer.status_code == 201, answer.text
        path = answer.headers["Location"]

        def is_active() -> bool:
            row = self.http.get(path, auth=operator.bearer).json()
            return bool(row["state"] == "active")

        await until("the challenge is answered", is_active)

    async def killed_while_delivering(self, host: str) -> None:
        """Register the host; what the receiver was sent of it is not written down."""
        self.receiver.victim = self.service
        await register(self.service, host)
        await until("the crawler is killed", lambda: self.receiver.victim is None)

    async def let_the_lease_run_out(self) -> None:
        """What a minute would do."""
        await self._change(leased_until=None)

    async def write_down_as_delivered(self) -> None:
        """What a sender would have done that writes down before it sends."""
        async with self.owner.connect() as connection:
            cursor = await begin_feed(connection, from_now=True)
        await self._change(leased_until=None, cursor=msgspec.json.encode(cursor))

    async def _change(self, **values: Any) -> None:
        async with self.owner.begin() as connection:
            await connection.execute(update(webhook).values(values))


@pytest.fixture
async def mirrored(tmp_path: Path) -> AsyncIterator[Mirrored]:
    async with (
        open_town(tmp_path) as town,
        receiving(town) as receiver,
        running(tmp_path, town, **SETTINGS) as service,
    ):
        server = start_embedded(service.data)
        owner = open_engine(server.url(), pool=1)
        result = Mirrored(service, receiver, owner)
        await result.subscribe()
        yield result
        result.http.close()
        await owner.dispose()
        server.close()
        assert await service.stop() == 0


async def test_no_change_is_lost_when_the_crawler_is_killed_around_its_delivery(
    mirrored: Mirrored,
) -> None:
    receiver, service = mirrored.receiver, mirrored.service
    during, before, lost, after = SITES[:4]

    await mirrored.killed_while_delivering(during)
    await mirrored.let_the_lease_run_out()
    times = Counter[str]()

    def comes_again() -> bool:
        times.clear()
        times.update(body["id"] for body in receiver.deliveries)
        return max(times.values()) >= 2

    await until("it comes again, under the same id", comes_again)

    await register(service, before)
    service.part("crawler").kill()  # it has listed the site, and may not have told
    await mirrored.let_the_lease_run_out()
    await receiver.has(before)

    verify_signatures(mirrored)

    await mirrored.killed_while_delivering(lost)
    receiver.received.clear()
    await mirrored.write_down_as_delivered()
    await register(service, after)
    await receiver.has(after)
    assert lost not in receiver.hosts, "the control: so it would be lost, and seen"


def verify_signatures(mirrored: Mirrored) -> None:
    directory = mirrored.http.get(DIRECTORY_PATH).content
    (key,) = parse_jwks(directory)
    for message, _ in mirrored.receiver.received:
        created = message.fields["signature-input"].partition("created=")[2]
        verify_message(
            message,
            tag=DELIVERY_TAG,
            required=DELIVERY_COVERED,
            key=key,
            now=int(created.partition(";")[0]),
        )
