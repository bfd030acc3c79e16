"""The town: every site of the cast on one TLS socket of loopback, and its DNS.

A client finds it through three things: `ca.pem`, whom to trust; `hosts`, where each host
name is (lines `host address:port`); and the address of the DNS server. The town's own
authority issues a certificate for each host.
"""

import asyncio
import base64
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import trustme

from registry.demo.town.house import House
from registry.demo.town.member import CAST, Member, Story
from registry.demo.town.member_declarations import declare, document_urls
from registry.demo.town.names import NameServer
from registry.demo.town.registry_house import REGISTRY, REGISTRY_URLS, RegistryHouse
from registry.demo.town.tls_connection import serve_connection
from registry.identity.keys.private_keys import (
    PrivateKey,
    generate_private_key,
    private_key_pem,
    public_key_of,
)
from registry.identity.keys.public_keys import PublicKey
from registry.strict_json import JsonValue


def issue_context(authority: trustme.CA, host: str) -> ssl.SSLContext:
    """Return a server context with a certificate for that name alone."""
    context = _server_context()
    authority.issue_cert(host, common_name=host).configure_cert(context)
    return context


def choose_by_name(contexts: Mapping[str, ssl.SSLContext]) -> ssl.SSLContext:
    """A context that becomes the one of the name asked for (SNI, RFC 6066).

    It has no certificate of its own: a name that is not of the town is refused.
    """

    def choose(
        handshake: ssl.SSLObject, name: str | None, _context: ssl.SSLContext
    ) -> int | None:
        if name is None or name not in contexts:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        handshake.context = contexts[name]
        return None

    front = _server_context()
    front.sni_callback = choose
    return front


def _server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


ADDRESS = "127.0.0.1"
HANDSHAKE_TIMEOUT_S = 10.0
SHUTDOWN_TIMEOUT_S = 1.0
_BACKLOG = 512
_KEY_MODE = 0o600


@dataclass(frozen=True, slots=True)
class TownSite:
    """A member of the town, as its owner knows it.

    private_key: signs its registrations. key_file: the same, as PEM.
    """

    member: Member
    private_key: PrivateKey
    key_file: Path

    @property
    def host(self) -> str:
        return self.member.host

    @property
    def story(self) -> Story:
        return self.member.story

    @property
    def document_urls(self) -> tuple[str, ...]:
        return REGISTRY_URLS if self.member is REGISTRY else document_urls(self.member)

    @property
    def declarations(self) -> Mapping[str, JsonValue]:
        """Return the optional members of its registration, as they are written there."""
        return declare(self.member)


class Town:
    """Build it, open it, and it is there until the block is left."""

    def __init__(
        self,
        *,
        directory: Path,
        sites: tuple[TownSite, ...],
        houses: Mapping[str, House],
        contexts: Mapping[str, ssl.SSLContext],
    ) -> None:
        self.sites = sites
        self.ca_file = directory / "ca.pem"
        self.hosts_file = directory / "hosts"
        self.dns_address = ""
        self._sites_by_host = {site.host: site for site in sites}
        self._houses = houses
        self._hosts_by_context = {context: host for host, context in contexts.items()}
        self._front = choose_by_name(contexts)
        self._names = NameServer()
        self._connections: set[asyncio.Task[None]] = set()

    @classmethod
    def build(
        cls, directory: Path, cast: tuple[Member, ...] = CAST, *, registry: str = ""
    ) -> "Town":
        """Write `ca.pem` and the private keys below the directory.

        registry: the origin of a registry that is a site of the town too; "": none is.
        """
        authority = trustme.CA(organization_name="Fair Registry demo town")
        members = (*cast, REGISTRY) if registry else cast
        keys = {own.host: generate_private_key(own.algorithm) for own in members}
        now = _now()
        houses = {member.host: House(member, keys[member.host], now) for member in cast}
        if registry:
            houses[REGISTRY.host] = RegistryHouse(keys[REGISTRY.host], now, registry)
        town = cls(
            directory=directory,
            sites=tuple(
                _settle(member, keys[member.host], directory / "keys")
                for member in members
            ),
            houses=houses,
            contexts={host: issue_context(authority, host) for host in keys},
        )
        authority.cert_pem.write_to_path(str(town.ca_file))
        return town

    @asynccontextmanager
    async def open(self, port: int = 0, dns_port: int = 0) -> AsyncIterator["Town"]:
        """Serve, and write `hosts`. port, dns_port: 0 takes any that are free."""
        names, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: self._names, local_addr=(ADDRESS, dns_port)
        )
        self.dns_address = _spell_address(names.get_extra_info("socket"))
        try:
            with closing(names), closing(await self._listen(port)) as server:
                self._write_hosts(_spell_address(server.sockets[0]))
                yield self
        finally:
            await self._say_goodbye()

    def site(self, host: str) -> TownSite:
        return self._sites_by_host[host]

    def publish_keys(self, host: str, *keys: PublicKey) -> None:
        """Show the keys where the site proves control; without any, the site's own.

        A site with the story "wrong-key" shows another one.
        """
        site = self.site(host)
        key = site.private_key
        if site.story == "wrong-key":
            key = generate_private_key("Ed25519")
        shown = public_key_of(key)
        if site.member.proof == "dns":
            pk = base64.b64encode(shown.raw).decode("ascii")
            record = f"v=wab1; endpoint={site.document_urls[0]}; pk=ed25519:{pk}"
            self.publish_record(f"_wab.{host}", record)
        else:
            self._houses[host].publish_keys(keys or [shown])

    def publish_record(self, name: str, text: str) -> None:
        """Answer for the TXT record from now on."""
        self._names.publish(name, text)

    def change_document(self, host: str) -> None:
        """Add an action to the site's document."""
        self._houses[host].change_document(_now())

    async def _listen(self, port: int) -> asyncio.Server:
        return await asyncio.start_server(
            self._welcome,
            ADDRESS,
            port,
            ssl=self._front,
            backlog=_BACKLOG,
            ssl_handshake_timeout=HANDSHAKE_TIMEOUT_S,
            ssl_shutdown_timeout=SHUTDOWN_TIMEOUT_S,
        )

    def _welcome(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        handshake: ssl.SSLObject = writer.get_extra_info("ssl_object")
        house = self._houses[self._hosts_by_context[handshake.context]]
        task = asyncio.create_task(serve_connection(reader, writer, house, _now))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _say_goodbye(self) -> None:
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _write_hosts(self, address: str) -> None:
        lines = (f"{site.host} {address}\n" for site in self.sites)
        self.hosts_file.write_text("".join(lines), encoding="ascii")


def _settle(member: Member, key: PrivateKey, directory: Path) -> TownSite:
    return TownSite(member, key, _write_key(key, directory / f"{member.host}.pem"))


def _write_key(key: PrivateKey, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    path.chmod(_KEY_MODE)
    path.write_bytes(private_key_pem(key))
    return path


def _spell_address(listening: socket.socket) -> str:
    address, port = listening.getsockname()
    return f"{address}:{port}"


def _now() -> datetime:
    return datetime.now(UTC)
