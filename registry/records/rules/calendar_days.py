"""Days and minutes of records, in UTC: `2026-11-24` and `2026-11-24T04:12Z`."""

from datetime import UTC, date, datetime, timedelta

MERGE_DELAY = timedelta(seconds=1)
RESOLUTION = timedelta(minutes=1)  # of a record's time
OUT_OF_ORDER = MERGE_DELAY + RESOLUTION  # by how much a record's time may go back
REVEAL_WITHIN = timedelta(days=1)  # after the end of the seed's day


def instant_of_minute(minute: str) -> datetime:
    """Raises: ValueError where the calendar has no such minute."""
    return datetime.fromisoformat(minute)


def is_ahead(minute: str, now: datetime) -> bool:
    """Return whether it is yet to come, by more than clocks differ. minute: or ""."""
    return bool(minute) and instant_of_minute(minute) > now + OUT_OF_ORDER


def day_after(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()


def is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def start_of(day: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)


def reveal_due_at(day: str) -> datetime:
    return start_of(day) + timedelta(days=1) + REVEAL_WITHIN
