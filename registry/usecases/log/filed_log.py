"""The log's published files as a store: tiles, entries and records that the table has no more.

`publish_files` writes them, and `trim` has verified what the table gave up.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import cast

from registry.db.engine.engines import Connection
from registry.db.log import leaves
from registry.db.log.entries import LoggedRecord
from registry.errors import Refused
from registry.records.record import Record, format_minute, parse_record
from registry.records.record_fields import Kind
from registry.records.rules.calendar_days import OUT_OF_ORDER
from registry.sites.identifier import ulid_time
from registry.tlog.checkpoint import parse_checkpoint
from registry.tlog.edge import ReadRun
from registry.tlog.merkle import HASH_BYTES
from registry.tlog.tiles import (
    TILE_WIDTH,
    Bundle,
    HashRun,
    Tile,
    encode_bundle,
    format_tile_path,
    parse_bundle,
    parse_tile,
)
from registry.usecases.log.log_folder import LogFolder
from registry.usecases.log.publish_files import CHECKPOINT


class FiledLog:
    """folder: below the log's name, as `publish` writes it."""

    def __init__(self, folder: Path) -> None:
        self._files = LogFolder(folder)

    @property
    def size(self) -> int:
        """Leaves of the full bundles; 0 where nothing is published."""
        note = self._files.read_published(CHECKPOINT)
        if note is None:
            return 0
        text = note.decode().partition("\n\n")[0] + "\n"
        return parse_checkpoint(text).size // TILE_WIDTH * TILE_WIDTH

    def read_part(self, part: Tile | Bundle) -> bytes | None:
        """Read a tile or bundle whose full one is there; None if it is not, or is none."""
        content = self._files.read_published(format_tile_path(part.full))
        if content is None:
            return None
        try:
            if isinstance(part, Bundle):
                entries = parse_bundle(content, TILE_WIDTH)
                return encode_bundle(entries[: part.width])
            return b"".join(parse_tile(content, TILE_WIDTH)[: part.width])
        except Refused:
            return None

    def read_leaves(self, run: HashRun) -> list[bytes]:
        """Read hashes of level 0 that lie in one full tile; none if it is not there."""
        index, begin = divmod(run.first, TILE_WIDTH)
        content = self.read_part(Tile(level=0, index=index))
        hashes = parse_tile(content, TILE_WIDTH) if content else ()
        return list(hashes[begin : begin + run.count])

    def entries(self, index: int) -> tuple[bytes, ...]:
        """Return the entries of a full bundle; none if it is not there."""
        content = self.read_part(Bundle(index=index))
        return parse_bundle(content, TILE_WIDTH) if content else ()

    def find(self, record_id: str) -> LoggedRecord | None:
        """Find a record by its minute, which few entries are out of order by (`OUT_OF_ORDER`)."""
        try:
            at = ulid_time(record_id)
            first, last = (
                format_minute(at - OUT_OF_ORDER),
                format_minute(at + OUT_OF_ORDER),
            )
        except (ValueError, OverflowError):  # it leaves the calendar
            return None
        bundles = range(self.size // TILE_WIDTH)
        begin = bisect_left(
            bundles, first, key=lambda index: _minute(self.entries(index))
        )
        member = f'"id":"{record_id}"'.encode()
        for index in bundles[max(0, begin - 1) :]:
            entries = self.entries(index)
            if _minute(entries) > last:
                return None
            for offset, entry in enumerate(entries):
                if member in entry and parse_record(entry)["id"] == record_id:
                    return _logged(entry, index * TILE_WIDTH + offset, at)
        return None


async def read_runs(
    connection: Connection, runs: Sequence[HashRun], filed: FiledLog | None
) -> ReadRun:
    """Read hashes from the tables, or the files, which have what the tables have no more."""
    hashes: dict[HashRun, Sequence[bytes]] = {}
    for run, row in zip(runs, await leaves.read_runs(connection, runs), strict=True):
        starts = range(0, len(row), HASH_BYTES)
        hashes[run] = [row[start : start + HASH_BYTES] for start in starts]
        if len(hashes[run]) < run.count and filed and not run.level:
            hashes[run] = await asyncio.to_thread(filed.read_leaves, run)
    return hashes.__getitem__


def _minute(entries: Sequence[bytes]) -> str:
    """Return when the first entry was recorded; of none what is behind all times."""
    return str(parse_record(entries[0])["t"]) if entries else "~"


def _logged(entry: bytes, index: int, at: datetime) -> LoggedRecord:
    members = parse_record(entry)
    kind = cast(Kind, members["kind"])
    record = Record(id=str(members["id"]), kind=kind, body=entry)
    return LoggedRecord(record=record, accepted_at=at, leaf_index=index)
