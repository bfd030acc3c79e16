"""SQL of the change feed: sites by the transaction that changed each last.

A site that has left keeps its row, so that its leaving is a change as any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import text

from registry.db.engine.engines import Connection
from registry.db.engine.prepared import Prepared
from registry.db.engine.snapshots import UnreadRange

_IN_ORDER = Prepared(
    text("""
        SELECT found.site_id, found.xid
        FROM unnest(CAST(:first AS text[]), CAST(:end AS text[])) AS part (first, ended)
        CROSS JOIN LATERAL (
            SELECT site_id, change_xid::text::bigint AS xid FROM registry.site
            WHERE change_xid >= part.first::xid8 AND change_xid < part.ended::xid8
                AND (change_xid > CAST(:xid AS text)::xid8
                    OR change_xid = CAST(:xid AS text)::xid8 AND site_id > :site_id)
            ORDER BY change_xid, site_id LIMIT :most
        ) AS found
        ORDER BY found.xid, found.site_id LIMIT :most
    """)
)


@dataclass(frozen=True, slots=True, order=True)
class FeedPosition:
    """A site's last change: the transaction, and the site among those that it changed."""

    xid: int
    site_id: int


BEGINNING = FeedPosition(0, 0)


async def changes_in(
    connection: Connection, parts: Sequence[UnreadRange], after: FeedPosition, most: int
) -> list[FeedPosition]:
    """Return the changes of the parts behind a position, in their order."""
    rows = await _IN_ORDER(
        connection,
        first=[str(max(part.first, after.xid)) for part in parts],
        end=[str(part.end[0]) for part in parts],
        xid=str(after.xid),
        site_id=after.site_id,
        most=most,
    )
    return [FeedPosition(row.xid, row.site_id) for row in rows]
