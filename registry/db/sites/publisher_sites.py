"""SQL of the sites of one publisher."""

import msgspec
from sqlalchemy import select

from registry.db.engine.engines import Connection
from registry.db.schema.tables import site
from registry.db.sites.listed_sites import LISTED
from registry.sites.entry import SiteEntry
from registry.sites.place import Place

MOST_SITES = 5


async def places_of_publisher(
    connection: Connection, entry: SiteEntry
) -> list[tuple[str, Place]]:
    """Return host and place of the first other listed sites in other cities."""
    query = (
        select(site.c.host, site.c.listing["place"].label("place"))
        .where(
            site.c.registrable_domain == entry.registrable_domain,
            site.c.site_id != entry.site_id,
            site.c.city != (entry.place.name if entry.place else ""),
            LISTED,
        )
        .order_by(site.c.site_id)
        .limit(MOST_SITES)
    )
    rows = await connection.execute(query)
    return [(row.host, msgspec.convert(row.place, Place)) for row in rows]
