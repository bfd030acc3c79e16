"""The exact ranking in SQL, on the embedded PostgreSQL: loaded, timed and compared."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from registry.cli.bench.recomputation import NOT_ELIGIBLE, first_places
from registry.db.embedded import EmbeddedPostgres, start_embedded
from registry.db.sql_ranking import SqlRanking, SqlSearch, SqlSites, open_sql_ranking
from registry.index.columns.rows import HIGHER_TIER, LOCAL, Rows
from registry.index.query.constants import Constants
from registry.ranking.vectors import unpack_sites

_ROWS_AT_ONCE = 20_000
_DATABASE = "bench_rank"


@dataclass(frozen=True, slots=True)
class SqlMeasured:
    """Milliseconds a search; places: the rows and standings that each found."""

    wall_ms: list[float]
    cpu_ms_mean: float
    places: list[set[tuple[int, int]]]


def measure_sql(
    folder: Path,
    rows: Rows,
    searches: Sequence[Constants],
    k: int,
    tell: Callable[[str], None],
) -> SqlMeasured:
    server = start_embedded(folder)
    try:
        server.create_database(_DATABASE)
        return asyncio.run(_measure(server, rows, searches, k, tell))
    finally:
        server.close()


async def _measure(
    server: EmbeddedPostgres,
    rows: Rows,
    searches: Sequence[Constants],
    k: int,
    tell: Callable[[str], None],
) -> SqlMeasured:
    async with open_sql_ranking(server.url(_DATABASE)) as ranking:
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, len(rows))
            await ranking.add(_sites(rows, slice(start, stop)))
            tell(f"sql: {stop} sites loaded")
        await ranking.finish()
        tell("sql: indexed")
        return await _search(server, ranking, rows, searches, k)


async def _search(
    server: EmbeddedPostgres,
    ranking: SqlRanking,
    rows: Rows,
    searches: Sequence[Constants],
    k: int,
) -> SqlMeasured:
    asked = [_sql_search(one) for one in searches]
    await ranking.search(asked[0])
    wall_ms, places = [], []
    spent_s = server.cpu_s()
    for one in asked:
        started = time.perf_counter()
        found = await ranking.search(one)
        wall_ms.append((time.perf_counter() - started) * 1000)
        places.append(_places(found, rows, k))
    cpu_ms = (server.cpu_s() - spent_s) * 1000 / len(asked)
    return SqlMeasured(wall_ms, cpu_ms, places)


def _places(
    found: Sequence[tuple[int, int, int]], rows: Rows, k: int
) -> set[tuple[int, int]]:
    standings = np.full(len(rows), NOT_ELIGIBLE, np.int64)
    for number, _, standing in found:
        standings[number] = standing
    first = first_places(standings, rows.leaders, k)
    return {(int(row), int(standings[row])) for row in first}


def _sites(rows: Rows, part: slice) -> SqlSites:
    starts = rows.starts[part.start : part.stop + 1]
    said = slice(starts[0], starts[-1])
    numbers = np.arange(part.start, part.stop)
    return SqlSites(
        numbers=numbers,
        leaders=rows.leaders[part],
        changed_s=rows.changed_s[part].astype(np.int64),
        depth=rows.depth[part].astype(np.int64),
        quality=rows.quality[part].astype(np.int64),
        tier=((rows.flags[part] & HIGHER_TIER) != 0).astype(np.int64),
        local=((rows.flags[part] & LOCAL) != 0).astype(np.int64),
        vectors=rows.vectors[part].astype(np.int64),
        reciprocals=rows.reciprocals[part].astype(np.int64),
        embeddings=unpack_sites(rows.embeddings[part]),
        said_by=np.repeat(numbers, np.diff(starts)),
        terms=rows.hashes[said].view(np.int64),
        impacts=rows.impacts[said].astype(np.int64),
    )


def _sql_search(one: Constants) -> SqlSearch:
    vector = np.frombuffer(one.vector, np.int8).tolist()
    return SqlSearch(
        terms=[_signed(hash_) for hash_, _ in one.terms],
        weights=[weight for _, weight in one.terms],
        filters=[_signed(hash_) for hash_ in one.filters],
        vector=str(vector),
        lexical_multiplier=one.lexical_multiplier,
        meaning_multiplier=one.meaning_multiplier,
        lexical_share_bp=one.lexical_share_bp,
        full_relevance_bp=one.full_relevance_bp,
        floor=one.floor,
        meaning_only_min_bp=one.meaning_only_min_bp,
        # Squares below 2^53, so exact; beyond the last all is as far.
        chords=one.squared_chords[: len(one.near) - 1].astype(np.float64).tolist(),
        near=one.near.tolist(),
        fresh=one.fresh.tolist(),
        neutral=one.neutral,
        origin=one.origin,
        now_s=one.now_s,
        last_day=len(one.fresh) - 1,
        factor_weights=one.weights,
    )


def _signed(hash_: int) -> int:
    return hash_ - (1 << 64) if hash_ >> 63 else hash_
