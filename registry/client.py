"""A client of the registry's API, for the commands and the demo.

The web processes never import it: they make no outbound request.
"""

import asyncio
import secrets
import ssl
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import certifi
import httpx
import msgspec
from typing_extensions import override

from registry.formats.document import MAX_BODY_BYTES
from registry.formats.html.markup import is_page
from registry.identity.keys.private_keys import PrivateKey
from registry.identity.requests.operator_request import SignedRequest, sign_request
from registry.identity.requests.web_bot_auth import authority_of
from registry.identity.statements.detached_jws import HEADER as SIGNATURE_HEADER
from registry.sites.hosts_file import Endpoint
from registry.tlog.follow import MAX_RESPONSE_BYTES

Json = dict[str, Any]
DOCUMENT_TIMEOUT_S = 15.0
FINAL = ("active", "rejected", "withdrawn")
POLL_S = 0.05
NONCE_BYTES = 16
REPORT = "/v1/reports/fairness"
OWN_REPORT = "/v1/operators/self/report"


class ProblemAnswered(Exception):
    """A refusal by the registry, with its problem document."""

    def __init__(self, problem: Json) -> None:
        self.problem = problem
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")


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


class KeptPromise(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """A promise that came with an answer, as a line of the client's file of promises.

    id: of the record, the public half of a ranking's.
    """

    registry: str
    id: str
    leaf_hash: str
    promise: dict[str, str]


def keep_promise(file: Path, registry: str, answer: Json) -> None:
    """Append the promise of an answer that has id, leafHash and promise."""
    receipt = KeptPromise(
        registry=registry,
        id=str(answer["id"]).partition(".")[0],
        leaf_hash=answer["leafHash"],
        promise=answer["promise"],
    )
    with file.open("ab") as lines:
        lines.write(msgspec.json.encode(receipt) + b"\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedFile:
    """A file with its detached JWS, "" if the registry gave none."""

    body: bytes
    signature: str


class ApiKeyAuth(httpx.Auth):
    """Send an operator's API key with every request."""

    def __init__(self, api_key: str) -> None:
        self._api_key = api_key

    @override
    def auth_flow(
        self, request: httpx.Request
    ) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._api_key}"
        yield request


class SigningAuth(httpx.Auth):
    """Sign every request with an operator's key."""

    requires_request_body = True

    def __init__(self, key: PrivateKey, origin: str) -> None:
        """Sign for the registry of this origin, as it names itself."""
        self._key = key
        self._authority = authority_of(origin)

    @override
    def auth_flow(
        self, request: httpx.Request
    ) -> Generator[httpx.Request, httpx.Response, None]:
        unsigned = SignedRequest(
            method=request.method,
            authority=self._authority,
            path=request.url.raw_path.partition(b"?")[0].decode("ascii"),
            query=request.url.query.decode("ascii"),
            fields={},
            body=request.content,
        )
        nonce, now = secrets.token_urlsafe(NONCE_BYTES), int(time.time())
        request.headers.update(sign_request(unsigned, self._key, now=now, nonce=nonce))
        yield request


class RegistryClient:
    """Client of the API. operator: identifies the caller; None: anonymous.

    promises: a file to which the promise of every answer is appended, for
    `fair-registry audit promises` to check later.
    """

    def __init__(
        self,
        base_url: str,
        *,
        timeout_s: float = 30.0,
        promises: Path | None = None,
        operator: httpx.Auth | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=base_url, timeout=timeout_s, auth=operator
        )
        self._promises = promises

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    @property
    def base_url(self) -> str:
        return str(self._http.base_url)

    async def is_ready(self) -> bool:
        try:
            return (await self._http.get("/health/ready")).status_code == 200
        except httpx.TransportError:
            return False

    async def challenge(self, host: str) -> Json:
        return await self._post("/v1/challenges", {"host": host})

    async def submit(self, token: str) -> Json:
        return await self._post_jose("/v1/registrations", token)

    async def refresh(self, host: str, token: str) -> Json:
        """token: signed with typ site-refresh+jws."""
        return await self._post_jose(f"/v1/sites/{host}/refresh", token)

    async def register_operator(self, token: str) -> Json:
        return await self._post_jose("/v1/operators", token)

    async def change_operator(self, operator_id: str, token: str) -> Json:
        """token: signed with act update, rotate or close."""
        return await self._post_jose(f"/v1/operators/{operator_id}/statements", token)

    async def registration(self, registration_id: str) -> Json:
        return await self.get(f"/v1/registrations/{registration_id}")

    async def decided(self, registration_id: str, *, timeout_s: float = 30) -> Json:
        """Wait for the decision on the registration. Raises: TimeoutError."""
        async with asyncio.timeout(timeout_s):
            while True:
                registration = await self.registration(registration_id)
                if registration["status"] in FINAL:
                    return registration
                await asyncio.sleep(POLL_S)

    async def set_label(self, signed: Json) -> Json:
        """Submit an auditor's label of a site."""
        return await self._post("/v1/labels", signed)

    async def ask_counterfactual(self, signed: Json) -> Json:
        """Ask an auditor's counterfactual question, which is not put on record."""
        return await self._post("/v1/counterfactual", signed)

    async def search(self, **query: Any) -> Json:
        given = {name: value for name, value in query.items() if value is not None}
        answer = await self._post("/v1/search", given)
        self._keep(answer["ranking"])
        return answer

    async def select(self, ranking_id: str, site_id: str | None) -> Json:
        body = {"rankingId": ranking_id, "siteId": site_id}
        answer = await self._post("/v1/selections", body)
        self._keep(answer)
        return answer

    async def erase(self, ranking_id: str) -> Json:
        """Erase the ranking's disclosures. ranking_id: whole, with its secret."""
        return _json(await self._http.post(f"/v1/rankings/{ranking_id}/erase"))

    async def get(self, path: str, params: Mapping[str, Any] | None = None) -> Json:
        return _json(await self._http.get(path, params=params))

    async def report(self, params: Mapping[str, Any], path: str = REPORT) -> SignedFile:
        """Fetch the fairness report; at OWN_REPORT that of the calling operator."""
        answer = await self._http.get(path, params=params)
        if answer.is_error:
            _json(answer)
        signature = answer.headers.get(SIGNATURE_HEADER, "")
        return SignedFile(body=answer.content, signature=signature)

    async def fetch(self, path: str) -> bytes | None:
        """Fetch a file of the log, None if there is none."""
        async with self._http.stream("GET", f"/{path}") as answer:
            if answer.status_code == 404:
                return None
            answer.raise_for_status()
            body = bytearray()
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > MAX_RESPONSE_BYTES:
                    raise httpx.DecodingError(f"{path} is too large for a log")
            return bytes(body)

    def _keep(self, answer: Json) -> None:
        if self._promises:
            keep_promise(self._promises, self.base_url, answer)

    async def _post_jose(self, path: str, token: str) -> Json:
        headers = {"Content-Type": "application/jose"}
        return _json(await self._http.post(path, content=token, headers=headers))

    async def _post(self, path: str, body: Json) -> Json:
        return _json(await self._http.post(path, json=body))


def _json(answer: httpx.Response) -> Json:
    try:
        body: Json = answer.json()
    except ValueError as error:
        detail = f"HTTP {answer.status_code} without JSON"
        raise ProblemAnswered({"code": "not_json", "detail": detail}) from error
    if answer.is_error:
        raise ProblemAnswered(body)
    return body
