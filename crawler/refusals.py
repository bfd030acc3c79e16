"""Reasons of the crawler not to fetch, or not to take a response.

Faults of a host name itself are in `registry.sites.refusals`. `UNREACHABLE` groups the
codes that say the site could not be talked to, as against having answered wrongly.
"""

from registry.errors import Refused, lookup_in, read_problem_types

_KINDS = read_problem_types(__package__)
__getattr__ = lookup_in(_KINDS)


UNREACHABLE = frozenset(
    _KINDS[name].code
    for name in (
        *("ADDRESS", "DNS_NONE", "DNS_TOO_MANY", "DNS_TIMEOUT", "DNS_FAILED"),
        *("DEADLINE", "TIMEOUT", "CONNECT", "TLS", "ROBOTS_UNREACHABLE"),
    )
)
LATER = {_KINDS[name].code: _KINDS[name] for name in ("BREAKER_OPEN", "NETWORK_BUSY")}
"""We did not ask: that says nothing about the site, and is no downtime of it."""


class UnexpectedStatus(Refused):
    """The server answered, but neither 200 nor a 304 that was asked for.

    retry_after: the header as it came, bounded; see `schedule.parse_retry_after`.
    """

    def __init__(self, status: int, retry_after: str = "") -> None:
        self.status = status
        self.retry_after = retry_after
        super().__init__(_KINDS["STATUS"], f"the server answered {status}")


class UnexpectedType(Refused):
    """The media type is none of those asked for. media_type: "" where none is given."""

    def __init__(self, media_type: str) -> None:
        self.media_type = media_type
        super().__init__(_KINDS["CONTENT_TYPE"], f"it is {media_type or 'not given'}")


def may_pass(refused: Refused) -> bool:
    """Return whether the same request may well succeed a moment later."""
    if isinstance(refused, UnexpectedStatus):
        return refused.status >= 500 or refused.status == 429
    if refused.code in LATER:
        return True
    return refused.code in UNREACHABLE or refused.code == _KINDS["PROTOCOL"].code
