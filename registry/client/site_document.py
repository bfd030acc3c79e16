"""Documents of sites, fetched on behalf of the command's user."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import certifi
import httpx
from typing_extensions import override

from registry.formats.document import MAX_BODY_BYTES
from registry.formats.html.markup import is_page
from registry.sites.hosts_file import Endpoint

DOCUMENT_TIMEOUT_S = 15.0


class DocumentUnreachable(Exception):
    """A document for `lint` could not be fetched; the text gives the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadedDocument:
    """A response's body. url: after all redirects."""

    url: str
    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DevelopmentNetwork:
    """hosts: where https://host/ connects, past the DNS. ca_file: PEM of an authority.

    Empty and None: the public network.
    """

    hosts: Mapping[str, Endpoint] = field(default_factory=dict)
    ca_file: Path | None = None

    def tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=certifi.where())
        if self.ca_file:
            context.load_verify_locations(cafile=self.ca_file)
        return context


PUBLIC_NETWORK = DevelopmentNetwork()


class _MappedTransport(httpx.AsyncHTTPTransport):
    """Connect a mapped host elsewhere; Host and certificate stay those of its name."""

    def __init__(self, network: DevelopmentNetwork) -> None:
        super().__init__(verify=network.tls())
        self._hosts = network.hosts

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.raw_host.decode("ascii")
        mapped = self._hosts.get(host) if request.url.scheme == "https" else None
        if mapped:
            request = httpx.Request(
                request.method,
                request.url.copy_with(host=mapped.address, port=mapped.port),
                headers=request.headers,
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": host},
            )
        return await super().handle_async_request(request)


async def fetch_document(
    url: str, *, network: DevelopmentNetwork = PUBLIC_NETWORK
) -> DownloadedDocument:
    """Fetch a document on behalf of the command's user.

    Raises: DocumentUnreachable.
    """
    transport = None if network == PUBLIC_NETWORK else _MappedTransport(network)
    client = httpx.AsyncClient(
        follow_redirects=True, max_redirects=5, transport=transport
    )
    try:
        async with (
            asyncio.timeout(DOCUMENT_TIMEOUT_S),
            client,
            client.stream("GET", url) as answer,
        ):
            if answer.status_code != httpx.codes.OK:
                raise DocumentUnreachable(f"the server answered {answer.status_code}")
            body = await _read_body(answer)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise DocumentUnreachable(str(error) or type(error).__name__) from error
    except TimeoutError as error:
        raise DocumentUnreachable(f"no answer in {DOCUMENT_TIMEOUT_S:g} s") from error
    return DownloadedDocument(
        url=str(answer.url),
        content_type=answer.headers.get("Content-Type", ""),
        body=body,
    )


async def _read_body(answer: httpx.Response) -> bytes:
    """Read a document, or of a page what the crawler takes of it."""
    body = bytearray()
    async for part in answer.aiter_bytes():
        body += part
        if len(body) > MAX_BODY_BYTES:
            if not is_page(bytes(body), answer.headers.get("Content-Type", "")):
                raise DocumentUnreachable(f"more than {MAX_BODY_BYTES} bytes")
            break
    return bytes(body[: MAX_BODY_BYTES + 1])
