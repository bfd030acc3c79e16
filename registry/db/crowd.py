"""SQL of a crowd of made-up sites, written at once: what the frontier is measured with.

Only for a database of one's own; the sites have no documents and no owner.
"""

from collections.abc import Sequence
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
DECLARED = text("""
    UPDATE registry.site SET listing = '{"site": {}, "place": null}',
        declarations = jsonb_build_object('docs', jsonb_build_array(
            jsonb_build_object('url', urls.url)))
    FROM unnest(CAST(:urls AS text[])) WITH ORDINALITY AS urls (url, number)
    WHERE site_id = urls.number
""")
ONLY_CRAWLS = text("DELETE FROM registry.task WHERE kind <> 'crawl'")
CRAWLED = text("SELECT count(*) FROM registry.task WHERE outcome <> '{}'")
STORED = text("SELECT count(*) FROM registry.document")
ANALYZE = text("ANALYZE registry.site, registry.task")


async def make_crowd(connection: Connection, *, sites: int, now: datetime) -> None:
    """Of each site a crawl and a probe are due, in any order; a proof is in a week."""
    await connection.execute(SITES, {"now": now, "sites": sites})
    await connection.execute(TASKS, {"now": now, "sites": sites})
    await connection.execute(ANALYZE)


async def make_declaring_crowd(
    connection: Connection, *, urls: Sequence[str], now: datetime
) -> None:
    """A site for each URL, of whose host it has to be, with a crawl due of it."""
    await make_crowd(connection, sites=len(urls), now=now)
    await connection.execute(DECLARED, {"urls": urls})
    await connection.execute(ONLY_CRAWLS)
    await connection.execute(ANALYZE)


async def count_crawled(connection: Connection) -> tuple[int, int]:
    """Sites that were visited, and documents that are stored."""
    crawled = (await connection.execute(CRAWLED)).scalar_one()
    return crawled, (await connection.execute(STORED)).scalar_one()
