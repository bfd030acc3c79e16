"""The registry's randomness and clock, at one place so that tests can hand in others."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from registry.sites.identifier import make_ulid


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Chance:
    """now: the instant in UTC. random_bytes: cryptographically secure."""

    now: Callable[[], datetime] = utc_now
    random_bytes: Callable[[int], bytes] = secrets.token_bytes

    def ulid(self) -> str:
        milliseconds = int(self.now().timestamp() * 1000)
        return make_ulid(milliseconds, self.random_bytes(10))

    def site_id(self) -> int:
        return int.from_bytes(self.random_bytes(8), "big") >> 1
