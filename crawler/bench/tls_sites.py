"""A crowd of sites on loopback over real TLS 1.3, with certificates on P-256.

One port of one process serves them all. A host has a robots.txt and a document; the
connection stays open for as long as the client wants, as on most servers.
"""

import asyncio
import multiprocessing
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path

import trustme

from crawler.bench.documents import build_document, host_of, path_of
from crawler.robots.robots_txt import PATH as ROBOTS_PATH

ROBOTS = b"User-agent: *\nDisallow: /admin/\nDisallow: /search?\nAllow: /\n"
ETAG = '"crowd"'
BACKLOG = 1024
NAMES_OF_A_CERTIFICATE = 10  # one each would take longer to issue than to crawl


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """hosts: those of the numbers from 1 to it. ca_file: PEM."""

    hosts: int
    port: int
    ca_file: Path

    @property
    def numbers(self) -> range:
        return range(1, self.hosts + 1)

    def at_port(self, url: str) -> str:
        """The URL of one of its sites, with the port."""
        scheme, _, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme}://{host}:{self.port}{slash}{path}"


@contextmanager
def crowd_of(hosts: int) -> Iterator[Crowd]:
    """Served by a process of its own, until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="fair-registry-bench-") as folder:
        here, there = multiprocessing.Pipe()
        ca_file = Path(folder, "ca.pem")
        server = multiprocessing.get_context("spawn").Process(
            target=_serve, args=(there, hosts, ca_file)
        )
        server.start()
        try:
            yield Crowd(hosts=hosts, port=here.recv(), ca_file=ca_file)
        finally:
            server.terminate()
            server.join()


def _serve(ready: Connection, hosts: int, ca_file: Path) -> None:
    asyncio.run(_serve_all(ready, hosts, ca_file))


async def _serve_all(ready: Connection, hosts: int, ca_file: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(ca_file))
    contexts: dict[str, ssl.SSLContext] = {}
    for start in range(0, hosts + 1, NAMES_OF_A_CERTIFICATE):
        names = [host_of(start + n) for n in range(NAMES_OF_A_CERTIFICATE)]
        contexts |= dict.fromkeys(names, _context(authority, *names))
    front = _context(authority, "front.test")

    def choose(tls: ssl.SSLObject, name: str, _: ssl.SSLContext) -> None:
        tls.context = contexts.get(name, front)

    front.sni_callback = choose
    server = await asyncio.start_server(
        _answer, "127.0.0.1", 0, ssl=front, backlog=BACKLOG
    )
    ready.send(server.sockets[0].getsockname()[1])
    await asyncio.Event().wait()


def _context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await _answer_one(reader, writer):
            pass
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _answer_one(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    """Answer a request and return whether the client may ask again."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    path = head.split(" ", 2)[1]
    host = head.partition("\r\nhost: ")[2].partition("\r\n")[0].partition(":")[0]
    is_known = f"\r\nif-none-match: {ETAG}\r\n" in head
    writer.write(_UNCHANGED if is_known else _page(host, path))
    await writer.drain()
    return "\r\nconnection: close" not in head


def _page(host: str, path: str) -> bytes:
    if path == ROBOTS_PATH:
        return _spell("200 OK", "text/plain", ROBOTS)
    number = int(host.removeprefix("crowd-").partition(".")[0])
    if path != path_of(number):
        return _spell("404 Not Found", "text/plain", b"nothing here")
    return _spell("200 OK", "application/json", _document(number))


_document = cache(build_document)


def _spell(status: str, content_type: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\nDate: Sun, 22 Nov 2026 10:00:00 GMT\r\n"
        "Server: crowd\r\nCache-Control: max-age=600\r\n"
        f"ETag: {ETAG}\r\nVary: Accept-Encoding\r\n\r\n"
    )
    return head.encode() + body


_UNCHANGED = _spell("304 Not Modified", "application/json", b"")
