"""Web Bot Auth at each request: signed for the very host that is asked, with our clock."""

from dataclasses import dataclass

from crawler.http.guard import Target
from registry.identity.requests.web_bot_auth import NONCE_BYTES, SignatureAgent
from registry.usecases.ids import IdSource


@dataclass(frozen=True, slots=True)
class BotAuth:
    agent: SignatureAgent
    ids: IdSource

    def sign(self, target: Target) -> dict[str, str]:
        """The header fields for a request to the target, redirects' targets too."""
        return self.agent.sign_request(
            target.url.split("/", 3)[2],
            now=int(self.ids.clock().timestamp()),
            nonce=self.ids.random_bytes(NONCE_BYTES),
        )
