"""Trace of what a visit decides and why, for listeners, while it happens.

In a working crawler nobody does: then an event is not even made, and `emit` costs the
reading of one variable. Names of events and of their members are an interface: they are
what `crawl --once --json` prints.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, ParamSpec, Self

import msgspec

from registry.errors import Refused

_LONGEST_URL = 2048
_MOST_ADDRESSES = 40
_P = ParamSpec("_P")


def _tag(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    @classmethod
    def of(cls, source: object, /, **others: Any) -> Self:
        """Take the members of the same names from the source, and the others as given."""
        names = [name for name in cls.__struct_fields__ if name not in others]
        return cls(**{name: getattr(source, name) for name in names}, **others)


class Event(Facts, frozen=True, kw_only=True, tag_field="event", tag=_tag):
    """elapsed_ms: without our own waiting. code, detail, fix: as in `errors.Problem`."""


class VisitBegun(Event, frozen=True, kw_only=True):
    """declared: what alone is asked for; without any, the well-known addresses are."""

    host: str
    declared: Sequence[str]


class Vetted(msgspec.Struct, frozen=True, kw_only=True):
    address: str
    allowed: bool


class Resolved(Event, frozen=True, kw_only=True):
    """Answer of the DNS; one address that is not allowed refuses the name."""

    host: str
    addresses: tuple[Vetted, ...]

    @classmethod
    def by(
        cls, host: str, addresses: Sequence[str], vet: Callable[[str], object]
    ) -> "Resolved":
        """vet: raises Refused."""
        vetted = [
            Vetted(address=address, allowed=_is_allowed(address, vet))
            for address in addresses[:_MOST_ADDRESSES]
        ]
        return cls(host=host, addresses=tuple(vetted))


def _is_allowed(address: str, vet: Callable[[str], object]) -> bool:
    try:
        vet(address)
    except Refused:
        return False
    return True


class RobotsFetched(Event, frozen=True, kw_only=True):
    """code: why it could not be fetched, or ""."""

    host: str
    code: str = ""
    detail: str = ""


class RobotsApply(Event, frozen=True, kw_only=True):
    """agent: whose group of rules counts; "" where there is none."""

    host: str
    agent: str
    rules: int
    permits: Literal["everything", "some", "nothing"]


class RequestSent(Event, frozen=True, kw_only=True, tag="asked"):
    """found_by: see `visit_result.DiscoveredBy`. conditional: what is stored may still hold."""

    url: str
    found_by: str
    conditional: bool


class Redirected(Event, frozen=True, kw_only=True):
    """url: that answered so. location: as it was sent, cut off at the longest URL."""

    url: str
    location: str

    @classmethod
    def by(cls, url: str, location: str) -> "Redirected":
        return cls(url=url, location=location[:_LONGEST_URL])


class Answered(Event, frozen=True, kw_only=True):
    """status: 200 or 304. body_bytes: decompressed."""

    url: str
    final_url: str
    status: int
    content_type: str
    body_bytes: int
    elapsed_ms: int


class Absent(Event, frozen=True, kw_only=True):
    """status: 404 or 410; another one where a web page stands in its place: soft."""

    url: str
    soft: bool
    elapsed_ms: int


class NotTaken(Event, frozen=True, kw_only=True):
    """status: where it was the reason, or 0."""

    url: str
    status: int
    code: str
    detail: str
    fix: str
    elapsed_ms: int


class PassedOver(Event, frozen=True, kw_only=True):
    """Request that was not made, for the host is down or wants to be left alone."""

    url: str


class Recognised(Event, frozen=True, kw_only=True):
    """A document, by its content alone."""

    url: str
    format: str
    dialect: str
    conformance: str
    actions: int
    deviations: int


class Unrecognised(Event, frozen=True, kw_only=True):
    url: str
    code: str
    detail: str
    fix: str


class Linked(Event, frozen=True, kw_only=True):
    """format: the promised one."""

    page: str
    url: str
    format: str


class RecordRead(Event, frozen=True, kw_only=True):
    """name: of the WAB record in the DNS. endpoint: where it leads, or ""."""

    name: str
    records: int
    endpoint: str


class Noted(Event, frozen=True, kw_only=True):
    """Note that the owner should know of, though nothing failed."""

    code: str
    detail: str
    fix: str


class VisitEnded(Event, frozen=True, kw_only=True):
    """Numbers of addresses, by what came of them."""

    documents: int
    unchanged: int
    absent: int
    failures: int


class Reading(Facts, frozen=True, kw_only=True):
    """signature: unsigned, valid or unpinned."""

    url: str
    format: str
    dialect: str
    conformance: str
    signature: str
    deviations: int


class Understood(Event, frozen=True, kw_only=True):
    """The site as it would be listed, without what its registration declares.

    named: the first of its actions. problems: addresses and documents left out.
    """

    name: str
    category: str
    actions: int
    named: Sequence[str]
    documents: Sequence[Reading]
    problems: int


class NotUnderstood(Noted, frozen=True, kw_only=True):
    """The reason why the site would not be listed."""


class Leased(Event, frozen=True, kw_only=True):
    site_id: int
    fence: int
    lease_s: int


WhyNotLeased = Literal["not_listed", "leased"]


class NotLeased(Event, frozen=True, kw_only=True):
    """Visit that was not begun. why: no such site is listed, or another crawler is at it."""

    host: str
    why: WhyNotLeased


class Scheduled(Event, frozen=True, kw_only=True):
    """Time of the next visit: between two instants, or, once stored, at an instant.

    result: that of the task. code: why it failed, or "".
    """

    result: str
    code: str
    earliest_s: int
    latest_s: int


Listener = Callable[[Event], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def emit(make: Callable[_P, Event], /, *given: _P.args, **named: _P.kwargs) -> None:
    """make: makes the event of the arguments, where somebody listens."""
    listener = _listener.get()
    if listener is not None:
        listener(make(*given, **named))


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Listen to events of the block, and of tasks and threads that start in it."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
