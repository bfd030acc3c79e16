"""Insertion of a row that must not be there twice."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, Table
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine.engines import Connection


async def insert_new(
    connection: Connection,
    table: Table,
    values: Mapping[str, Any],
    *unique: Column[Any],
    constraint: str | None = None,
) -> bool:
    """Insert a row; return False, and change nothing, if there is the same one already.

    unique, constraint: what is violated then; without either any constraint counts.
    """
    inserted = insert(table).values(values)
    written = await connection.execute(
        inserted.on_conflict_do_nothing(
            index_elements=unique or None, constraint=constraint
        )
    )
    return bool(written.rowcount)
