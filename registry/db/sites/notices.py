"""SQL of notices: what the owner of a site should know, the newest kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, select, text
from sqlalchemy.dialects.postgresql import JSONB

from registry.db.engine.engines import Connection
from registry.db.engine.prepared import Gathered, Prepared
from registry.db.engine.read_row import read_row
from registry.db.schema.tables import notice

NOTICES_PER_SITE = 200
"""Notices kept of a site: a year of one in good order; a flood ends here."""


_INSERT = Prepared(
    text("""
    INSERT INTO registry.notice (site_id, noted_at, code, detail, fix, url, problem)
    SELECT :site_id, :noted_at, code, detail, fix, url, problem
    FROM ROWS FROM (
        jsonb_to_recordset(:notices)
        AS (code text, detail text, fix text, url text, problem text)
    ) WITH ORDINALITY AS new (code, detail, fix, url, problem, position)
    ORDER BY position
""").bindparams(bindparam("notices", type_=JSONB))
)
_FORGET = Prepared(
    text("""
    DELETE FROM registry.notice WHERE site_id = :site_id AND notice_id <= (
        SELECT notice_id FROM registry.notice WHERE site_id = :site_id
        ORDER BY notice_id DESC OFFSET :stay LIMIT 1
    )
""")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """code: of `registry.usecases.sites.notices`. fix: what to do, or "".

    url: what it is about. problem: the code of the problem behind it.
    """

    code: str
    detail: str
    fix: str = ""
    url: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredNotice:
    """notice_id: grows with each one that is written."""

    notice_id: int
    noted_at: datetime
    notice: Notice


async def save_notices(
    connection: Connection, site_id: int, new: Sequence[Notice], now: datetime
) -> None:
    """Save notices in the transaction that makes them true, the newest last."""
    writes = Gathered()
    await gather_notices(writes, site_id, new, now)
    await writes.carry_out(connection)


async def gather_notices(
    writes: Gathered, site_id: int, new: Sequence[Notice], now: datetime
) -> None:
    """The same, with other writes of the transaction."""
    newest = new[-NOTICES_PER_SITE:]
    if newest:
        # The new ones are not visible yet, so these are how many stay beside them.
        await _FORGET(writes, site_id=site_id, stay=NOTICES_PER_SITE - len(newest))
        await _INSERT(writes, site_id=site_id, noted_at=now, notices=newest)


async def notices_of(
    connection: Connection, limit: int, before: int | None = None, *, site_id: int
) -> list[StoredNotice]:
    """The newest first. before: a notice_id."""
    query = select(notice).where(notice.c.site_id == site_id)
    if before is not None:
        query = query.where(notice.c.notice_id < before)
    query = query.order_by(notice.c.notice_id.desc()).limit(limit)
    return [
        StoredNotice(
            notice_id=row.notice_id, noted_at=row.noted_at, notice=read_row(Notice, row)
        )
        for row in await connection.execute(query)
    ]
