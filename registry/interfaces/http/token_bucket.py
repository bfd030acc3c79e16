"""Token buckets, each a single number: the instant at which it will be full again.

That is the generic cell rate algorithm (ITU-T I.371, annex A). The clock is passed in.
"""

import math
from dataclasses import dataclass

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
        machine's clock began anew, stands for a full bucket.
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
