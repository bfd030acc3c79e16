"""SQL of the categories that sites had, for reports of windows that are over.

A trigger of the database notes the former category whenever one changes.
"""

from datetime import datetime

from sqlalchemy import text

from registry.db.engine.engines import Connection

THEN = text("""
    SELECT DISTINCT ON (site_id) site_id, category FROM disclosure.former_category
    WHERE until > :at AND site_id > :after AND site_id <= :last
    ORDER BY site_id, until
""")


async def categories_then(
    connection: Connection, at: datetime, *, after: int = 0, last: int = 2**63 - 1
) -> dict[int, str]:
    """Return the category at that instant of sites of which it has changed since.

    after, last: of sites behind the one, and up to the other. connection: of a role that
    may read disclosures.
    """
    rows = await connection.execute(THEN, {"at": at, "after": after, "last": last})
    return {row.site_id: row.category for row in rows}
