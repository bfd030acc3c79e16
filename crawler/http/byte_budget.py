"""Budget of bytes that may still arrive. Pure."""

from dataclasses import dataclass, field

from crawler import refusals
from registry.errors import ProblemType, Refused


@dataclass(slots=True)
class ByteBudget:
    """Budget of one response or handshake, and of the visit around it."""

    limit: int
    kind: ProblemType = refusals.BODY_WIRE
    within: "ByteBudget | None" = field(kw_only=True, default=None)
    _spent: int = field(init=False, default=0)

    def spend(self, count: int) -> None:
        """Raises: Refused of the kind."""
        self._spent += count
        if self._spent > self.limit:
            raise Refused(self.kind, f"more than {self.limit} bytes arrived")
        if self.within is not None:
            self.within.spend(count)
