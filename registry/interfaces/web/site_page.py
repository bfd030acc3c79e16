"""The page of one site: what the registry knows of it, for its owner and for the curious."""

from datetime import datetime, timedelta
from typing import Any

from litestar import MediaType, Response, get
from litestar.params import FromPath

from registry.db import labels
from registry.db.engine.engines import Connection
from registry.db.sites import notices, probes
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.labels.label_views import view_disclosures
from registry.interfaces.rest.sites.sites import (
    QUALITY_WINDOW,
    find_registered,
    show_entry,
)
from registry.interfaces.web.page_wording import describe_probes, describe_status
from registry.interfaces.web.rendering import page
from registry.ranking.policy import Policy
from registry.sites.entry import SiteEntry
from registry.usecases.sites.list_site import summarise_probes
from registry.usecases.sites.notices import KINDS

NEWEST_NOTICES = 5


@get("/sites/{host:str}", include_in_schema=False, media_type=MediaType.HTML)
async def show_site(host: FromPath[str], services: Injected) -> Response[str]:
    """Show what /v1/sites/{host} and its neighbours answer. Raises: NotFound, Gone."""
    now, policy = services.clock(), services.searcher.follower.policy
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
        seen = await _read(connection, entry, policy, since=now - QUALITY_WINDOW)
        site = await show_entry(connection, services, entry)
    async with services.auditor.connect() as connection:
        statements = await labels.statements_at(connection, now, [entry.site_id])
    disclosures = view_disclosures(entry, now, statements.get(entry.site_id, ()), ())
    return page("site.html", site=site, disclosures=disclosures, **seen)


async def _read(
    connection: Connection, entry: SiteEntry, policy: Policy, *, since: datetime
) -> dict[str, Any]:
    site_id = entry.site_id
    figures = summarise_probes(await probes.probes_since(connection, site_id, since))
    newest = await notices.notices_of(connection, site_id, NEWEST_NOTICES)
    return {
        "standing": describe_status(entry.shown_status),
        "probes": describe_probes(figures, policy),
        "days": QUALITY_WINDOW // timedelta(days=1),
        "notices": [
            (
                stored.noted_at,
                KINDS.get(stored.notice.code, stored.notice.code),
                stored.notice,
            )
            for stored in newest
        ],
    }
