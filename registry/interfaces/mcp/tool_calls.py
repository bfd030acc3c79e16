"""The tools as they are carried out: by the handlers of /v1, which know nothing of it.

So limits, credentials, records and refusals are those of /v1. What comes back is made
shorter for a model, and neutral.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec

from registry.db.sites.documents import current_documents
from registry.errors import NotFound, Refused
from registry.formats.as_mcp_tools import as_mcp_tools
from registry.formats.invocations import invocations_of, shorten
from registry.formats.rate_limits import declared_limits
from registry.formats.untrusted_text import with_notice
from registry.interfaces.http import refusals
from registry.interfaces.http.credentials import Call, admit_caller
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.problems import respond_to
from registry.interfaces.http.services import Services
from registry.interfaces.http.strict import convert_body
from registry.interfaces.http.wab_codes import wab_error
from registry.interfaces.mcp.compact_answer import compact
from registry.interfaces.mcp.tool_table import TOOL, Json
from registry.interfaces.rest.search.explained_ranking import explain_ranking
from registry.interfaces.rest.search.policy import get_policy
from registry.interfaces.rest.search.search import search_with_body
from registry.interfaces.rest.search.selections import save_selection
from registry.interfaces.rest.sites.entry_views import view_content
from registry.interfaces.rest.sites.sites import (
    find_registered,
    get_document,
    page_of_sites,
)
from registry.sites.entry import shown_place
from registry.usecases.refusals import SITE_UNKNOWN
from registry.usecases.search.search_query import SearchQuery
from registry.usecases.search.select import SelectionRequest

POLICY_URI = "registry://policy"
MOST_ACTIONS = 20
PAGE_RESOURCES = 50
_DISCOVERY = re.compile(r"wab://([^/]{1,253})/discovery")


class Caller(NamedTuple):
    """The request that a message came with, and what answers it."""

    request: Call
    services: Services


class ToolRefused(Exception):
    """A refusal as WAB 1.0, Appendix B, has it."""

    def __init__(self, error: Json) -> None:
        self.error = error
        super().__init__(error["code"])


async def call_tool(
    caller: Caller, name: str, arguments: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Carry out a tool of TOOLS. Raises: ToolRefused."""
    with refusing(caller.request):
        _verify_names(name, arguments)
        return await _CALLS[name](caller, _stated(name, arguments))


@contextmanager
def refusing(request: Call) -> Iterator[None]:
    """Raises: ToolRefused for any error: what /v1 would answer, in words of Appendix B."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 — as the framework does, by one table
        response = respond_to(error, request)
        problem: Json = msgspec.json.decode(response.content)
        refusal = wab_error(problem, response.headers.get("Retry-After"))
        raise ToolRefused(refusal) from None


def _verify_names(name: str, arguments: Mapping[str, Any]) -> None:
    known = TOOL[name].takes["properties"]
    for argument in arguments:
        if argument not in known:
            detail = f"{argument[:80]!r} is no argument; they are {', '.join(known)}"
            raise Refused(refusals.PARAMETER_UNKNOWN, detail, pointer=argument[:80])


def _stated(name: str, arguments: Mapping[str, Any]) -> Json:
    """Return the arguments without optional ones that are null: CrewAI fills in all."""
    required = TOOL[name].takes.get("required", ())
    return {
        argument: value
        for argument, value in arguments.items()
        if value is not None or argument in required
    }


class _RankingArguments(msgspec.Struct, rename="camel"):
    ranking_id: str


class _SiteArguments(msgspec.Struct):
    site: str


async def _search(caller: Caller, arguments: Json) -> Json:
    query = convert_body({**arguments, "detail": "brief"}, SearchQuery)
    return compact(await search_with_body.fn(query, *caller))


async def _select(caller: Caller, arguments: Json) -> Json:
    selection = convert_body(arguments, SelectionRequest)
    request, services = caller
    operator = await admit_caller(request, services, Kind.SELECTION)
    view = await save_selection(services, selection, operator)
    promised: Json = msgspec.to_builtins(view)
    return promised


async def _explain(caller: Caller, arguments: Json) -> Json:
    ranking_id = convert_body(arguments, _RankingArguments).ranking_id
    explained = await explain_ranking(caller.services, ranking_id)
    return with_notice(explained)


async def _get_site(caller: Caller, arguments: Json) -> Json:
    host = convert_body(arguments, _SiteArguments).site
    services = caller.services
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
    site = entry.site
    city, country = shown_place(entry.place, site.location)
    actions = invocations_of(site.actions[:MOST_ACTIONS])
    members = {
        "site": entry.host,
        "name": site.name,
        "category": site.category,
        "description": shorten(site.description, 300),
        "city": city,
        "country": country,
        "trust": entry.trust_level,
        "conformance": entry.conformance,
        "formats": sorted({call.format for row in site.actions for call in row.calls}),
        "actions": msgspec.to_builtins(actions),
        "omitted": len(site.actions) - len(actions),
    }
    shown = {
        name: value for name, value in members.items() if value or name == "actions"
    }
    return with_notice(shown)


async def _get_site_tools(caller: Caller, arguments: Json) -> Json:
    host = convert_body(arguments, _SiteArguments).site
    services = caller.services
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
        own = await current_documents(connection, entry.site_id)
    limits = [
        limit
        for document in own
        for limit in declared_limits(document.format, view_content(document).content)
    ]
    tools = as_mcp_tools(entry.site, host=entry.host)
    return with_notice({**tools, "rateLimits": limits})


_CALLS: Mapping[str, Callable[[Caller, Json], Awaitable[Json]]] = {
    "search_sites": _search,
    "explain_ranking": _explain,
    "get_site": _get_site,
    "get_site_tools": _get_site_tools,
    "report_selection": _select,
}


async def read_resource(caller: Caller, uri: str) -> str:
    """Return the text of a resource: JSON. Raises: ToolRefused."""
    with refusing(caller.request):
        resource = await _resource(caller, uri)
    return msgspec.json.encode(resource).decode()


async def _resource(caller: Caller, uri: str) -> object:
    if uri == POLICY_URI:
        return await get_policy.fn(caller.services)
    named = _DISCOVERY.fullmatch(uri)
    if named is None:
        detail = f"resources are {POLICY_URI} and wab://HOST/discovery"
        raise NotFound(SITE_UNKNOWN, detail, pointer="uri")
    document = await get_document.fn(named[1], caller.services, form="wab")
    return with_notice(document)


async def list_discovery(
    caller: Caller, cursor: str | None
) -> tuple[list[tuple[str, str]], str | None]:
    """Return hosts and names of listed sites, and the next cursor. Raises: ToolRefused."""
    with refusing(caller.request):
        page, following = await page_of_sites(
            caller.services, "mcp", PAGE_RESOURCES, cursor
        )
    return [(row.host, row.site.name or row.host) for row in page], following
