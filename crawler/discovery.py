"""What one visit brought."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from crawler.schedule import parse_retry_after
from crawler.visit import Failure, FetchedDocument
from registry.errors import Problem
from registry.formats.document import Parsed, Rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What one visit brought.

    documents: in the order of asking; an undeclared page stands among them though it
    may hold no tools. unchanged: URLs that answered 304. absent: URLs at which there
    surely is nothing. failures: why the others, and absent declared ones, were not got;
    what is stored of them still stands. notes: what the owner should know of, though
    nothing failed. parsed: what was read already, by the URL that was asked for.
    """

    documents: tuple[FetchedDocument, ...]
    unchanged: tuple[str, ...]
    absent: tuple[str, ...]
    failures: tuple[Failure, ...]
    notes: tuple[Problem, ...]
    parsed: Mapping[str, Parsed | Rejected] = field(default_factory=dict)

    @property
    def is_outage(self) -> bool:
        """Nothing was got and something went wrong: time to back off."""
        return bool(self.failures) and not (self.documents or self.unchanged)

    def asked_pause(self, now: datetime) -> timedelta | None:
        """The longest that a Retry-After asked for; None where none did."""
        asked = (parse_retry_after(one.retry_after, now) for one in self.failures)
        return max((one for one in asked if one is not None), default=None)

    @property
    def outcome(self) -> Literal["fetched", "unchanged", "outage", "nothing"]:
        if self.documents:
            return "fetched"
        if self.unchanged:
            return "unchanged"
        return "outage" if self.is_outage else "nothing"
