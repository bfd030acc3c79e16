"""/v1/sites: what is listed, by host; unranked."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, Literal

from litestar import get
from litestar.params import FromPath, QueryParameter

from registry.db.engine.engines import Connection
from registry.db.frontier import tasks
from registry.db.sites import documents, probes
from registry.db.sites import listed_sites as sites
from registry.errors import NotFound, Refused, detail_of
from registry.formats.writing.forms import FORMS_TEXT, Form, write_as
from registry.interfaces.http import refusals
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.strict import verify_text
from registry.interfaces.rest.paging import DEFAULT_LIMIT, Cursor, Limit, Listing
from registry.interfaces.rest.sites import entry_views
from registry.interfaces.rest.wire_model import WireModel, outcome_to_second
from registry.sites.entry import SiteEntry
from registry.sites.host import Host, parse_host
from registry.sites.summary import summary_of
from registry.usecases.refusals import SITE_UNKNOWN
from registry.usecases.sites import owner_statement
from registry.usecases.sites.place_notes import read_place_notes

QUALITY_WINDOW = timedelta(days=30)

Category = Annotated[
    str | None,
    QueryParameter(max_length=200, description="Only sites of this category"),
]
Country = Annotated[
    str | None,
    QueryParameter(max_length=200, description="Only sites of it, by code or name"),
]


class ProbeView(WireModel):
    observed_at: datetime
    outcome: str
    elapsed_ms: int


class QualityView(WireModel):
    """The registry's own probes, the newest first."""

    probes: tuple[ProbeView, ...]
    last_outcomes: dict[str, dict[str, Any]]


class HistoryView(WireModel):
    versions: tuple[entry_views.DocumentView, ...]


@get("/sites")
async def list_sites(
    services: Injected,
    category: Category = None,
    country: Country = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> entry_views.SitePage:
    """A list and no ranking; follow `nextCursor`."""
    if category is not None:
        category = verify_text(category, "category", max_length=200)
    if country is not None:
        verify_text(country, "country", max_length=200)
        country = services.gazetteer.find_country(country)
    purpose = f"sites {category!r} {country!r}"
    page, following = await page_of_sites(
        services, purpose, limit, cursor, category=category, country=country
    )
    return entry_views.SitePage(
        results=tuple(summary_of(entry.short) for entry in page), next_cursor=following
    )


async def page_of_sites(
    services: Services,
    purpose: str,
    limit: int,
    cursor: str | None,
    *,
    category: str | None = None,
    country: str | None = None,
) -> tuple[Sequence[SiteEntry], str | None]:
    """Return a page of listed sites in their order, and the cursor of what follows.

    purpose: of the cursor, see `Listing`.
    """
    listing: Listing[SiteEntry, tuple[datetime, int]] = Listing(
        purpose=purpose,
        key=tuple[datetime, int],
        key_of=lambda entry: (entry.registered_at, entry.site_id),
        find=partial(sites.list_sites, category=category, country=country),
    )
    return await listing.page(services, limit, cursor)


@get("/sites/{host:str}")
async def get_site(
    host: FromPath[str],
    services: Injected,
    form: Annotated[
        Literal["entry", "wab-entry"],
        QueryParameter(name="as", description="wab-entry: as WAB §9.3 spells it"),
    ] = "entry",
) -> entry_views.SiteView | entry_views.WabEntry:
    """All that the registry knows of a host, its documents and actions; unranked."""
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
        if form == "wab-entry":
            return entry_views.view_wab_entry(entry)
        return await show_entry(connection, services, entry)


@get("/sites/{host:str}/document")
async def get_document(
    host: FromPath[str],
    services: Injected,
    url: Annotated[
        str | None, QueryParameter(max_length=2048, description="which; else the first")
    ] = None,
    form: Annotated[
        Literal["fetched"] | Form, QueryParameter(name="as", description=FORMS_TEXT)
    ] = "fetched",
) -> entry_views.DocumentContent | dict[str, Any]:
    """A form other than `fetched` is the whole site in that format.

    What the format can not say stands in `x-fair-registry`.
    """
    if url is not None and form != "fetched":
        detail = "url chooses a fetched document; leave it out or leave out as"
        raise Refused(refusals.PARAMETER_INVALID, detail, pointer="url")
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
        if form != "fetched":
            return write_as(form, entry.site, host=entry.host)
        current = await documents.current_documents(connection, entry.site_id)
    for document in current:
        if url is None or document.url == url:
            return entry_views.view_content(document)
    raise NotFound(SITE_UNKNOWN, "the site has no such document")


@get("/sites/{host:str}/history")
async def get_history(
    host: FromPath[str], services: Injected, limit: Limit = DEFAULT_LIMIT
) -> HistoryView:
    """A version is new where what agents can do has changed, and not by its layout."""
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
        versions = await documents.document_history(connection, entry.site_id, limit)
    return HistoryView(
        versions=tuple(entry_views.view_document(document) for document in versions)
    )


@get("/sites/{host:str}/quality")
async def get_quality(
    host: FromPath[str], services: Injected, limit: Limit = DEFAULT_LIMIT
) -> QualityView:
    """Every site is probed in the same way and as often; these figures are its quality."""
    since = services.clock() - QUALITY_WINDOW
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
        rows = await probes.probes_since(connection, entry.site_id, since, limit)
        outcomes = await tasks.outcomes_of(connection, entry.site_id)
    return QualityView(
        probes=tuple(ProbeView.of(probe) for probe in rows),
        last_outcomes={
            kind: outcome_to_second(outcome) for kind, outcome in outcomes.items()
        },
    )


async def show_entry(
    connection: Connection, services: Services, entry: SiteEntry
) -> entry_views.SiteView:
    current = await documents.current_documents(connection, entry.site_id)
    place_notes = await read_place_notes(connection, entry, current, services.gazetteer)
    policy = services.searcher.follower.policy
    return entry_views.view_site(entry, current, place_notes, policy.place_cooling_days)


def parse_site_host(text: str, *, test_hosts: bool) -> Host:
    """Raises: NotFound, for what is no host is no site either."""
    with NotFound.on(Refused, SITE_UNKNOWN, detail_of, pointer="host"):
        return parse_host(text, test_hosts=test_hosts)


async def find_registered(
    connection: Connection, text: str, *, test_hosts: bool
) -> SiteEntry:
    """Raises: NotFound, Gone."""
    host = parse_site_host(text, test_hosts=test_hosts)
    return await owner_statement.find_registered(connection, host)
