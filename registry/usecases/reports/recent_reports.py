"""Reports that were made within the last minute, for those who ask without a key.

A copy states its own window: asked for "until now", it is one until the instant at which
it was made. A caller who signs gets a report of this very moment.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

from registry.reports.render.report_files import Form
from registry.usecases.ids import Clock

LIFE = timedelta(minutes=1)
MAX_BYTES = 32_000_000


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """start, end: as they were asked for; None: open."""

    start: datetime | None
    end: datetime | None
    operator: str
    category: str
    form: Form


class RecentReports:
    """Bodies by what was asked for; the oldest go first. now: the clock, in UTC."""

    def __init__(self, now: Clock) -> None:
        self._now = now
        self._bodies: OrderedDict[ReportRequest, tuple[datetime, bytes]] = OrderedDict()

    def find(self, request: ReportRequest) -> bytes | None:
        ready_at, body = self._bodies.get(request, (None, b""))
        if ready_at is None or self._now() - ready_at > LIFE:
            return None
        return body

    def save(self, request: ReportRequest, body: bytes) -> None:
        """Keep the body, unless its window goes on: it would be stale in a moment."""
        now = self._now()
        if request.end is not None and request.end > now:
            return
        self._bodies.pop(request, None)
        self._bodies[request] = now, body
        while sum(len(body) for _, body in self._bodies.values()) > MAX_BYTES:
            self._bodies.popitem(last=False)
