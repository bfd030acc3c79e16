"""Registrations of honest sites, alone and beside a stranger's for hosts that drip.

The demo town's sites register one after the other with a registry that has a crawler. The
stranger states what he may, as fast as the limits let him, for ever other hosts whose
server sends a byte a second: each such visit lasts until the crawler ends it.
"""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import cycle

import httpx
import trustme
from typing_extensions import override

from registry.bench.load import Latencies
from registry.cli.service.serve import running_service, until_ready
from registry.cli.town import beside_town, register_site
from registry.client import RegistryClient
from registry.demo.town.server import ADDRESS, Town
from registry.identity.keys.private_keys import PrivateKey, generate_private_key
from registry.identity.statements.jws import sign_compact
from registry.interfaces.http.limits import LENIENCE
from registry.settings import Settings
from registry.strict_json import JsonValue

DRIPS = [f"drip-{number}.test" for number in range(600)]
"""Hosts; each has a registrable domain of its own."""
DRIP_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n"
)
DRIP_PAUSE_S, BACKLOG = 1.0, 512
STRANGER, REFUSED_PAUSE_S = "127.0.0.4", 1.0
REGISTER_EVERY_S = 1.0
"""Pace of owners: two writes each, as many as a network may send in the long run."""


class HonestOwners:
    """Owners of the town's honest sites, who register at a steady pace."""

    def __init__(self, origin: str, town: Town, seconds: float) -> None:
        self._origin = origin
        self._town = town
        self._sites = cycle([site for site in town.sites if site.story == "honest"])
        self._seconds = seconds

    async def register(self) -> Latencies:
        """Measure from the submission to the decision; what is not listed is a failure."""
        latencies, until = Latencies(), time.monotonic() + self._seconds
        async with RegistryClient(self._origin) as client:
            while time.monotonic() < until:
                await asyncio.gather(
                    self._register_next(client, latencies),
                    asyncio.sleep(REGISTER_EVERY_S),
                )
        return latencies

    async def _register_next(
        self, client: RegistryClient, latencies: Latencies
    ) -> None:
        site = next(self._sites)
        decided, waited_s = await register_site(client, self._town, site)
        latencies.seconds.append(waited_s)
        latencies.failures += decided["status"] != "active"


@asynccontextmanager
async def owners_beside_drips(
    settings: Settings, seconds: float
) -> AsyncIterator[HonestOwners]:
    """Serve the town, the hosts that drip, and a registry with the limits of any other."""
    town = Town.build(settings.data / "town")
    async with town.open(), _dripping(town):
        settings = replace(
            beside_town(settings, town),
            allow_loopback=True,
            limits=settings.limits / LENIENCE,
        )
        async with running_service(settings) as service:
            await until_ready(service.origin)
            yield HonestOwners(service.origin, town, seconds)


@asynccontextmanager
async def _dripping(town: Town) -> AsyncIterator[None]:
    """Serve DRIPS, beside the town's hosts and by an authority that is trusted too."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*DRIPS).configure_cert(context)
    server = await asyncio.get_running_loop().create_server(
        _Drip, ADDRESS, ssl=context, backlog=BACKLOG
    )
    address, port = server.sockets[0].getsockname()
    with town.hosts_file.open("a") as hosts, town.ca_file.open("ab") as trusted:
        hosts.writelines(f"{host} {address}:{port}\n" for host in DRIPS)
        trusted.write(authority.cert_pem.bytes())
    try:
        yield
    finally:
        server.close()


class _Drip(asyncio.Protocol):
    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("not a stream")
        transport.write(DRIP_HEAD)
        self._drip(transport)

    def _drip(self, transport: asyncio.Transport) -> None:
        if not transport.is_closing():
            transport.write(b" ")
            loop = asyncio.get_running_loop()
            loop.call_later(DRIP_PAUSE_S, self._drip, transport)


def state_for_drips(origin: str, seconds: float) -> tuple[int, int]:
    """State for one host after the other, without their keys; return taken, refused."""
    key, until = generate_private_key("Ed25519"), time.monotonic() + seconds
    taken = refused = 0
    transport = httpx.HTTPTransport(local_address=STRANGER)
    with httpx.Client(base_url=origin, transport=transport, timeout=seconds) as client:
        for host in cycle(DRIPS):
            if time.monotonic() > until:
                break
            if _state(client, host, key):
                taken += 1
            else:
                refused += 1
                time.sleep(REFUSED_PAUSE_S)
    return taken, refused


def _state(client: httpx.Client, host: str, key: PrivateKey) -> bool:
    challenge = client.post("/v1/challenges", json={"host": host})
    if not challenge.is_success:
        return False
    docs: list[JsonValue] = [{"url": f"https://{host}/agent-bridge.json"}]
    token = sign_compact({**challenge.json()["payload"], "docs": docs}, key)
    return client.post(
        "/v1/registrations",
        content=token,
        headers={"Content-Type": "application/jose"},
    ).is_success
