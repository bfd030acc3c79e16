"""Rate of requests towards each host, domain or network. Pure.

The generic cell rate algorithm: one instant per scope says when its next request is
due, and a request may come before it by what a burst is worth.
"""

from collections import OrderedDict

from crawler import refusals
from registry.errors import Refused

MAX_NAMES = 50_000


class Pace:
    """Token bucket. per_s: in the long run. burst: so many at once after a rest, at least 1."""

    def __init__(self, *, per_s: float, burst: int, capacity: int = MAX_NAMES) -> None:
        self._interval_s = 1 / per_s
        self._ahead_s = (burst - 1) * self._interval_s
        self._capacity = capacity
        self._due_s: OrderedDict[str, float] = OrderedDict()

    def reserve(self, name: str, *, now_s: float, patience_s: float) -> float:
        """Seconds until its turn, which it takes.

        Raises: Refused `network_busy`, and takes none, if it is further than patience_s.
        """
        due_s = max(self._due_s.get(name, now_s), now_s)
        wait_s = max(0.0, due_s - self._ahead_s - now_s)
        if wait_s > patience_s:
            raise Refused(
                refusals.NETWORK_BUSY,
                f"{name} has its requests for the next {wait_s:.0f} s",
                retry_after_s=max(1, round(wait_s)),
            )
        self._due_s[name] = due_s + self._interval_s
        self._due_s.move_to_end(name)
        while len(self._due_s) > self._capacity:
            self._due_s.popitem(last=False)
        return wait_s
