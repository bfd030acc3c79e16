"""Requests of an operator, whose rankings are counted for it: by API key or signed."""

import secrets
import time
from collections.abc import Generator

import httpx
from typing_extensions import override

from registry.identity.keys.private_keys import PrivateKey
from registry.identity.requests.operator_request import SignedRequest, sign_request
from registry.identity.requests.web_bot_auth import authority_of

NONCE_BYTES = 16


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
