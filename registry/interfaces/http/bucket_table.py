"""A fixed number of token buckets, in a file that the web processes of a host share.

A bucket is a single number: the instant at which it will be full again, as in the generic
cell rate algorithm (ITU-T I.371, annex A). The clock is passed in, monotonic. A new name
replaces the bucket of its set that will be full first, and so loses least by being
forgotten. The lock keeps two processes from spending the same token.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from registry.interfaces.http.shared_sets import SetsFormat, SharedSets

ROUNDING = 1e-6  # of a token: instants are floats


@dataclass(frozen=True, slots=True)
class Quota:
    """burst: requests at once, at least 1. per_s: those that come back a second."""

    burst: int
    per_s: float

    def times(self, factor: float) -> "Quota":
        return Quota(max(1, round(self.burst * factor)), self.per_s * factor)

    @property
    def window_s(self) -> float:
        """Seconds in which an empty bucket fills."""
        return self.burst / self.per_s

    def tokens(self, full_at: float, now: float) -> float:
        """Return the tokens of a bucket, up to `burst`.

        An instant that no bucket of this limit can have, such as one from before the
        machine's clock restarted, stands for a full bucket.
        """
        missing_s = full_at - now
        if not 0 < missing_s <= self.window_s + 1:
            return self.burst
        return max(0.0, self.burst - missing_s * self.per_s + ROUNDING)

    def spend(self, tokens: float, now: float) -> float:
        """Return the instant at which the bucket is full, after one of its tokens."""
        return now + (self.burst - tokens + 1) / self.per_s


@dataclass(frozen=True, slots=True)
class Allowance:
    """Tokens that a bucket has left after a request. wait_s: until it lets one through."""

    limit: Quota
    tokens: float

    @property
    def left(self) -> int:
        return int(self.tokens)

    @property
    def full_in_s(self) -> int:
        return math.ceil((self.limit.burst - self.tokens) / self.limit.per_s)

    @property
    def wait_s(self) -> int:
        """Return the whole seconds, at least 1, until the bucket has a token."""
        return max(1, math.ceil((1 - self.tokens) / self.limit.per_s))


FORMAT = SetsFormat("limits-1", 8_192, "d", 0.002, b"FRLIMIT1".ljust(64, b"\0"))


class BucketTable(SharedSets):
    """Buckets by name."""

    form = FORMAT

    def take(
        self, wanted: Sequence[tuple[str, Quota]], now: float
    ) -> tuple[bool, list[Allowance]]:
        """Take a token from all the buckets, or from none if one of them has none left.

        now: seconds, monotonic. Returns whether they were taken, and what is left.
        """
        locked = self.lock()
        try:
            tags = [self.tag(name) for name, _ in wanted]
            slots = [self.slot(tag) for tag in tags]
            tokens = [
                limit.tokens(full_at or 0.0, now)
                for (_, limit), (_, full_at) in zip(wanted, slots, strict=True)
            ]
            taken = min(tokens) >= 1
            if taken:
                for (_, limit), tag, (way, _), had in zip(
                    wanted, tags, slots, tokens, strict=True
                ):
                    self.write(tag, way, limit.spend(had, now))
        finally:
            if locked:
                self.unlock()
        return taken, [
            Allowance(limit, had - taken)
            for (_, limit), had in zip(wanted, tokens, strict=True)
        ]
