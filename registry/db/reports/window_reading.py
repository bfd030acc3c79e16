"""SQL of a window's rankings, read block by block and put in the columns of a report.

The server puts each column of a block in one piece: thousands of values then cost the
driver no more than one. While a block is put in columns, off the event loop, the server
makes the next one ready.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np

from registry.db.engine.engines import Connection, driver_errors
from registry.db.schema.column_types import ulid_of
from registry.records.packed_scores import FACTORS
from registry.records.packing import factors_of
from registry.records.ranking_columns import KEY_BYTES, query_key
from registry.reports.arrays import Integers, Keys
from registry.reports.window.columns import (
    NO_SITE,
    SAMPLED_MAX,
    SCORED_MAX,
    UNREPORTED,
    Rankings,
    ScoredColumns,
    join_tiers,
    number_names,
)
from registry.reports.window.site_numbers import SiteNumbers

BLOCK = 16_384  # rankings read at once: some 100 ms of the reader's work
SAMPLE_MIN = 16  # eligible sites of a ranking that are read at the least

# Record ids begin with the time at which they were made, moments from the acceptance.
_ID_SLACK_MS = 24 * 3_600_000
_ID_TIME_SHIFT = 80
_NO_KEY = bytes(KEY_BYTES)

_IN_WINDOW = """
    k.record_id > $1 AND k.record_id < $2 AND k.accepted_at >= $3 AND k.accepted_at < $4
"""
_RANKED = "($5 = '' OR k.operator = $5) AND k.returned <> ''"

_COUNT = f"""
    SELECT count(*) AS rankings, count(*) FILTER (
        WHERE ($5 = '' OR k.operator = $5) AND k.returned = ''
            AND k.query IS NOT NULL
    ) AS empty
    FROM audit.ranking AS k WHERE {_IN_WINDOW}
"""  # noqa: S608 — of our own names

# Of a large sample an even part: $6 sites, around the end of it, from where the last byte
# of the record's id points. A ranking without a sample stands for itself.
_BLOCK = f"""
    SELECT string_agg(uuid_send(record_id), '') AS ids,
        string_agg(coalesce(query_key, $10), '') AS keys,
        string_agg(int8send(coalesce(site_id,
            CASE WHEN selection_id IS NULL THEN $8::bigint ELSE $9 END)), '') AS chosen,
        string_agg(int4send(length(returned) / 8), '') AS returned_counts,
        string_agg(returned, '') AS returned,
        string_agg(int4send(length(drawn) / 8), '') AS sampled_counts,
        string_agg(drawn, '') AS sampled,
        array_agg(operator) AS operators,
        array_agg(coalesce(category, '')) AS categories,
        max(eligible) AS most_eligible
    FROM (
        SELECT k.*, s.site_id, s.record_id AS selection_id,
            CASE WHEN k.sampled = '' THEN k.returned
            WHEN length(k.sampled) <= 8 * $6 THEN k.sampled ELSE
                substring(k.sampled FROM 8 * at.first + 1 FOR 8 * $6)
                || substring(k.sampled FROM 1
                    FOR greatest(0, 8 * (at.first + $6) - length(k.sampled)))
            END AS drawn
        FROM audit.ranking AS k
        LEFT JOIN audit.selection AS s
            ON s.ranking_id = k.record_id AND s.accepted_at < $4
        CROSS JOIN LATERAL (SELECT get_byte(uuid_send(k.record_id), 15)
            * (length(k.sampled) / 8) / 256 AS first) AS at
        WHERE {_IN_WINDOW} AND {_RANKED}
        ORDER BY k.record_id LIMIT $7
    ) AS block
"""  # noqa: S608 — of our own names

# Ids end at random: the last five bytes are the last eight characters of a ULID.
_SCORED = f"""
    SELECT k.record_id, k.query_key, k.returned, k.scores, k.located FROM (
        SELECT k.record_id FROM audit.ranking AS k
        WHERE {_IN_WINDOW} AND {_RANKED} AND k.scores IS NOT NULL
        ORDER BY substring(uuid_send(k.record_id) FROM 12), k.record_id LIMIT $6
    ) AS drawn JOIN audit.ranking AS k USING (record_id)
    ORDER BY substring(uuid_send(k.record_id) FROM 12), k.record_id
