"""The client of the commands and the demo, which show answers as they come."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from registry.calls.api_call import (
    ApiCall,
    post_jose,
    post_json,
    verify_success,
)
from registry.calls.failures import AnswerInvalid
from registry.calls.results import Json
from registry.client.calling import ApiConnection
from registry.identity.statements.detached_jws import HEADER as SIGNATURE_HEADER

FINAL = ("active", "rejected", "withdrawn")
POLL_S = 0.05
REPORT = "/v1/reports/fairness"
OWN_REPORT = "/v1/operators/self/report"
MAX_REPORT_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedFile:
    """A file with its detached JWS, "" if the registry gave none."""

    body: bytes
    signature: str


class RegistryClient(ApiConnection):
    """Client of the API in its own JSON."""

    async def is_ready(self) -> bool:
        call = ApiCall(method="GET", path="/health/ready")
        try:
            return (await self.send(call)).status == 200
        except (httpx.TransportError, AnswerInvalid):
            return False

    async def challenge(self, host: str) -> Json:
        return await self.post("/v1/challenges", {"host": host})

    async def submit(self, token: str) -> Json:
        return await self.state("/v1/registrations", token)

    async def state(self, path: str, token: str) -> Json:
        """Send a statement or request that its `typ` tells apart from others."""
        return await self.call(post_jose(path, token), Json)

    async def post(self, path: str, body: Json) -> Json:
        return await self.call(post_json(path, body), Json)

    async def decided(self, registration_id: str, *, timeout_s: float = 120) -> Json:
        """Wait for the decision on the registration. Raises: TimeoutError."""
        path = f"/v1/registrations/{quote(registration_id, safe='')}"
        async with asyncio.timeout(timeout_s):
            while True:
                registration = await self.get(path)
                if registration["status"] in FINAL:
                    return registration
                await asyncio.sleep(POLL_S)

    async def search(self, **query: Any) -> Json:
        given = {name: value for name, value in query.items() if value is not None}
        answer = await self.post("/v1/search", given)
        self._keep_promise(answer["ranking"])
        return answer

    async def select(self, ranking_id: str, site_id: str | None) -> Json:
        body = {"rankingId": ranking_id, "siteId": site_id}
        answer = await self.post("/v1/selections", body)
        self._keep_promise(answer)
        return answer

    async def erase(self, ranking_id: str) -> Json:
        """Erase the ranking's disclosures. ranking_id: whole, with its secret."""
        path = f"/v1/rankings/{ranking_id}/erase"
        return await self.call(ApiCall(method="POST", path=path), Json)

    async def get(self, path: str, params: Mapping[str, Any] | None = None) -> Json:
        return await self.get_as(path, Json, params)

    async def report(self, params: Mapping[str, Any], path: str = REPORT) -> SignedFile:
        """Fetch the fairness report; at OWN_REPORT that of the calling operator."""
        answer = await self.send(
            ApiCall(method="GET", path=path, params=params, max_bytes=MAX_REPORT_BYTES)
        )
        verify_success(answer)
        signature = answer.headers.get(SIGNATURE_HEADER.lower(), "")
        return SignedFile(body=answer.body, signature=signature)
