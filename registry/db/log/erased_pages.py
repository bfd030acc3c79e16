"""Overwriting what an erasure left behind in pages of tables.

An erased row's former version stays in its page until vacuum has passed, and vacuum only
moves the others together: bytes in the free space stay as they are. So that space is
filled once with zeros, by versions of a row of the page that are rolled back: they are
written where the row is, and nothing else can be.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from registry.db.engine.engines import Connection, is_denied
from registry.records.ranked_answer import DISCLOSED
from registry.records.ranking_columns import DERIVED, EMPTIED

ERASED = (*DISCLOSED, *DERIVED)
"""Columns of a ranking that an erasure empties."""

EMPTY_RANKING = ", ".join(
    [
        *(f"{name} = NULL" for name in ERASED),
        *(f"{name} = {value}" for name, value in EMPTIED.items()),
    ]
)
EMPTY_SELECTION = "site_id = NULL, choice = NULL"

_PAGE, _HEADER, _POINTER, _ALIGN = 8_192, 24, 4, 8
_CHUNK = 1_900  # less than what PostgreSQL would compress
_SLACK = 64
_SHORT = 126  # bytes of a value with a short header
_PROBES = (100, 500)  # of either header


@dataclass(frozen=True, slots=True)
class _Table:
    """key: its column. filler: a column of bytes; emptied: the others, as SQL."""

    name: str
    key: str
    filler: str
    emptied: str


_TABLES = {
    table.name: table
    for table in (
        _Table(
            *("ranking", "record_id", "query"),
            EMPTY_RANKING.replace("query = NULL, ", ""),
        ),
        _Table("selection", "ranking_id", "choice", "site_id = NULL"),
    )
}


@dataclass(frozen=True, slots=True)
class ErasedPage:
    """id: of the note. part: a partition, with its schema. page: a block of it."""

    id: int
    part: str
    page: int

    @property
    def table(self) -> str:
        return self.part.partition(".")[2].partition("_")[0]


async def note_pages(
    connection: Connection, pages: Collection[tuple[str, int]]
) -> None:
    """Note pages that rows were erased from, in the transaction that does it.

    pages: partition with its schema, block.
    """
    statement = text("INSERT INTO audit.erased_page (relation, page) VALUES (:t, :p)")
    if pages:
        values = [{"t": part, "p": page} for part, page in sorted(set(pages))]
        await connection.execute(statement, values)


async def noted_pages(connection: Connection, limit: int) -> Sequence[ErasedPage]:
    """Return the oldest notes."""
    query = text(
        "SELECT id, relation, page FROM audit.erased_page ORDER BY id LIMIT :n"
    )
    rows = await connection.execute(query, {"n": limit})
    return [ErasedPage(*row) for row in rows]


_FORGET = text("DELETE FROM audit.erased_page WHERE id = ANY (:ids)")
# A note with a new number stands behind all others.
_PUT_BACK = text("""
    WITH undone AS (
        DELETE FROM audit.erased_page WHERE id = ANY (:ids) RETURNING id, relation, page
    )
    INSERT INTO audit.erased_page (relation, page)
    SELECT relation, page FROM undone ORDER BY id
