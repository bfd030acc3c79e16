"""Actions that this registry offers to agents, as the site that it is: the one source.

Its discovery documents in every format, llms.txt and the WAB bridge are made from here.
What a search takes is in turn the one definition of a search.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from registry.formats.reading.parameters import read_parameters
from registry.formats.reading.reader import DeviationLog, Reader
from registry.sites.action import Action, Call, Parameter, Sensitivity
from registry.sites.site import Site
from registry.strict_json import JsonObject
from registry.usecases.search.search_query import SearchQuery

NAME = "Fair Registry"
SUMMARY = (
    "A discovery registry for sites that AI agents can use, ranked by relevance, "
    "proximity, capability depth, quality and freshness and nothing else; every ranked "
    "answer is on record in a public log."
)
BRIDGE, SOCKET = "/api/wab", "/ws/wab"
_HOST = {"type": "string", "description": "host name of the site, e.g. shop.example"}
_RANKING = {"type": "string", "description": "id of the ranking, from ranking.id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAction:
    """An action of the registry. schema: of what it takes. method, path: of /v1.

    tool: its name over MCP, "" where that has none.
    """

    name: str
    description: str
    schema: JsonObject
    method: str
    path: str
    tool: str = ""
    sensitivity: Sensitivity = "read"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        holder = Reader({"inputSchema": self.schema}, "", DeviationLog(url=""))
        return read_parameters(holder, "inputSchema")


def _object(required: tuple[str, ...], **members: Any) -> JsonObject:
    return {"type": "object", "properties": members, "required": list(required)}


def _schema_of_search() -> JsonObject:
    schema: dict[str, Any] = msgspec.json.schema(SearchQuery)
    definition: JsonObject = schema["$defs"][SearchQuery.__name__]
    return definition


OWN_ACTIONS = (
    OwnAction(
        name="searchSites",
        description=(
            "Find sites that can do what is asked, in plain words: ranked, explained, "
            "with how to call the matching actions"
        ),
        schema=_schema_of_search(),
        method="GET",
        path="/v1/search",
        tool="search_sites",
    ),
    OwnAction(
        name="getSite",
        description="Look up the entry of a site by its host, with all its actions",
        schema=_object(("host",), host=_HOST),
        method="GET",
        path="/v1/sites/{host}",
        tool="get_site",
    ),
    OwnAction(
        name="explainRanking",
        description=(
            "Explain an answer: what was asked, the scores of its sites, the policy, "
            "and where its record stands in the public log"
        ),
        schema=_object(("rankingId",), rankingId=_RANKING),
        method="GET",
        path="/v1/rankings/{rankingId}",
        tool="explain_ranking",
    ),
    OwnAction(
        name="reportSelection",
        description="Report which site of an answer was chosen, or that none was",
        schema=_object(
            ("rankingId", "siteId"),
            rankingId=_RANKING,
            siteId={
                "type": ["string", "null"],
                "description": "id of the chosen site, null for none",
            },
            outcome={
                "type": "string",
                "description": "how it went, in one word, e.g. succeeded",
            },
        ),
        method="POST",
        path="/v1/selections",
        tool="report_selection",
        sensitivity="write",
    ),
    OwnAction(
        name="registerSite",
        description=(
            "Begin to register a site: get the challenge to sign and the next steps to "
            "prove control of the host"
        ),
        schema=_object(("host",), host=_HOST),
        method="POST",
        path="/v1/challenges",
        sensitivity="write",
    ),
    OwnAction(
        name="lintDocument",
        description=(
            "Check a discovery document of any format as the registry would read it, "
            "with each fault and its repair"
        ),
        schema=_object(
            ("document",),
            document={"type": "object", "description": "the document, as the body"},
            url={"type": "string", "description": "where it lies or will lie"},
        ),
        method="POST",
        path="/v1/lint",
    ),
)


def own_site(origin: str) -> Site:
    """Return the registry as a site. origin: as it names itself, without a last slash."""
    return Site(
        name=NAME,
        description=SUMMARY,
        category="registry",
        url=f"{origin}/",
        languages=("en",),
        permissions=(("readContent", True), ("apiAccess", True)),
        commission_percent=0.0,
        is_independent=True,
        actions=tuple(_action(own, origin) for own in OWN_ACTIONS),
    )


def _action(own: OwnAction, origin: str) -> Action:
    return Action(
        name=own.name,
        description=own.description,
        parameters=own.parameters,
        auth_required=False,
        sensitivity=own.sensitivity,
        calls=tuple(_calls(own, origin)),
    )


def _calls(own: OwnAction, origin: str) -> Iterator[Call]:
    """Yield the ways to call it. A further face adds its own here."""
    yield Call(
        format="awas", transport="http", method=own.method, target=f"{origin}{own.path}"
    )
    yield Call(
        format="wab", transport="http", method="api", target=f"{origin}{BRIDGE}/execute"
    )
    socket = f"ws{origin.removeprefix('http')}{SOCKET}"
    yield Call(format="wab", transport="websocket", method="api", target=socket)
    if own.tool:
        yield Call(
            format="mcp", transport="mcp", target=f"{origin}/mcp", operation=own.tool
        )
