"""The audit archive of a window: what a report is computed from, as signed files."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

from registry.db import labels
from registry.db.engine.engines import Connection
from registry.db.engine.snapshots import fix_snapshot
from registry.db.log import entries as log
from registry.db.log import logged_rankings
from registry.db.reports.declared_by_sites import declared_pages
from registry.db.reports.invariance_runs import tallies_between
from registry.db.reports.observations import site_disclosures
from registry.db.sites.former_categories import categories_then
from registry.errors import Refused, Unavailable
from registry.identity.keys.private_keys import PrivateKey
from registry.reports.archive import refusals
from registry.reports.archive.archive_manifest import Manifest
from registry.reports.archive.archive_rows import ArchivedRanking, archive_ranking
from registry.reports.archive.writing import ArchiveWriter, WriteSummary
from registry.reports.report_terms import Window
from registry.reports.window.observation import SiteDisclosure
from registry.sites.identifier import format_site_id
from registry.usecases.reports.make_report import MAX_WINDOW, verify_is_there

RETRY_AFTER_S = 2
COMMITTED_WITHIN = timedelta(minutes=1)
"""Time after which each transaction that accepted something in the window has ended."""


def window_of_minutes(start: datetime, end: datetime, now: datetime) -> Window:
    """Raises: Refused if the log could not tell what belongs to it."""
    for instant in (start, end):
        if instant.tzinfo is None or instant.second or instant.microsecond:
            raise Refused(
                refusals.ARCHIVE_WINDOW_INVALID, f"{instant} is no minute in UTC"
            )
    if not timedelta() < end - start <= MAX_WINDOW or end + COMMITTED_WITHIN > now:
        raise Refused(refusals.ARCHIVE_WINDOW_INVALID)
    return Window(start_at=start.astimezone(UTC), end_at=end.astimezone(UTC))


async def write_archive(
    connection: Connection,
    window: Window,
    folder: Path,
    key: PrivateKey,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Manifest:
    """Write the archive of a window into a folder.

    connection: of the auditor, with nothing read in its transaction yet.

    folder: empty, or not there. key: of the promises. on_progress: how many rankings were
    written. Raises: Refused, Unavailable.
    """
    await fix_snapshot(connection)
    await verify_is_there(connection, window)
    head = await _covering_checkpoint(connection, window)
    sites = await _sites_then(connection, window.end_at)
    trials = await tallies_between(connection, window.start_at, window.end_at)
    writer = await asyncio.to_thread(ArchiveWriter, folder, sites)
    for start, end in _days(window):
        blocks = logged_rankings.read_rows(connection, start, end, window.end_at)
        async for block in blocks:
            await asyncio.to_thread(_write, writer, block)
            on_progress(writer.rankings)
        await asyncio.to_thread(writer.end_day, start.date().isoformat())
    async for page in declared_pages(connection, window.end_at):
        await asyncio.to_thread(writer.add_declared, page)
    labelled = await labels.statements_at(connection, window.end_at)
    summary = WriteSummary(
        window=window, checkpoint=head.note, trials=trials, labels=labelled
    )
    return await asyncio.to_thread(writer.finish, summary, key)


async def _sites_then(connection: Connection, at: datetime) -> list[SiteDisclosure]:
    former = await categories_then(connection, at)
    spelled = {format_site_id(site_id): name for site_id, name in former.items()}
    return [
        replace(site, category=spelled[site.site_id])
        if site.site_id in spelled
        else site
        for site in await site_disclosures(connection, at)
    ]


async def _covering_checkpoint(
    connection: Connection, window: Window
) -> log.StoredCheckpoint:
    head = await log.latest_checkpoint(connection)
    size = head.size if head else 0
    uncovered = await logged_rankings.has_uncovered(connection, window.end_at, size)
    if head is None or uncovered:
        raise Unavailable(refusals.ARCHIVE_NOT_COVERED, retry_after_s=RETRY_AFTER_S)
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
    writer.add(list(map(_row, block)))


def _row(row: logged_rankings.Row) -> ArchivedRanking:
    return archive_ranking(*logged_rankings.read_stored(row))
