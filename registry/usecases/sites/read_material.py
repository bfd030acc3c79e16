"""The material of a profile, read from the database."""

from datetime import datetime

from registry.db.engine.engines import Connection
from registry.db.sites import documents, probes
from registry.db.sites import listed_sites as sites
from registry.errors import NotFound
from registry.ranking.quality import NEWEST, QUALITY_WINDOW
from registry.usecases.refusals import SITE_UNKNOWN
from registry.usecases.sites.declared import declarations_from
from registry.usecases.sites.profile_material import ProfileMaterial, material_of


async def read_material(
    connection: Connection, site_id: int, now: datetime, *, allow_loopback: bool
) -> ProfileMaterial:
    """Raises: NotFound if no such site is listed."""
    entry = (await sites.find_sites(connection, [site_id])).get(site_id)
    if entry is None or not entry.is_listed:
        raise NotFound(SITE_UNKNOWN, pointer="id")
    declared = await sites.find_declared(connection, [entry.host])
    _, declarations = declared[entry.host]
    since = now - 2 * QUALITY_WINDOW
    return material_of(
        entry,
        declarations_from(declarations),
        documents=await documents.current_documents(connection, site_id),
        keys=[
            key.jwk
            for key in await sites.keys_of(connection, site_id)
            if key.known.state == "trusted"
        ],
        probes=await probes.probes_since(connection, site_id, since, 2 * NEWEST),
        allow_loopback=allow_loopback,
    )
