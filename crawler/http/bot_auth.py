"""Web Bot Auth at each request: signed for the very host that is asked, with our clock."""

from dataclasses import dataclass

from crawler.http.guard import Target
from registry.identity.requests.web_bot_auth import NONCE_BYTES, SignatureAgent
from registry.usecases.chance import Chance


@dataclass(frozen=True, slots=True)
class BotAuth:
    agent: SignatureAgent
    chance: Chance

    def sign(self, target: Target) -> dict[str, str]:
        """The header fields for a request to the target, redirects' targets too."""
        return self.agent.sign_request(
            target.url.split("/", 3)[2],
            now=int(self.chance.now().timestamp()),
            nonce=self.chance.random_bytes(NONCE_BYTES),
        )
