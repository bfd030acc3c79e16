"""Web Bot Auth at each request: signed for the very host that is asked, with our clock."""

from dataclasses import dataclass
from typing import Any

from crawler.http.guard import Target
from registry.identity.requests.web_bot_auth import NONCE_BYTES, SignatureAgent
from registry.usecases.ids import IdSource


@dataclass(frozen=True, slots=True)
class BotAuth:
    agent: SignatureAgent
    ids: IdSource

    def sign(self, target: Target) -> dict[str, str]:
        """The header fields for a request to the target, redirects' targets too."""
        return self.agent.sign_request(_authority(target), **self._fresh())

    def sign_post(
        self, target: Target, content: bytes, content_type: str
    ) -> dict[str, str]:
        """The header fields for a delivery: method, path and content are signed too."""
        return self.agent.sign_delivery(
            _authority(target), target.path, content, content_type, **self._fresh()
        )

    def _fresh(self) -> dict[str, Any]:
        now = int(self.ids.clock().timestamp())
        return {"now": now, "nonce": self.ids.random_bytes(NONCE_BYTES)}


def _authority(target: Target) -> str:
    return target.url.split("/", 3)[2]
