"""The whole ranking as one statement of SQL: what an index is measured against.

Serves no request. `bench rank` loads made-up sites into tables of their own, in a
database that is thrown away, and asks for the same integers that the index computes.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields

import asyncpg
import numpy as np
import numpy.typing as npt
from sqlalchemy.engine import URL

_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_DIMENSIONS = 128

_TABLES = """
    CREATE EXTENSION vector;
    CREATE TABLE site (
        number int NOT NULL, leader bigint NOT NULL, changed_s bigint NOT NULL,
        depth int NOT NULL, quality int NOT NULL, tier int NOT NULL,
        local int NOT NULL, x bigint NOT NULL, y bigint NOT NULL, z bigint NOT NULL,
        reciprocal bigint NOT NULL, embedding halfvec(128) NOT NULL
    );
    CREATE TABLE posting (term bigint NOT NULL, site int NOT NULL, impact int NOT NULL);
"""
_INDEXES = """
    CREATE INDEX ON posting (term) INCLUDE (site, impact);
    ALTER TABLE site ADD PRIMARY KEY (number);
"""
_SEARCH = """
    WITH said AS (
        SELECT site, sum(weight * impact)::bigint AS matched
        FROM unnest($1::bigint[], $2::bigint[]) AS asked (term, weight)
        JOIN posting USING (term)
        GROUP BY site
    ), compared AS (
        SELECT *, least(10000, coalesce(matched, 0) * $5::bigint >> 32) AS lexical,
            least(10000, greatest(0, -(embedding <#> $4::text::halfvec(128)))::bigint
                * reciprocal * $6::bigint >> 32) AS cosine
        FROM site LEFT JOIN said ON said.site = site.number
        WHERE NOT EXISTS (
            SELECT FROM unnest($3::bigint[]) AS filter (term)
            WHERE NOT EXISTS (
                SELECT FROM posting AS kept
                WHERE kept.term = filter.term AND kept.site = site.number
            )
        )
        OFFSET 0
    ), relevant AS (
        SELECT *, least(10000, ($7::bigint * lexical + (10000 - $7) * cosine) / $8::bigint)
            AS relevance
        FROM compared
        OFFSET 0
    )
    SELECT number, leader, 2 * (
            ($18::bigint[])[1] * relevance
            + ($18)[2] * CASE WHEN local = 0 OR $15::bigint[] IS NULL THEN $14::bigint
                ELSE ($12::bigint[])[1 + width_bucket(
                    (x - ($15)[1]) ^ 2 + (y - ($15)[2]) ^ 2 + (z - ($15)[3]) ^ 2,
                    $11::float8[]
                )] END
            + ($18)[3] * depth + ($18)[4] * quality
            + ($18)[5] * ($13::bigint[])[1 + least(
                greatest(0, $16::bigint - changed_s) / 86400, $17::bigint
            )]
        ) - tier AS standing
    FROM relevant
    WHERE relevance >= $9::bigint AND (matched > 0 OR cosine >= $10::bigint)
    ORDER BY standing DESC
    FETCH FIRST 100 ROWS WITH TIES
"""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlSearch:
    """In the order of the statement's parameters.

    terms, filters: hashes, as signed numbers. vector: as text. chords: squared, of the
    kilometres that `near` tells apart. last_day: the last that `fresh` tells apart.
    """

    terms: Sequence[int]
    weights: Sequence[int]
    filters: Sequence[int]
    vector: str
    lexical_multiplier: int
    meaning_multiplier: int
    lexical_share_bp: int
    full_relevance_bp: int
    floor: int
    meaning_only_min_bp: int
    chords: Sequence[float]
    near: Sequence[int]
    fresh: Sequence[int]
    neutral: int
    origin: Sequence[int] | None
    now_s: int
    last_day: int
    factor_weights: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlSites:
    """Parallel columns; vectors: shape (n, 3); embeddings: shape (n, 128).

    said_by: the number of the site of each term; terms and impacts are parallel to it.
    """

    numbers: Integers
    leaders: Integers
    changed_s: Integers
    depth: Integers
    quality: Integers
    tier: Integers
    local: Integers
    vectors: Integers
    reciprocals: Integers
    embeddings: npt.NDArray[np.int8]
    said_by: Integers
    terms: Integers
    impacts: Integers


class SqlRanking:
    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def add(self, sites: SqlSites) -> None:
        x, y, z = sites.vectors.T
        columns = (
            *((sites.numbers, ">i4"), (sites.leaders, ">i8"), (sites.changed_s, ">i8")),
            *((sites.depth, ">i4"), (sites.quality, ">i4"), (sites.tier, ">i4")),
            *((sites.local, ">i4"), (x, ">i8"), (y, ">i8"), (z, ">i8")),
            (sites.reciprocals, ">i8"),
        )
        vectors = _halfvec(sites.embeddings)
        await self._copy("site", _records([*columns, (vectors, vectors.dtype)]))
        said = ((sites.terms, ">i8"), (sites.said_by, ">i4"), (sites.impacts, ">i4"))
        await self._copy("posting", _records(said))

    async def _copy(self, table: str, records: npt.NDArray[np.void]) -> None:
        async def source() -> AsyncIterator[bytes]:
            yield _SIGNATURE
            yield records.tobytes()
            yield b"\xff\xff"

        await self._connection.copy_to_table(table, source=source(), format="binary")

    async def finish(self) -> None:
        await self._connection.execute(_INDEXES)
        await self._connection.execute("VACUUM ANALYZE")

    async def search(self, search: SqlSearch) -> list[tuple[int, int, int]]:
        """Number, leader and standing of those that can be on the page, best first."""
        arguments = [getattr(search, each.name) for each in fields(search)]
        found = await self._connection.fetch(_SEARCH, *arguments)
        return [tuple(row) for row in found]


@asynccontextmanager
async def open_sql_ranking(url: URL) -> AsyncIterator[SqlRanking]:
    """url: of an empty database of the embedded server. One process does each search."""
    connection = await asyncpg.connect(
        user=url.username,
        database=url.database,
        host=url.query["host"],
        server_settings={
            "max_parallel_workers_per_gather": "0",
            "work_mem": "256MB",
            "maintenance_work_mem": "512MB",
        },
    )
    try:
        await connection.execute(_TABLES)
        yield SqlRanking(connection)
    finally:
        await connection.close()


def _records(
    columns: Sequence[tuple[npt.NDArray[np.generic], npt.DTypeLike]],
) -> npt.NDArray[np.void]:
    """Rows of the binary COPY format: each value behind its length."""
    layout: list[tuple[str, npt.DTypeLike]] = [("columns", ">i2")]
    for number, (_, kind) in enumerate(columns):
        layout += [(f"length_{number}", ">i4"), (f"value_{number}", kind)]
    records = np.empty(len(columns[0][0]), np.dtype(layout))
    records["columns"] = len(columns)
    for number, (values, kind) in enumerate(columns):
        records[f"length_{number}"] = np.dtype(kind).itemsize
        records[f"value_{number}"] = values
    return records


def _halfvec(embeddings: npt.NDArray[np.int8]) -> npt.NDArray[np.void]:
    """As pgvector's `halfvec_recv` reads it; small whole numbers are exact in it."""
    layout = [("size", ">i2"), ("unused", ">i2"), ("values", ">f2", _DIMENSIONS)]
    values = np.zeros(len(embeddings), np.dtype(layout))
    values["size"] = _DIMENSIONS
    values["values"] = embeddings
    return values
