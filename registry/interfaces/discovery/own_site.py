"""Actions that this registry offers to agents, as the site that it is: the one source.

Its discovery documents in every format, llms.txt and the WAB bridge are made from here.
The actions stand in own_actions.json; what a search takes is the one definition of it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

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


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAction:
    """An action of the registry. schema: of what it takes. method, path: of /v1.

    category: over WAB. tool: its name over MCP, "" where that has none.
    """

    name: str
    category: str
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


_SEARCH = msgspec.json.schema(SearchQuery)["$defs"][SearchQuery.__name__]
_ROWS = json.loads(files(__package__).joinpath("own_actions.json").read_text())
OWN_ACTIONS = tuple(OwnAction(**{"schema": _SEARCH, **row}) for row in _ROWS)


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
