"""A ranking of the past, looked up in the log by the time that its id has."""

from datetime import datetime

from registry.auditor.proof_check import ProvenEntries
from registry.errors import RegistryError
from registry.records.record import parse_record
from registry.records.rules.calendar_days import OUT_OF_ORDER
from registry.records.rules.seen_records import ID_TOLERANCE_MIN, minute_of_id

_BEHIND_MIN = ID_TOLERANCE_MIN + int(OUT_OF_ORDER.total_seconds()) // 60


async def is_logged_ranking(entries: ProvenEntries, record_id: str) -> bool:
    """Return whether a ranking of that id stands where its time puts it.

    Raises: LogInvalid, LogUnreadable.
    """
    minute, sought = minute_of_id(record_id), f'"id":"{record_id}"'.encode()
    earliest = minute - _BEHIND_MIN
    async for _, bundle in entries.bundles_from(lambda e: _minute_of(e) < earliest):
        for entry in bundle:
            if sought in entry and _is_ranking(entry, record_id):
                return True
        if _minute_of(bundle[-1]) > minute + _BEHIND_MIN:
            return False
    return False


def _is_ranking(entry: bytes, record_id: str) -> bool:
    try:
        members = parse_record(entry)
    except RegistryError:
        return False
    return (members["kind"], members["id"]) == ("ranking", record_id)


def _minute_of(entry: bytes) -> int:
    """Return the minute since 1970 of a record; of what is none, one before all."""
    try:
        minute = str(parse_record(entry)["t"])
        return int(datetime.fromisoformat(minute).timestamp()) // 60
    except (RegistryError, ValueError):
        return 0
