"""Months of reports, each by its first day."""

from datetime import MAXYEAR, UTC, date, datetime, timedelta

from registry.errors import Refused
from registry.usecases.refusals import MONTH_INVALID


def parse_month(text: str) -> date:
    """Return the first day of a month such as 2026-10. Raises: Refused."""
    with Refused.on(ValueError, MONTH_INVALID, f"{text[:20]!r} is no month"):
        month = datetime.strptime(text, "%Y-%m").replace(tzinfo=UTC).date()
    if format_month(month) != text or month.year == MAXYEAR:
        raise Refused(MONTH_INVALID, f"{text[:20]!r} is not spelled as 2026-10")
    return month


def format_month(month: date) -> str:
    return month.isoformat()[:7]


def month_after(month: date) -> date:
    """Return the next first day. month: a first day. Raises: OverflowError after the last."""
    return (month + timedelta(days=31)).replace(day=1)


def midnight(day: date) -> datetime:
    """Return the beginning of the day in UTC."""
    return datetime.combine(day, datetime.min.time(), UTC)
