"""SQL of moderation: a site that is held out of answers, whatever its owner signs."""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import func, select

from registry.db.engine.engines import Connection
from registry.db.schema.tables import site, site_profile
from registry.db.sites.listed_sites import change_row
from registry.sites.entry import Moderated, SiteEntry


async def domains_by_age(connection: Connection) -> list[str]:
    """Registrable domains of all sites that are not withdrawn, the oldest first."""
    domain = site.c.registrable_domain
    domains = await connection.execute(
        select(domain)
        .where(site.c.status != "withdrawn")
        .group_by(domain)
        .order_by(func.min(site.c.registered_at), domain)
    )
    return list(domains.scalars())


async def hold(
    connection: Connection, site_id: int, moderated: Moderated, now: datetime
) -> None:
    await _save(connection, site_id, moderated, now, listed=False)


async def release(connection: Connection, entry: SiteEntry, now: datetime) -> None:
    """Listed again, unless something else keeps it out."""
    listed = replace(entry, moderated=None).is_listed
    await _save(connection, entry.site_id, None, now, listed=listed)


async def _save(
    connection: Connection,
    site_id: int,
    moderated: Moderated | None,
    now: datetime,
    *,
    listed: bool,
) -> None:
    """Save, with a `change_xid` for its followers, the index and the list of entries."""
    await change_row(connection, site, site_id, moderated=moderated, updated_at=now)
    await change_row(connection, site_profile, site_id, listed=listed)
