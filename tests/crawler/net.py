"""Real servers on loopback, honest and hostile, and a crawler that reaches them."""

import asyncio
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import cast

import dns.asyncresolver
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.resolver
import dns.rrset
import trustme

from crawler.http.fetch import Fetcher, FetcherConfig
from crawler.http.resolve import AddressLookup, Resolver, ResolverConfig
from crawler.restraint.politeness import TOWARDS_OURSELVES, Politeness
from registry.sites.hosts_file import Endpoint

USER_AGENT = "FairRegistryBot/1.0 (+https://registry.example/bot)"
HOST = "shop.test"

NXDOMAIN = ("there is no such name",)

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]


@dataclass
class Page:
    """An honest answer. delay_s: before it."""

    body: bytes = b"{}"
    content_type: str = "application/json"
    status: str = "200 OK"
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0

    def encode(self) -> bytes:
        headers = {
            "Content-Type": self.content_type,
            "Content-Length": str(len(self.body)),
            **self.headers,
        }
        lines = [f"HTTP/1.1 {self.status}", *(f"{k}: {v}" for k, v in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


class HonestSite:
    """Serves pages by path and remembers what it was asked."""

    def __init__(self, pages: Mapping[str, Page] | None = None) -> None:
        self.pages = dict(pages or {})
        self.requests: list[Request] = []
        self.at_once = self.most_at_once = 0

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    async def __call__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        request = await read_request(reader)
        self.requests.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        page = self.pages.get(
            request.path, Page(b"nothing here", "text/plain", "404 Not Found")
        )
        await asyncio.sleep(page.delay_s)
        self.at_once -= 1
        etag = page.headers.get("ETag")
        if etag and request.headers.get("if-none-match") == etag:
            page = Page(b"", status="304 Not Modified", headers={"ETag": etag})
        writer.write(page.encode())
        await writer.drain()


async def read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.rstrip().split("\r\n")
    fields = (line.split(": ", 1) for line in lines)
    return Request(first.split()[1], {name.lower(): value for name, value in fields})


def raw(answer: bytes) -> Handler:
    """Reads the request, sends the bytes, closes."""

    async def handle(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await read_request(reader)
        writer.write(answer)
        await writer.drain()

    return handle


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


class Net:
    """A loopback internet: hosts with servers, an authority and a name server."""

    def __init__(self, folder: Path) -> None:
        self.authority = trustme.CA()
        self.ca_file = folder / "ca.pem"
        self.authority.cert_pem.write_to_path(str(self.ca_file))
        self.hosts: dict[str, Endpoint] = {}
        self._contexts: dict[
            tuple[trustme.CA, tuple[str, ...], datetime | None], ssl.SSLContext
        ] = {}
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._transports: list[asyncio.BaseTransport] = []

    async def serve(
        self,
        handler: Handler,
        *hosts: str,
        tls: bool = True,
        certified: Sequence[str] | None = None,
        authority: trustme.CA | None = None,
        expires_at: datetime | None = None,
    ) -> int:
        """certified: names in the certificate, where not the hosts'."""
        context = None
        if tls:
            names = tuple(certified or hosts or (HOST,))
            context = self.context(*names, authority=authority, expires_at=expires_at)
        server = await asyncio.start_server(
            self._guarded(handler), "127.0.0.1", 0, ssl=context
        )
        self._servers.append(server)
        port: int = server.sockets[0].getsockname()[1]
        for host in hosts or (HOST,):
            self.hosts[host] = Endpoint("127.0.0.1", port)
        return port

    def context(
        self,
        *names: str,
        authority: trustme.CA | None = None,
        expires_at: datetime | None = None,
    ) -> ssl.SSLContext:
        """Return a server's context; each certificate is issued once."""
        authority = authority or self.authority
        context = self._contexts.get((authority, names, expires_at))
        if context is None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            certificate = authority.issue_cert(*names, not_after=expires_at)
            certificate.configure_cert(context)
            self._contexts[authority, names, expires_at] = context
        return context

    def _guarded(self, handler: Handler) -> Handler:
        async def handle(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            task = asyncio.current_task()
            assert task
            self._tasks.add(task)
            try:
                with suppress(OSError, asyncio.IncompleteReadError):
                    await handler(reader, writer)
            except asyncio.CancelledError:
                pass
            finally:
                self._tasks.discard(task)
                writer.close()

        return handle

    async def serve_dns(self, zone: Mapping[str, Sequence[str] | None]) -> Endpoint:
        """TXT records by name; None: it says nothing, "": it says SERVFAIL."""
        return await self._serve_names(NameServer(zone))

    async def serve_addresses(self, *answers: Sequence[str] | None) -> "AddressServer":
        """Addresses of any name, a new answer at each look-up, the last for ever."""
        server = AddressServer(answers)
        server.endpoint = await self._serve_names(server)
        return server

    async def _serve_names(self, server: asyncio.DatagramProtocol) -> Endpoint:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(
            lambda: server, local_addr=("127.0.0.1", 0)
        )
        self._transports.append(transport)
        return Endpoint("127.0.0.1", transport.get_extra_info("sockname")[1])

    def fetcher(
        self,
        *,
        deadline_s: float = 5.0,
        step_timeout_s: float = 2.0,
        look_up: AddressLookup | None = None,
        dns_server: Endpoint | None = None,
        dns_timeout_s: float = 0.3,
        politeness: Politeness | None = None,
    ) -> Fetcher:
        """politeness: by default none, for here are a thousand requests a second."""
        config = ResolverConfig(
            allow_loopback=True,
            hosts=self.hosts,
            dns_server=dns_server,
            timeout_s=dns_timeout_s,
        )
        return Fetcher(
            FetcherConfig(
                user_agent=USER_AGENT,
                resolver=Resolver(config, look_up=look_up),
                politeness=politeness or Politeness(TOWARDS_OURSELVES),
                ca_file=self.ca_file,
                deadline_s=deadline_s,
                step_timeout_s=step_timeout_s,
            )
        )

    async def close(self) -> None:
        for transport in self._transports:
            transport.close()
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0.01)
        self.hosts.clear()
        self._servers.clear()


class NameServer(asyncio.DatagramProtocol):
    def __init__(self, zone: Mapping[str, Sequence[str] | None]) -> None:
        self._zone = zone

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        query = dns.message.from_wire(data)
        name = query.question[0].name
        answer = dns.message.make_response(query)
        texts = self._zone.get(name.to_text(omit_final_dot=True), ())
        if texts is None:
            return
        if texts == "":
            answer.set_rcode(dns.rcode.SERVFAIL)
        elif texts:
            rows = [f'"{text}"' for text in texts]
            answer.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", *rows))
        else:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        answer.flags |= dns.flags.RA
        self._transport.sendto(answer.to_wire(), addr)


class AddressServer(asyncio.DatagramProtocol):
    """A name server that says what it likes; None: it says nothing."""

    endpoint = Endpoint("127.0.0.1", 53)

    def __init__(self, answers: Sequence[Sequence[str] | None]) -> None:
        self._answers = answers
        self.questions: Counter[str] = Counter()

    async def look_up(self, host: str) -> Sequence[str]:
        """What the system does for a crawler, but asking this server."""
        resolver = dns.asyncresolver.Resolver(configure=False)
        resolver.nameservers = [self.endpoint.address]
        resolver.port = self.endpoint.port
        try:
            result = await resolver.resolve_name(dns.name.from_text(f"{host}."))
        except dns.resolver.NoAnswer:
            return []
        except dns.exception.DNSException as error:
            raise OSError(f"{host} was not resolved") from error
        return list(result.addresses())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        query = dns.message.from_wire(data)
        question = query.question[0]
        kind = dns.rdatatype.to_text(question.rdtype)
        at = min(self.questions[kind], len(self._answers) - 1)
        self.questions[kind] += 1
        addresses = self._answers[at]
        if addresses is None:
            return
        reply = dns.message.make_response(query)
        reply.flags |= dns.flags.RA
        if addresses == NXDOMAIN:
            reply.set_rcode(dns.rcode.NXDOMAIN)
        elif fitting := [
            address for address in addresses if (":" in address) == (kind == "AAAA")
        ]:
            rows = dns.rrset.from_text(question.name, 0, "IN", kind, *fitting)
            reply.answer.append(rows)
        self._transport.sendto(reply.to_wire(), addr)