""")


async def forget_pages(
    connection: Connection, done: Sequence[int], undone: Sequence[int]
) -> None:
    """Drop the notes of pages that are done; put the others behind all that wait."""
    await connection.execute(_FORGET, {"ids": list(done)})
    await connection.execute(_PUT_BACK, {"ids": list(undone)})


async def vacuum(connection: Connection, part: str) -> bool:
    """Remove dead rows; return whether none is left that a transaction still sees.

    connection: of no transaction, and not used again.
    """
    await connection.execute(text("SET statement_timeout = 0"))
    query = text("SELECT CAST(to_regclass(:part) AS text)")
    name = (await connection.execute(query, {"part": part})).scalar_one()
    if name is None:
        return True  # dropped meanwhile
    await connection.execute(text(f"VACUUM {name}"))
    dead = text("SELECT pg_stat_get_dead_tuples(to_regclass(:part))")
    return not (await connection.execute(dead, {"part": part})).scalar_one()


async def write_out(connection: Connection) -> bool:
    """Write all pages to the files; return whether that is allowed.

    connection: of no transaction, and not used again.
    """
    await connection.execute(text("SET statement_timeout = 0"))
    try:
        await connection.execute(text("CHECKPOINT"))
    except DBAPIError as error:
        if not is_denied(error):
            raise
        return False
    return True


async def overwrite(
    connection: Connection, page: ErasedPage, *, is_vacuumed: bool
) -> bool:
    """Fill the free space of a page; return whether that is done.

    It is not while a transaction still sees what was erased, or where no row is left that
    could be written there. connection: its transaction is to be rolled back.
    is_vacuumed: no dead row is left; room that is short has zeros of other pages' filling.
    """
    table = _TABLES[page.table]
    row = await _look(connection, table, page)
    if row.rows is None:
        return True  # the partition has become shorter, or was dropped
    if not row.rows:
        return False
    filling = _Filling(connection, table, page.page, row.key)
    free = _PAGE - _HEADER - row.pointers * _POINTER - row.bytes
    return await filling.fill(free, is_vacuumed=is_vacuumed)


async def _look(connection: Connection, table: _Table, page: ErasedPage) -> Any:
    """Return the key of a row, how many there are, their bytes, and pointers to them.

    rows: None for a page that is none.
    """
    query = text(f"""
        SELECT CASE WHEN pg_relation_size(to_regclass(:part)) > :begin
                THEN count(*) END AS rows,
            (array_agg({table.key}))[1] AS key,
            coalesce(max((CAST(CAST(ctid AS text) AS point))[1])::int, 0) AS pointers,
            coalesce(sum((pg_column_size(r.*) + 7) / 8 * 8), 0)::int AS bytes
        FROM audit.{table.name} AS r
        WHERE ctid >= CAST(:first AS tid) AND ctid < CAST(:last AS tid)
            AND tableoid = to_regclass(:part)
    """)  # noqa: S608 — of our own names
    bounds = {"first": (page.page, 0), "last": (page.page + 1, 0)}
    begin = {"begin": page.page * _PAGE, "part": page.part}
    return (await connection.execute(query, {**bounds, **begin})).one()


class _Filling:
    """Versions of one row, each in the page of the one before as long as there is room."""

    def __init__(
        self, connection: Connection, table: _Table, page: int, key: object
    ) -> None:
        self._connection = connection
        self._page = page
        self._key = key
        self._statement = text(f"""
            UPDATE audit.{table.name} AS r SET {table.emptied},
                {table.filler} = decode(repeat('00', :count), 'hex')
            WHERE {table.key} = :key
            RETURNING ctid, pg_column_size(r.*) AS bytes
        """)  # noqa: S608 — of our own names

    async def fill(self, free: int, *, is_vacuumed: bool) -> bool:
        """free: bytes that are, if all dead rows are gone."""
        overheads = []
        for count in _PROBES:
            written = await self._write(count)
            overheads.append(written.bytes - count)
            free -= _aligned(written.bytes) + _POINTER if self._is_here(written) else 0
        least, is_exact = _aligned(overheads[0]), True
        rest = free + 2 * _ALIGN
        while rest >= least + _POINTER:
            size = _CHUNK if rest > _CHUNK + least + _ALIGN else min(rest, _CHUNK)
            if size < rest < size + least + _POINTER:
                size = rest - least - _ALIGN
            if self._is_here(await self._write(_count(size, overheads))):
                taken = _aligned(size) + _POINTER
                free, rest, is_exact = free - taken, rest - taken, not is_vacuumed
            else:
                rest = size - _ALIGN
                if is_exact and rest < min(free, _CHUNK) - _SLACK:
                    return False
        return True

    def _is_here(self, written: Any) -> bool:
        return bool(written.ctid[0] == self._page)

    async def _write(self, count: int) -> Any:
        """Write a version with so many zeros; one in another page is taken back."""
        values = {"count": count, "key": self._key}
        with suppress(_WrittenElsewhere):
            async with self._connection.begin_nested():
                written = (
                    await self._connection.execute(self._statement, values)
                ).one()
                if not self._is_here(written):
                    raise _WrittenElsewhere
        return written


class _WrittenElsewhere(Exception):
    """A version that had no room in its page."""


def _aligned(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


def _count(size: int, overheads: Sequence[int]) -> int:
    """Return the zeros of a version of that size."""
    short, long = overheads
    return size - short if size - short <= _SHORT else max(_SHORT + 1, size - long)
