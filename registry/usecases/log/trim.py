"""Dropping from the tables what stands elsewhere: months in archives, entries in files."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from registry.db.engine.engines import Connection
from registry.db.log import partitions
from registry.db.log.partitions import EntryPart
from registry.tlog.merkle import leaf_hash, tree_root
from registry.tlog.refusals import LOG_MISSING, LOG_TILE_FORGED, LogInvalid
from registry.tlog.tiles import TILE_WIDTH, Bundle, HashRun, Tile, format_tile_path
from registry.usecases.log.filed_log import FiledLog, read_runs

MONTHS_MIN = 2
"""An ended month is needed until it is reported and erased, 32 days later."""


@dataclass(frozen=True, slots=True)
class Trimmed:
    """months: dropped; waiting: old enough, and not archived, reported or erased yet.

    parts: of entries, that have no rankings and selections any more.
    """

    months: Sequence[date]
    waiting: Sequence[date]
    parts: Sequence[EntryPart]


async def trim(
    connection: Connection, months: int, now: datetime, filed: FiledLog | None
) -> Trimmed:
    """Drop all but the present month and so many before it, and their entries from there.

    connection: of the publisher, whose statements commit by themselves. filed: where
    entries are served from; without it they stay. Raises: LogInvalid if it lacks one.
    """
    await partitions.allow_long_statements(connection)
    limit = _months_before(now.date(), max(months, MONTHS_MIN))
    old = [
        month for month in await partitions.months_there(connection) if month < limit
    ]
    dropped = [month for month in old if await partitions.drop_month(connection, month)]
    parts = []
    for part in await partitions.whole_parts(connection) if filed else ():
        if filed and part.after <= filed.size:
            await _verify_filed(connection, filed, part)
            if await partitions.thin_entries(connection, part):
                parts.append(part)
    waiting = [month for month in old if month not in dropped]
    return Trimmed(months=dropped, waiting=waiting, parts=parts)


def _months_before(day: date, months: int) -> date:
    years, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(years, month + 1, 1)


async def _verify_filed(
    connection: Connection, filed: FiledLog, part: EntryPart
) -> None:
    """Verify that the files hold all of a part: they give the tree's own hashes."""
    first, after = part.first // TILE_WIDTH, part.after // TILE_WIDTH
    for begin in range(first, after, TILE_WIDTH):
        bundles = range(begin, min(begin + TILE_WIDTH, after))
        run = HashRun(level=1, first=begin, count=len(bundles))
        nodes = (await read_runs(connection, [run], None))(run)
        await asyncio.to_thread(_verify_bundles, filed, bundles, nodes)


def _verify_bundles(
    filed: FiledLog, bundles: Sequence[int], nodes: Sequence[bytes]
) -> None:
    for index, node in zip(bundles, nodes, strict=True):
        leaves = [leaf_hash(entry) for entry in filed.entries(index)]
        path = format_tile_path(Bundle(index=index))
        if not leaves:
            raise LogInvalid(LOG_MISSING, "not in the files, or no bundle", path=path)
        if tree_root(leaves) != node:
            raise LogInvalid(LOG_TILE_FORGED, "not the entries of the tree", path=path)
        run = HashRun(level=0, first=index * TILE_WIDTH, count=TILE_WIDTH)
        if filed.read_leaves(run) != leaves:
            path = format_tile_path(Tile(level=0, index=index))
            raise LogInvalid(LOG_MISSING, "not in the files, or another", path=path)
