"""The exact ranking as one statement of SQL, on the embedded PostgreSQL.

The tables are the bench's own, in a database that is thrown away; the statement computes
the same integers as the index.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import numpy as np
from sqlalchemy.engine import URL

from registry.bench.kernel.recomputation import NOT_ELIGIBLE, top_rows
from registry.bench.scratch import postgres_cpu_s, scratch_postgres
from registry.db.engine.embedded import EmbeddedPostgres
from registry.index.columns.rows import HIGHER_TIER, LOCAL, Rows
from registry.index.query.scoring_parameters import ScoringParameters
from registry.ranking.encoders.vectors import DIMENSIONS, unpack_sites

_ROWS_AT_ONCE = 20_000
_DATABASE = "bench_rank"
_SETTINGS = {
    "max_parallel_workers_per_gather": "0",  # one process does each search
    "work_mem": "256MB",
    "maintenance_work_mem": "512MB",
}
_TABLES = """
    CREATE EXTENSION vector;
    CREATE TABLE site (
        number int NOT NULL, leader bigint NOT NULL, changed_s bigint NOT NULL,
        depth int NOT NULL, quality int NOT NULL, tier int NOT NULL,
        local int NOT NULL, x bigint NOT NULL, y bigint NOT NULL, z bigint NOT NULL,
        reciprocal bigint NOT NULL, embedding real[] NOT NULL
    );
    CREATE TABLE posting (term bigint NOT NULL, site int NOT NULL, impact int NOT NULL);
"""
_INDEXES = f"""
    ALTER TABLE site ALTER embedding TYPE halfvec({DIMENSIONS}) USING embedding::halfvec({DIMENSIONS});
    CREATE INDEX ON posting (term) INCLUDE (site, impact);
    ALTER TABLE site ADD PRIMARY KEY (number);
