"""The pages for people: search, a site, a problem code, the policy and the crawler.

No JavaScript. The search form is also a WebMCP tool, by its attributes. A refusal is shown
where the form is, with its way out. `/bot.json` and the directory tell machines about the
crawler: where its requests come from and the key that it signs with, as far as the
operator has set them.
"""

from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlencode

from litestar import MediaType, Response, get
from litestar.params import FromPath, QueryParameter

from registry.db import labels
from registry.db.engine.engines import Connection
from registry.db.sites import notices, probes
from registry.errors import NotFound, RegistryError
from registry.identity.requests.web_bot_auth import DIRECTORY_PATH, DIRECTORY_TYPE
from registry.index.sources import digest_of_page, policy_page
from registry.interfaces.discovery.own_site import OWN_ACTIONS
from registry.interfaces.http.conditional import HOUR
from registry.interfaces.http.credentials import Call
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.problems import status_of
from registry.interfaces.http.query_string import max_lengths
from registry.interfaces.http.refusals import NOT_FOUND
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.labels.label_views import view_disclosures
from registry.interfaces.rest.search.policy import read_history
from registry.interfaces.rest.search.policy_text import (
    EXCLUSIONS,
    ORIGIN,
    RULES,
    STATEMENTS,
    WEIGHED,
)
from registry.interfaces.rest.search.search import answer_search
from registry.interfaces.rest.sites.sites import find_registered, show_entry
from registry.interfaces.web.catalogue import PROBLEM_TYPES
from registry.interfaces.web.page_wording import (
    TITLES,
    describe_changes,
    describe_probes,
    describe_site,
    describe_status,
    explain_factors,
    explain_lead,
)
from registry.interfaces.web.rendering import computation, page
from registry.ranking.policy import REASONS, Policy
from registry.ranking.quality import QUALITY_WINDOW, summarise_probes
from registry.ranking.rank_score import SHOWN
from registry.sites.entry import SiteEntry
from registry.usecases.search.search_query import MAX_QUERY_LENGTH, SearchQuery
from registry.usecases.sites.notices import KINDS

PAGE_RESULTS = 10
NEWEST_NOTICES = 5
LIMITS = max_lengths(SearchQuery)
SEARCHING = OWN_ACTIONS[0]
FORM = {
    "limits": LIMITS,
    "tool": SEARCHING,
    "about": {row.name: row.description for row in SEARCHING.parameters},
}
"""Parts of the search form that are the same for every request."""
Field = Annotated[str, QueryParameter(max_length=MAX_QUERY_LENGTH)]


@get("/", include_in_schema=False, media_type=MediaType.HTML)
async def show_search(  # noqa: PLR0917 — one for each parameter
    request: Call,
    services: Injected,
    q: Field = "",
    city: Field = "",
    country: Field = "",
    cursor: Field = "",
) -> Response[str]:
    given = {"q": q, "city": city, "country": country}
    form: dict[str, Any] = {**FORM, "given": given}
    if not q.strip():
        listed = await services.listed_count.current()
        return page("search.html", **form, listed=listed)
    query = SearchQuery(
        q=q,
        city=city.strip() or None,
        country=country.strip() or None,
        limit=PAGE_RESULTS,
        cursor=cursor or None,
    )
    try:
        await services.limits.admit(request.scope, Kind.SEARCH)
        answer = await answer_search(services, query, request.scope)
    except RegistryError as refused:
        status = status_of(refused)
        return page("search.html", status, **form, problem=refused.problem)
    following = answer.next_cursor
    return page(
        "search.html",
        **form,
        answer=answer,
        describe_site=describe_site,
        explain_factors=explain_factors,
        explain_lead=explain_lead,
        shown=SHOWN,
        hint_link=lambda hint: (
            "/?" + urlencode({"q": q, "city": hint.city, "country": hint.country})
        ),
        next_page=(
            "/?" + urlencode({**given, "cursor": following}) if following else None
        ),
    )


