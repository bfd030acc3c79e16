"""Instants in Parquet: UTC, of the type without a zone; that with one needs pytz."""

from datetime import UTC, datetime, timedelta

from registry.errors import Refused
from registry.reports.archive.refusals import ARCHIVE_DAMAGED

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def format_naive(at: datetime) -> str:
    return at.astimezone(UTC).replace(tzinfo=None).isoformat()


def instant_of(epoch_us: int) -> datetime:
    """Raises: Refused, where the calendar has no such instant."""
    try:
        return _EPOCH + timedelta(microseconds=epoch_us)
    except OverflowError as error:
        raise Refused(ARCHIVE_DAMAGED, f"{epoch_us} µs are no instant") from error
