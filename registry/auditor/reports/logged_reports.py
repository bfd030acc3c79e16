"""Reports as the log names them: their records, and the lists in which they stand."""

from collections.abc import AsyncIterator
from datetime import datetime

from registry.auditor.proof_check import ProvenEntries
from registry.auditor.source import LogSource, LogUnreadable, NotThere
from registry.calls.results import Json
from registry.records.record import format_minute, parse_record
from registry.records.record_fields import Members

MAX_PAGES = 10_000


async def pages(
    source: LogSource, path: str, parameter: str = "cursor", member: str = "nextCursor"
) -> AsyncIterator[Json]:
    """Yield the pages of a list. path: with a query. Raises: LogUnreadable.

    parameter: of the query, which takes what the member of the page before it says.
    """
    following = ""
    for _ in range(MAX_PAGES):
        page = await source.get_json(
            path + (f"&{parameter}={following}" if following else "")
        )
        yield page
        following = page[member]
        if not following:
            return
    raise LogUnreadable(f"{path} has more than {MAX_PAGES} pages")


async def read_record(entries: ProvenEntries, index: int) -> Members:
    """Raises: LogInvalid, LogUnreadable."""
    if index >= entries.head.size:
        raise NotThere(f"the log has no entry {index} yet")
    return parse_record(await entries.at(index))


def names_window(record: Members, start_at: datetime, end_at: datetime) -> bool:
    """Return whether a record is of a report of that window."""
    minutes = tuple(map(format_minute, (start_at, end_at)))
    is_report = record["kind"] == "report"
    return is_report and minutes == (record["from"], record["to"])
