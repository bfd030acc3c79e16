"""Budget of bytes that may still arrive. Pure."""

from crawler import refusals
from registry.errors import ProblemType, Refused


class ByteBudget:
    """Budget of one response or handshake, and of the visit around it."""

    def __init__(
        self,
        limit: int,
        kind: ProblemType = refusals.BODY_WIRE,
        *,
        within: "ByteBudget | None" = None,
    ) -> None:
        self._limit = self._left = limit
        self._kind = kind
        self._within = within

    def spend(self, count: int) -> None:
        """Raises: Refused of the kind."""
        self._left -= count
        if self._left < 0:
            raise Refused(self._kind, f"more than {self._limit} bytes arrived")
        if self._within is not None:
            self._within.spend(count)
