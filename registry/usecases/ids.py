"""The registry's clock and its source of ids and secrets, so that tests pass their own."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from registry.sites.identifier import make_ulid

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class IdSource:
    """clock: in UTC; ids begin with its time. random_bytes: cryptographically secure."""

    clock: Clock = utc_now
    random_bytes: Callable[[int], bytes] = secrets.token_bytes

    def ulid(self) -> str:
        """Return an id that tells no more of its time than the minute, as records do."""
        minute = int(self.clock().timestamp()) // 60
        return make_ulid(minute * 60_000, self.random_bytes(10))

    def site_id(self) -> int:
        return int.from_bytes(self.random_bytes(8), "big") >> 1
