"""The audit archive of a window: what a report is computed from, as signed files."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

from registry.archive.manifest import Manifest
from registry.archive.refusals import ARCHIVE_NOT_COVERED, ARCHIVE_WINDOW_INVALID
from registry.archive.rows import ArchivedRanking, archive_ranking
from registry.archive.writing import ArchiveWriter, Told
from registry.db import labels, log, logged_rankings
from registry.db.engine import Connection
from registry.db.former_categories import categories_then
from registry.db.invariance_runs import tallies_between
from registry.db.observations import site_disclosures
from registry.db.one_moment import read_one_moment
from registry.errors import Refused, Unavailable
from registry.fairness.report.figures import Window
from registry.fairness.window.observation import SiteDisclosure
from registry.identity.private_keys import PrivateKey
from registry.sites.identifier import spell_site_id
from registry.usecases.report import MAX_WINDOW

RETRY_AFTER_S = 2


def window_of_minutes(start: datetime, end: datetime, now: datetime) -> Window:
    """Raises: Refused if the log could not tell what belongs to it."""
    for instant in (start, end):
        if instant.tzinfo is None or instant.second or instant.microsecond:
            raise Refused(ARCHIVE_WINDOW_INVALID, f"{instant} is no minute in UTC")
    if not timedelta() < end - start <= MAX_WINDOW or end > now:
        raise Refused(ARCHIVE_WINDOW_INVALID)
    return Window(start_at=start.astimezone(UTC), end_at=end.astimezone(UTC))


async def write_archive(
    connection: Connection,
    window: Window,
    folder: Path,
    key: PrivateKey,
    tell: Callable[[int], None] = lambda _: None,
) -> Manifest:
    """connection: of the auditor, with nothing read in its transaction yet.

    folder: empty, or not there. key: of the promises. tell: how many rankings were
    written. Raises: Refused, Unavailable.
    """
    await read_one_moment(connection)
    head = await _covering_checkpoint(connection, window)
    sites = await _sites_then(connection, window.end_at)
    trials = await tallies_between(connection, window.start_at, window.end_at)
    writer = await asyncio.to_thread(ArchiveWriter, folder, sites)
    for start, end in _days(window):
        blocks = logged_rankings.read_rows(connection, start, end, window.end_at)
        async for block in blocks:
            await asyncio.to_thread(_write, writer, block)
            tell(writer.rankings)
        await asyncio.to_thread(writer.end_day, start.date().isoformat())
    said = await labels.told_at(connection, window.end_at)
    told = Told(window=window, checkpoint=head.note, trials=trials, labels=said)
    return await asyncio.to_thread(writer.finish, told, key)


async def _sites_then(connection: Connection, at: datetime) -> list[SiteDisclosure]:
    former = await categories_then(connection, at)
    spelled = {spell_site_id(site_id): name for site_id, name in former.items()}
    return [
        replace(one, category=spelled[one.site_id]) if one.site_id in spelled else one
        for one in await site_disclosures(connection, at)
    ]


async def _covering_checkpoint(
    connection: Connection, window: Window
) -> log.StoredCheckpoint:
    head = await log.latest_checkpoint(connection)
    size = head.size if head else 0
    uncovered = await logged_rankings.has_uncovered(
        connection, window.start_at, window.end_at, size
    )
    if head is None or uncovered:
        raise Unavailable(ARCHIVE_NOT_COVERED, retry_after_s=RETRY_AFTER_S)
    return head


def _days(window: Window) -> Iterator[tuple[datetime, datetime]]:
    """The window's parts by day, in UTC."""
    start = window.start_at
    while start < window.end_at:
        midnight = datetime.combine(start.date(), time(), UTC) + timedelta(days=1)
        end = min(midnight, window.end_at)
        yield start, end
        start = end


def _write(writer: ArchiveWriter, block: logged_rankings.Rows) -> None:
    writer.add([_row(one) for one in block])


def _row(row: logged_rankings.Row) -> ArchivedRanking:
    found = logged_rankings.read_logged(row)
    return archive_ranking(
        found.leaf_index, found.body, found.openings, found.eligible, found.selection
    )
