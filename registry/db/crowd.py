"""SQL of a crowd of made-up sites, written at once: what the frontier is measured with.

Only for a database of one's own; the sites have no documents and no owner.
"""

from datetime import datetime

from sqlalchemy import text

from registry.db.engine import Connection

SITES = text("""
    INSERT INTO registry.site (site_id, host, registrable_domain, status, seq, listing,
        declarations, category, conformance, registered_at, updated_at, changed_at,
        proved_at, proof_source)
    SELECT number, 'crowd-' || number || '.test', 'crowd-' || number || '.test', 'active',
        1, '{}', '{}', '', 'strict', :now, :now, :now, :now, ''
    FROM generate_series(1, :sites) AS number
""")
TASKS = text("""
    INSERT INTO registry.task (site_id, kind, due_at)
    SELECT site_id, kind,
        CASE kind
            WHEN 'prove' THEN CAST(:now AS timestamptz) + interval '7 days'
            ELSE CAST(:now AS timestamptz) - random() * interval '1 hour'
        END
    FROM generate_series(1, :sites) AS site_id,
        unnest(ARRAY['crawl', 'probe', 'prove']) AS kind
""")
ANALYZE = text("ANALYZE registry.site, registry.task")


async def make_crowd(connection: Connection, *, sites: int, now: datetime) -> None:
    """Of each site a crawl and a probe are due, in any order; a proof is in a week."""
    await connection.execute(SITES, {"now": now, "sites": sites})
    await connection.execute(TASKS, {"now": now, "sites": sites})
    await connection.execute(ANALYZE)
