"""SQL of a window's rankings, read in blocks that are put in columns.

A window may hold millions of rankings: the server makes a block ready while the one
before is put in columns, off the event loop. Two connections read at once, one from each
end, so that neither waits for the other whatever else it has to do.
"""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from registry.db.engine import Connection, driver_errors
from registry.db.window_columns import WindowColumns
from registry.db.window_rows import Rows
from registry.fairness.window.columns import NO_SITE, SAMPLED_MAX, UNREPORTED

BLOCK = 4_096  # records read at once: some 20 ms of the reader's work
SAMPLE_MIN = 16  # eligible sites of a ranking that are read at the least

# Records lie by their places, in the log or in the queue to it, nearly in the order of
# their acceptance.
_PLACES = """
    SELECT count(*) AS rankings, min({place}) AS first, max({place}) AS last
    FROM audit.{table}
    WHERE kind = 'ranking' AND accepted_at >= :start AND accepted_at < :end
"""

# A block in one row: the heads of its rankings (`window_rows`), their texts one behind the
# other, and their samples. Of a large sample an even part: as many sites as $5 says, around the end of
# it, from where the last byte of the record's id points.
_BLOCK = """
    SELECT string_agg(uuid_send(r.record_id)
            || int8send(coalesce(s.site_id,
                CASE WHEN s.record_id IS NULL THEN $6::bigint ELSE $7 END))
            || boolsend(k.scores IS NOT NULL)
            || int4send(length(r.body))
            || int4send(coalesce(length(k.query), 0))
            || int4send(coalesce(length(k.filters), 0))
            || int4send(coalesce(least(length(k.eligible), 8 * $5), 0)),
            ''::bytea ORDER BY r.{place}),
        string_agg(r.body || coalesce(k.query, '') || coalesce(k.filters, ''),
            ''::bytea ORDER BY r.{place}),
        string_agg(CASE WHEN length(k.eligible) <= 8 * $5 THEN k.eligible ELSE
            substring(k.eligible FROM 8 * at.first + 1 FOR 8 * $5)
            || substring(k.eligible FROM 1
                FOR greatest(0, 8 * (at.first + $5) - length(k.eligible)))
        END, ''::bytea ORDER BY r.{place})
    FROM audit.{table} AS r
    LEFT JOIN audit.ranking AS k ON k.record_id = r.record_id
    LEFT JOIN audit.selection AS s
        ON s.ranking_id = r.record_id AND s.accepted_at < $4
    CROSS JOIN LATERAL (SELECT get_byte(uuid_send(r.record_id), 15)
        * (length(k.eligible) / 8) / 256 AS first) AS at
    WHERE r.kind = 'ranking' AND r.{place} >= $1 AND r.{place} < $2
        AND r.accepted_at >= $3 AND r.accepted_at < $4
"""

# Record ids begin with their time, so the rows beside the entries of a window lie nearly
# in the order of these: looked up one by one they cost no more than a hash of all that
# were ever written, need no memory, and come from the first one on.
_PLANNING = text("""
    SELECT set_config(name, :allowed, true) FROM unnest(ARRAY['enable_hashjoin',
        'enable_mergejoin', 'enable_bitmapscan', 'jit']) AS name
""")


# What a block takes of memory the server's allocator (of glibc) gives back to the system
# and asks for anew, until a larger piece was freed once: a fifth of its CPU time.
_ROOM = text("SELECT length(repeat('x', 16777216))")


class _Block(NamedTuple):
    """Records of a table from one place up to another."""

    statement: str
    begin: int
    end: int


class _Places(NamedTuple):
    """Of a window's rankings in one table."""

    statement: str
    rankings: int
    first: int
    last: int

    def blocks(self, length: int) -> Iterator[_Block]:
        for begin in range(self.first, self.last + 1, length):
            yield _Block(self.statement, begin, min(begin + length, self.last + 1))


@dataclass(frozen=True, slots=True)
class WindowReading:
    """Blocks of a window that are still to be read, by one reader from each end.

    given: the parameters of their statements behind the places.
    """

    blocks: deque[_Block]
    given: tuple[datetime, datetime, int, int, int]

    @classmethod
    async def begin(
        cls, connection: Connection, start: datetime, end: datetime, block: int = BLOCK
    ) -> "WindowReading":
        """block: how many records are read at once."""
        places = [
            await _find(connection, table, place, start, end)
            for table, place in (("entry", "leaf_index"), ("pending", "position"))
        ]
        count = sum(one.rankings for one in places)
        most = max(SAMPLE_MIN, SAMPLED_MAX // max(1, count))
        blocks = deque(each for one in places for each in one.blocks(block))
        return cls(blocks, (start, end, most, UNREPORTED, NO_SITE))

    async def read(self, connection: Connection, columns: WindowColumns) -> None:
        """What the other reader leaves. Nothing more is read once one of them fails."""
        await connection.execute(_PLANNING, {"allowed": "off"})
        await connection.execute(_ROOM)
        raw: Any = (await connection.get_raw_connection()).driver_connection
        try:
            with driver_errors():
                await self._read(raw, columns)
        finally:
            self.blocks.clear()
        await connection.execute(_PLANNING, {"allowed": "on"})

    async def _read(self, raw: Any, columns: WindowColumns) -> None:
        take = self.blocks.pop if columns.backwards else self.blocks.popleft
        row: Any = None
        while self.blocks or row is not None:
            block = take() if self.blocks else None
            following = asyncio.create_task(self._fetch(raw, block))
            try:
                await asyncio.to_thread(_add, columns, row)
            finally:
                row = await following

    async def _fetch(self, raw: Any, block: _Block | None) -> Any:
        return block and await raw.fetchrow(*block, *self.given)


async def _find(
    connection: Connection, table: str, place: str, start: datetime, end: datetime
) -> _Places:
    names = {"table": table, "place": place}
    query = text(_PLACES.format(**names))
    told = (await connection.execute(query, {"start": start, "end": end})).one()
    first, last = (told.first, told.last) if told.rankings else (0, -1)
    return _Places(_BLOCK.format(**names), told.rankings, first, last)


def _add(columns: WindowColumns, row: Sequence[bytes | None] | None) -> None:
    """row: None where there is none yet; its heads are None if it tells of none."""
    if row is not None and row[0] is not None:
        columns.add(Rows.of(row))