"""
_SEARCH = """
    WITH matches AS (
        SELECT site, sum(weight * impact)::bigint AS matched
        FROM unnest($1::bigint[], $2::bigint[]) AS query (term, weight)
        JOIN posting USING (term)
        GROUP BY site
    ), compared AS (
        SELECT *, least(10000, coalesce(matched, 0) * $5::bigint >> 32) AS lexical,
            least(10000, greatest(0, -(embedding <#> $4::text::halfvec))::bigint
                * reciprocal * $6::bigint >> 32) AS cosine
        FROM site LEFT JOIN matches ON matches.site = site.number
        WHERE NOT EXISTS (
            SELECT FROM unnest($3::bigint[]) AS filter (term)
            WHERE NOT EXISTS (
                SELECT FROM posting
                WHERE posting.term = filter.term AND posting.site = site.number
            )
        )
        OFFSET 0
    ), relevant AS (
        SELECT *, least(10000, ($7::bigint * lexical + (10000 - $7) * cosine) / $8::bigint)
            AS relevance
        FROM compared
        OFFSET 0
    ), scored AS (
        SELECT *, $20::bigint / 2 + (
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
        ) AS rounded, (10000 + $21::bigint / 2) / $21 + 1 AS values
        FROM relevant
        WHERE relevance >= $9::bigint
            AND cosine >= CASE WHEN matched > 0 THEN $19::bigint ELSE $10::bigint END
    )
    SELECT number, rounded % $20 + $20 * (1 - tier + 2 * (
            (rounded / $20 * values + (relevance + $21 / 2) / $21) * values
            + (quality + $21 / 2) / $21
        )) AS standing
    FROM scored
    ORDER BY standing DESC
    FETCH FIRST 100 ROWS WITH TIES
"""


@dataclass(frozen=True, slots=True)
class SqlFigures:
    """Milliseconds a search; results: pairs of row and standing of each."""

    wall_ms: list[float]
    cpu_ms_mean: float
    results: list[set[tuple[int, int]]]


def measure_sql(
    folder: Path,
    rows: Rows,
    searches: Sequence[ScoringParameters],
    k: int,
    print_progress: Callable[[str], None],
) -> SqlFigures:
    with scratch_postgres(folder, _DATABASE) as server:
        return asyncio.run(_measure(server, rows, searches, k, print_progress))


async def _measure(
    server: EmbeddedPostgres,
    rows: Rows,
    searches: Sequence[ScoringParameters],
    k: int,
    print_progress: Callable[[str], None],
) -> SqlFigures:
    async with _connection(server.url(_DATABASE)) as connection:
        await connection.execute(_TABLES)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, len(rows))
            await _load(connection, rows, slice(start, stop))
            print_progress(f"sql: {stop} sites loaded")
        await connection.execute(_INDEXES)
        await connection.execute("VACUUM ANALYZE")
        print_progress("sql: indexed")
        parameters = [_parameters(search) for search in searches]
        await connection.fetch(_SEARCH, *parameters[0])
        wall_ms, results = [], []
        spent_s = postgres_cpu_s(server)
        for values in parameters:
            started = time.perf_counter()
            records = await connection.fetch(_SEARCH, *values)
            wall_ms.append((time.perf_counter() - started) * 1000)
            results.append(_top(records, rows, k))
        cpu_ms = (postgres_cpu_s(server) - spent_s) * 1000 / len(searches)
    return SqlFigures(wall_ms, cpu_ms, results)


@asynccontextmanager
async def _connection(url: URL) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(
        user=url.username,
        database=url.database,
        host=url.query["host"],
        server_settings=_SETTINGS,
    )
    try:
        yield connection
    finally:
        await connection.close()


async def _load(connection: asyncpg.Connection, rows: Rows, part: slice) -> None:
    numbers = np.arange(part.start, part.stop)
    starts = rows.starts[part.start : part.stop + 1]
    own = slice(starts[0], starts[-1])
    sites = (
        *(numbers, rows.representatives[part], rows.changed_s[part], rows.depth[part]),
        rows.quality[part],
        *((rows.flags[part] & flag != 0).astype(int) for flag in (HIGHER_TIER, LOCAL)),
        *rows.vectors[part].T,
        rows.reciprocals[part],
        unpack_sites(rows.embeddings[part]),
    )
    postings = (
        rows.hashes[own].view(np.int64),
        np.repeat(numbers, np.diff(starts)),
        rows.impacts[own],
    )
    for table, columns in (("site", sites), ("posting", postings)):
        records = zip(*(column.tolist() for column in columns), strict=True)
        await connection.copy_records_to_table(table, records=records)


def _top(records: Sequence[asyncpg.Record], rows: Rows, k: int) -> set[tuple[int, int]]:
    standings = np.full(len(rows), NOT_ELIGIBLE, np.int64)
    for number, standing in records:
        standings[number] = standing
    return {
        (int(row), int(standings[row]))
        for row in top_rows(standings, rows.representatives, k)
    }


def _parameters(search: ScoringParameters) -> tuple[object, ...]:
    """Return the parameters of the statement, in its order."""
    return (
        [_signed(hash_) for hash_, _ in search.terms],
        [weight for _, weight in search.terms],
        [_signed(hash_) for hash_ in search.filters],
        str(np.frombuffer(search.vector, np.int8).tolist()),
        search.lexical_multiplier,
        search.meaning_multiplier,
        search.lexical_share_bp,
        search.full_relevance_bp,
        search.floor,
        search.meaning_only_min_bp,
        # Squares below 2^53, so exact; beyond the last all is as far.
        search.squared_chords[: len(search.near) - 1].astype(np.float64).tolist(),
        search.near.tolist(),
        search.fresh.tolist(),
        search.neutral,
        search.origin,
        search.now_s,
        len(search.fresh) - 1,
        search.weights,
        search.meaning_min_bp,
        *search.scale,
    )


def _signed(hash_: int) -> int:
    return hash_ - (1 << 64) if hash_ >> 63 else hash_