"""  # noqa: S608 — of our own names


@dataclass(frozen=True, slots=True)
class StoredWindow:
    """Rankings accepted in [start, end) of one operator, or of all where it is empty."""

    start: datetime
    end: datetime
    operator: str

    @property
    def parameters(self) -> tuple[object, ...]:
        """Values of `_IN_WINDOW` and `_RANKED`."""
        first = _id_from(self.start, -_ID_SLACK_MS)
        last = _id_from(self.end, _ID_SLACK_MS)
        return (first, last, self.start, self.end, self.operator)


async def read_parts(
    connection: Connection, window: StoredWindow, numbers: SiteNumbers, block: int
) -> list[Rankings]:
    """Read all rankings, `block` in a part, in the order of their ids.

    numbers: unknown sites are added to it. The first part counts the empty rankings.
    """
    first, *others = window.parameters
    with driver_errors():
        driver = await _driver_of(connection)
        rankings, empty = await driver.fetchrow(_COUNT, *window.parameters)
        most = max(SAMPLE_MIN, SAMPLED_MAX // max(1, rankings))
        constants = (*others, most, block, UNREPORTED, NO_SITE, _NO_KEY)
        parts = []
        row = await driver.fetchrow(_BLOCK, first, *constants)
        while row["ids"]:
            last_id = UUID(bytes=row["ids"][-16:])
            following = asyncio.create_task(
                driver.fetchrow(_BLOCK, last_id, *constants)
            )
            try:
                part = await asyncio.to_thread(_part, row, numbers, empty)
            finally:
                row = await following
            parts.append(part)
            empty = 0
    return parts or ([_empty_part(empty)] if empty else [])


async def read_scored(
    connection: Connection, window: StoredWindow, numbers: SiteNumbers
) -> ScoredColumns:
    """Read SCORED_MAX rankings whose scores are disclosed, by the ends of their ids."""
    with driver_errors():
        driver = await _driver_of(connection)
        rows = await driver.fetch(_SCORED, *window.parameters, SCORED_MAX)
    return await asyncio.to_thread(_scored, rows, numbers)


async def _driver_of(connection: Connection) -> Any:
    return (await connection.get_raw_connection()).driver_connection


def _id_from(at: datetime, slack_ms: int) -> UUID:
    milliseconds = int(at.timestamp() * 1000) + slack_ms
    return UUID(int=max(0, milliseconds) << _ID_TIME_SHIFT)


def _part(block: Any, numbers: SiteNumbers, empty: int) -> Rankings:
    operators, operator = number_names(block["operators"])
    categories, category = number_names(block["categories"])
    chosen = _integers(block["chosen"])
    named = chosen >= 0
    chosen[named] = numbers.find(chosen[named])
    return Rankings(
        keys=_keys(block["keys"], block["ids"]),
        operator=operator,
        operators=operators,
        category=category,
        categories=categories,
        returned=numbers.find(_integers(block["returned"])),
        returned_counts=np.frombuffer(block["returned_counts"], ">i4").astype(np.int32),
        sampled=numbers.find(_integers(block["sampled"])),
        sampled_counts=np.frombuffer(block["sampled_counts"], ">i4").astype(np.int32),
        chosen=chosen.astype(np.int32),
        most_eligible=block["most_eligible"],
        empty=empty,
    )


def _empty_part(empty: int) -> Rankings:
    nothing = dict.fromkeys(("ids", "keys", "chosen", "returned", "sampled"), b"")
    counts = dict.fromkeys(("returned_counts", "sampled_counts"), b"")
    block = {**nothing, **counts, "operators": [], "categories": [], "most_eligible": 0}
    return _part(block, SiteNumbers([]), empty)


def _scored(rows: Sequence[Any], numbers: SiteNumbers) -> ScoredColumns:
    orders = [_integers(row["returned"]) for row in rows]
    keys = b"".join(row["query_key"] or _NO_KEY for row in rows)
    ids = b"".join(row["record_id"].bytes for row in rows)
    scores = [factors_of(row["scores"]) for row in rows]
    factors = [factor for values, _ in scores for factor in values]
    return ScoredColumns(
        keys=_keys(keys, ids),
        counts=np.array([len(order) for order in orders], np.int32),
        sites=numbers.find(np.concatenate([np.zeros(0, np.int64), *orders])),
        factors=np.array(factors, np.int64).reshape(-1, FACTORS),
        tiers=join_tiers([(len(values), tiers) for values, tiers in scores]),
        located=np.array([bool(row["located"]) for row in rows], np.bool_),
    )


def _integers(packed: bytes) -> Integers:
    return np.frombuffer(packed, ">i8").astype(np.int64)


def _keys(keys: bytes, ids: bytes) -> Keys:
    """A ranking without a query, or whose query is erased, has a key of its own."""
    numbers = np.frombuffer(keys, ">u8").astype(np.uint64)
    for row in np.flatnonzero(numbers == 0).tolist():
        numbers[row] = query_key("", ulid_of(UUID(bytes=ids[16 * row : 16 * row + 16])))
    return numbers
