"""One HTTP/1.1 connection for one GET, to an address that was vetted just before.

The only importer of an HTTP client. httpcore's pool is left out on purpose: it leaks a
slot whenever a deadline cancels a fetch, and a visit to one host reuses nothing.
"""

import ssl
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import Any

import certifi
import httpcore
from typing_extensions import override

from crawler import refusals
from crawler.guard import Target
from crawler.politeness import Turn
from crawler.resolve import Resolver
from registry.errors import Refused

_DIAL_AT_MOST = 3


@cache
def make_tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """One for the whole process: it takes 25 ms.

    ca_file: PEM of one more authority to trust.
    """
    context = ssl.create_default_context(cafile=certifi.where())
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if ca_file:
        context.load_verify_locations(cafile=ca_file)
    return context


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Dials only what the resolver vetted, and looks again at whom it reached.

    The name stays with httpcore, for SNI, the certificate and Host.
    """

    def __init__(self, resolver: Resolver, turn: Turn) -> None:
        self._resolver = resolver
        self._turn = turn
        self._inner = httpcore.AnyIOBackend()
        self._dialled: list[httpcore.AsyncNetworkStream] = []

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        failure: Exception = httpcore.ConnectError(f"no address of {host}")
        untried: Refused | None = None
        for endpoint in (await self._resolver.endpoints(host, port))[:_DIAL_AT_MOST]:
            try:
                await self._turn.dial(endpoint.address)
                stream = await self._inner.connect_tcp(
                    endpoint.address, endpoint.port, timeout=timeout
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
                continue
            except Refused as refused:
                untried = refused
                continue
            self._dialled.append(stream)
            self._resolver.vet(str(stream.get_extra_info("server_addr")[0]))
            return stream
        raise untried or failure

    async def aclose(self) -> None:
        """A TLS handshake that is cancelled leaves its socket to us."""
        for stream in self._dialled:
            await stream.aclose()


@asynccontextmanager
async def get(
    target: Target,
    headers: Mapping[str, str],
    *,
    resolver: Resolver,
    turn: Turn,
    tls: ssl.SSLContext,
    timeout_s: float,
) -> AsyncIterator[httpcore.Response]:
    """The answer, its body still to be read. timeout_s: of each step.

    Raises: Refused.
    """
    backend = PinnedBackend(resolver, turn)
    connection = httpcore.AsyncHTTPConnection(
        _origin(target), ssl_context=tls, network_backend=backend, keepalive_expiry=0
    )
    with _translated():
        try:
            yield await connection.handle_async_request(
                _request(target, headers, timeout_s)
            )
        finally:
            try:
                await connection.aclose()
            finally:
                await backend.aclose()


def _origin(target: Target) -> httpcore.Origin:
    return httpcore.Origin(b"https", target.host.name.encode(), target.port)


def _request(
    target: Target, headers: Mapping[str, str], timeout_s: float
) -> httpcore.Request:
    url = httpcore.URL(
        scheme=b"https",
        host=target.host.name.encode(),
        port=target.port,
        target=target.path.encode(),
    )
    authority = target.url.split("/", 3)[2]
    fields = [("Host", authority), ("Connection", "close"), *headers.items()]
    steps = ("connect", "read", "write", "pool")
    timeouts = dict.fromkeys(steps, timeout_s)
    return httpcore.Request(
        "GET", url, headers=fields, extensions={"timeout": timeouts}
    )


@contextmanager
def _translated() -> Iterator[None]:
    """Turn the errors of httpcore into refusals."""
    try:
        yield
    except httpcore.TimeoutException as error:
        raise Refused(refusals.TIMEOUT, type(error).__name__) from error
    except httpcore.ProtocolError as error:
        raise Refused(refusals.PROTOCOL, str(error)[:200]) from error
    except ssl.SSLError as error:  # of a record that arrives after the handshake
        raise Refused(refusals.TLS, str(error)[:200]) from error
    except httpcore.NetworkError as error:
        is_tls = isinstance(error.__cause__, ssl.SSLError)
        kind = refusals.TLS if is_tls else refusals.CONNECT
        raise Refused(kind, str(error)[:200]) from error
