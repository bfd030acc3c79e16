"""Copies of reports: for a minute, of what does not go on, and not without end."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from registry.usecases.reports import recent_reports
from registry.usecases.reports.recent_reports import RecentReports, ReportRequest

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
OPEN = ReportRequest(start=None, end=None, operator="", category="", form="json")


class Recent:
    def __init__(self) -> None:
        self.now = NOW
        self.reports = RecentReports(lambda: self.now)


@pytest.fixture
def recent() -> Recent:
    return Recent()


def test_a_copy_is_good_for_a_minute_and_for_what_was_asked(recent: Recent) -> None:
    recent.reports.save(OPEN, b"a")
    assert recent.reports.find(replace(OPEN, form="html")) is None
    assert recent.reports.find(replace(OPEN, category="hotel")) is None
    recent.now += timedelta(seconds=60)
    assert recent.reports.find(OPEN) == b"a"
    recent.now += timedelta(seconds=1)
    assert recent.reports.find(OPEN) is None


def test_a_window_that_goes_on_is_not_kept(recent: Recent) -> None:
    """It would lack what comes into it after it was made."""
    ended = replace(OPEN, end=NOW - timedelta(seconds=1))
    going_on = replace(OPEN, end=NOW + timedelta(seconds=1))
    for request in (ended, going_on):
        recent.reports.save(request, b"a")
    assert recent.reports.find(ended) == b"a"
    assert recent.reports.find(going_on) is None


def test_the_oldest_goes_when_there_are_too_many(
    recent: Recent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent_reports, "MAX_BYTES", 25)
    requests = [replace(OPEN, category=str(number)) for number in range(3)]
    for request in requests:
        recent.reports.save(request, b"0123456789")
    result = [recent.reports.find(request) for request in requests]
    assert result == [None, b"0123456789", b"0123456789"]
