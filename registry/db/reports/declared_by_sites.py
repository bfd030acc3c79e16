"""SQL of what sites had declared by an instant: their statements and documents."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import text

from registry.db.engine.engines import Connection

PAGE = 500

# A document that is replaced or gone later counted then; of a site without any the last.
_DECLARED = text("""
    SELECT s.site_id,
        (SELECT convert_from(r.token, 'UTF8') FROM registry.registration AS r
            WHERE r.host = s.host AND r.status = 'active' AND r.decided_at <= :at
                AND r.act IN ('register', 'update')
            ORDER BY r.seq DESC LIMIT 1) AS statement,
        (SELECT coalesce(jsonb_agg(DISTINCT k.jwk), '[]') FROM registry.site_key AS k
            WHERE k.site_id = s.site_id)::text AS keys,
        (SELECT coalesce(json_agg(json_build_object('url', d.url,
                'contentType', d.content_type, 'firstFetchedAt', d.first_at,
                'fetchedAt', floor(extract(epoch FROM d.fetched_at)),
                'retiredAt', d.gone_at,
                'body', translate(encode(d.body, 'base64'), E'\\n', ''))), '[]')
            FROM (SELECT *, floor(extract(epoch FROM first_fetched_at)) AS first_at,
                floor(extract(epoch FROM retired_at)) AS gone_at,
                rank() OVER (ORDER BY CASE WHEN retired_at <= :at THEN retired_at
                    ELSE 'infinity' END DESC) AS place
                FROM registry.document
                WHERE site_id = s.site_id AND first_fetched_at <= :at) AS d
            WHERE d.place = 1)::text AS documents
    FROM registry.site AS s
    WHERE s.registered_at <= :at AND s.site_id > :after ORDER BY s.site_id LIMIT :most
""")


async def declared_pages(
    connection: Connection, at: datetime
) -> AsyncIterator[Sequence[dict[str, Any]]]:
    """Yield rows of an archive, of sites registered by then, in the order of their ids."""
    after = -1
    while True:
        values = {"at": at, "after": after, "most": PAGE}
        rows = (await connection.execute(_DECLARED, values)).mappings().all()
        if not rows:
            return
        yield [dict(row) for row in rows]
        after = rows[-1]["site_id"]