@get("/problems/{code:str}", include_in_schema=False, media_type=MediaType.HTML)
async def show_problem(code: FromPath[str]) -> Response[str]:
    kind = PROBLEM_TYPES.get(code)
    if kind is None:
        raise NotFound(NOT_FOUND, "no problem has this code")
    return page("problem.html", kind=kind)


@get("/bot", include_in_schema=False, media_type=MediaType.HTML)
async def show_bot(services: Injected) -> Response[str]:
    """The crawler's User-Agent points here."""
    return page(
        "bot.html", bot=services.bot, directory=DIRECTORY_PATH, contact=services.contact
    )


@get(
    "/policy.md", include_in_schema=False, media_type="text/markdown", middleware=[HOUR]
)
async def get_policy_page() -> Response[bytes]:
    """Return the bytes that the policy's record names."""
    return Response(policy_page(), media_type="text/markdown; charset=utf-8")


@get("/policy", include_in_schema=False, media_type=MediaType.HTML)
async def show_policy(services: Injected) -> Response[str]:
    """Show what /v1/policy tells machines."""
    policy = services.searcher.follower.policy
    factors = [
        {"title": TITLES[name], "weight": weight / 100, "own": WEIGHED[name]}
        for name, weight in zip(TITLES, policy.weights, strict=True)
    ]
    constants = [
        {"name": name, "value": getattr(policy, name), "reason": reason}
        for name, reason in REASONS.items()
    ]
    return page(
        "policy.html",
        digest=policy.digest,
        factors=factors,
        origin=ORIGIN,
        exclusions=EXCLUSIONS,
        rules=RULES,
        statements=STATEMENTS,
        constants=constants,
        computation=computation(),
        page_digest=digest_of_page(),
        history=await read_history(services),
        describe_changes=describe_changes,
    )


@get("/sites/{host:str}", include_in_schema=False, media_type=MediaType.HTML)
async def show_site(host: FromPath[str], services: Injected) -> Response[str]:
    """Show what /v1/sites/{host} and its neighbours answer. Raises: NotFound, Gone."""
    now, policy = services.clock(), services.searcher.follower.policy
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
        seen = await _read_facts(connection, entry, policy, since=now - QUALITY_WINDOW)
        site = await show_entry(connection, services, entry)
    async with services.auditor.connect() as connection:
        statements = await labels.statements_at(connection, now, [entry.site_id])
    disclosures = view_disclosures(entry, now, statements.get(entry.site_id, ()), ())
    return page("site.html", site=site, disclosures=disclosures, **seen)


async def _read_facts(
    connection: Connection, entry: SiteEntry, policy: Policy, *, since: datetime
) -> dict[str, Any]:
    site_id = entry.site_id
    figures = summarise_probes(await probes.probes_since(connection, site_id, since))
    newest = await notices.notices_of(connection, NEWEST_NOTICES, site_id=site_id)
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


@get(DIRECTORY_PATH, include_in_schema=False, middleware=[HOUR])
async def get_directory(services: Injected) -> Response[bytes]:
    """Web Bot Auth: the key set, and proof that who serves it has the key."""
    agent = services.bot.agent
    if agent is None:
        raise NotFound(NOT_FOUND, "the crawler of this registry signs no requests")
    return Response(
        agent.directory,
        media_type=DIRECTORY_TYPE,
        headers=agent.sign_directory(now=int(services.clock().timestamp())),
    )


@get("/bot.json", include_in_schema=False, middleware=[HOUR])
async def get_addresses(services: Injected) -> dict[str, object]:
    """Answer in the form that crawlers share (draft-illyes-webbotauth-jafar)."""
    if not services.bot.networks:
        raise NotFound(NOT_FOUND, "the crawler's addresses are not published")
    # Anew each day, as the draft wants it, and the same from every process.
    return {
        "creationTime": f"{services.clock():%Y-%m-%dT00:00:00Z}",
        "prefixes": [
            {f"ipv{row.version}Prefix": str(row)} for row in services.bot.networks
        ],
    }
