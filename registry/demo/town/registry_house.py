"""The registry itself as a site of the town: what a reverse proxy in front of it does."""

from datetime import datetime
from http import HTTPStatus

import httpx
from typing_extensions import override

from registry.demo.town.house import House, HttpRequest, Reply, refusal
from registry.demo.town.member import Member
from registry.identity.keys.key_source import KEY_SET_PATH
from registry.identity.keys.private_keys import PrivateKey

REGISTRY = Member(
    host="registry.test",
    name="Fair Registry",
    format="wab",
    category="registry",
    description="The registry, which lists itself.",
    actions=(),
)
"""Member without actions: those are in the documents that the running registry serves."""

REGISTRY_URLS = tuple(
    f"{REGISTRY.url}{path}"
    for path in (
        "agent-bridge.json",
        "agent.json",
        ".well-known/ai-actions.json",
        "abp-manifest.json",
        "",
    )
)
"""Addresses of its documents of WAB, AWP, AWAS, ABP and WebMCP."""

TIMEOUT_S = 10.0
_PASSED_ON = ("Content-Type", "ETag", "Cache-Control")


class RegistryHouse(House):
    """Hands reads on to a registry, and in the answers names it by its host in the town.

    The key set is its own, as of every house.
    """

    def __init__(self, key: PrivateKey, opened_at: datetime, origin: str) -> None:
        """origin: where the registry serves plain HTTP, without a last slash."""
        super().__init__(REGISTRY, key, opened_at)
        self._origin = origin
        self._client = httpx.AsyncClient(
            timeout=TIMEOUT_S,
            limits=httpx.Limits(max_keepalive_connections=0),
            headers={"Accept-Encoding": "identity"},
        )

    @override
    async def reply(self, request: HttpRequest, now: datetime) -> Reply:
        if request.path == KEY_SET_PATH or self.refuse(request):
            return self.answer(request, now)
        url = f"{self._origin}{request.path}?{request.query}".rstrip("?")
        try:
            answer = await self._client.get(
                url, headers={"If-None-Match": request.if_none_match or '""'}
            )
        except httpx.HTTPError:
            return refusal(HTTPStatus.BAD_GATEWAY, "Bad Gateway")
        return Reply(
            status=answer.status_code,
            headers=[
                (name, answer.headers[name])
                for name in _PASSED_ON
                if name in answer.headers
            ],
            body=self._renamed(answer.content),
        )

    def _renamed(self, body: bytes) -> bytes:
        _, _, inside = self._origin.partition("//")
        address = inside.rpartition(":")[0]
        for name, renamed in (
            (f"http://{inside}", f"https://{REGISTRY.host}"),
            (f"ws://{inside}", f"wss://{REGISTRY.host}"),
            (inside, REGISTRY.host),
            (f'"{address}"', f'"{REGISTRY.host}"'),  # a member such as AWP's domain
        ):
            body = body.replace(name.encode(), renamed.encode())
        return body
