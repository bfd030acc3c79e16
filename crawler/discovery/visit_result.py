"""Result of one visit to a host, failures included. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

from crawler.frontier.schedule import parse_retry_after
from crawler.http.head import Validators
from registry.errors import Problem
from registry.formats.document import Parsed, Rejected
from registry.formats.html.markup import is_html

DiscoveredBy = Literal[
    "declared", "well_known", "page", "linked", "dns", "referenced", "known"
]
"""linked: by a page. referenced: by a document that only points to another. known:
nowhere pointed to any more, but stored from an earlier visit."""
_POINTED_TO = frozenset({"declared", "linked", "referenced", "known"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedDocument:
    """url: as it was asked for; final_url: where the redirects ended.

    links: its Link headers.
    """

    url: str
    final_url: str
    found_by: DiscoveredBy
    body: bytes
    content_type: str
    validators: Validators
    links: tuple[str, ...]
    fetched_at: datetime
    elapsed_ms: int

    @property
    def is_page(self) -> bool:
        return is_html(self.content_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """retry_after: the header as it came, or "". may_pass: it is worth another try.

    retry_after_s: what our own restraint asks for.
    """

    url: str
    found_by: DiscoveredBy
    problem: Problem
    retry_after: str = ""
    may_pass: bool = False
    retry_after_s: int | None = None

    @property
    def is_expected(self) -> bool:
        """Return whether somebody points to the address; at others nothing need be."""
        return self.found_by in _POINTED_TO or (
            self.found_by == "dns" and self.url.startswith("https:")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Result of one visit.

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
        """Return whether nothing came and something failed: time to back off."""
        return bool(self.failures) and not (self.documents or self.unchanged)

    def requested_pause(self, now: datetime) -> timedelta | None:
        """The longest that a Retry-After asked for; None where none did."""
        pauses = (
            parse_retry_after(failure.retry_after, now) for failure in self.failures
        )
        return max((pause for pause in pauses if pause is not None), default=None)

    @property
    def problems(self) -> Sequence[Problem]:
        """Return the notes, and the failures of places that somebody points to.

        Those of a failure name the address that failed.
        """
        failed = [
            replace(failure.problem, detail=f"{failure.url}: {failure.problem.detail}")
            for failure in self.failures
            if failure.is_expected
        ]
        return [*failed, *self.notes]

    @property
    def tried(self) -> Mapping[str, str]:
        """Return the places that were merely looked at, each with what failed there."""
        failed = {failure.url: failure for failure in self.failures}
        tried = dict.fromkeys(self.absent, "")
        tried |= {url: failure.problem.detail for url, failure in failed.items()}
        expected = {url for url, failure in failed.items() if failure.is_expected}
        return {url: why for url, why in tried.items() if url not in expected}

    @property
    def outcome(self) -> Literal["fetched", "unchanged", "outage", "nothing"]:
        if self.documents:
            return "fetched"
        if self.unchanged:
            return "unchanged"
        return "outage" if self.is_outage else "nothing"
