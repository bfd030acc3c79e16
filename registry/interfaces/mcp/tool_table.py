"""The tools as a host reads them: few, each with all that a model needs to call it.

What they take is made from the one definition of a search, and what they answer from the
shapes of /v1. The words here are what a model reads before it calls; nothing else is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from registry.formats.untrusted_text import NOTICE
from registry.interfaces.http.limits import Kind
from registry.interfaces.mcp.compact_answer import CompactAnswer
from registry.interfaces.rest.search.selections import OUTCOME
from registry.interfaces.rest.wire_model import PromisedView
from registry.usecases.search.search_query import SearchQuery

Json = dict[str, Any]

INSTRUCTIONS = (
    "Finds sites that can do what a user wants, ranked by fit, never by payment or fame. "
    "One search_sites call answers with sites and how to call their actions. Then tell "
    "which you chose: one report_selection call with ranking.id. " + NOTICE
)
_FIRST = ("q", "city", "country", "lat", "lon", "limit", "cursor", "nonce")
_LEFT_OUT = frozenset({"detail", "facets", "fields"})
_HOST = {"type": "string", "maxLength": 253, "description": "its host name"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow:
    """A tool. kind: of the limit that counts it; None: as any message.

    takes, answers: JSON Schemas of objects. is_read_only: it tells nothing of the user's;
    a search goes on record, but anonymously.
    """

    name: str
    title: str
    description: str
    takes: Json
    answers: Json
    kind: Kind | None = None
    is_read_only: bool = True


def plain_schema(model: type[msgspec.Struct]) -> Json:
    """Return the schema of a struct as one object, its own words left out.

    A member that may be absent is no `anyOf` with null: models trip over those.
    """
    schema = msgspec.json.schema(model)
    definitions: Json = schema["$defs"]
    whole = _simplified(definitions.pop(schema["$ref"].rpartition("/")[2]))
    rest = {name: _simplified(row) for name, row in definitions.items()}
    return {**whole, "$defs": rest} if rest else whole


def _simplified(schema: Json) -> Json:
    return {
        name: _members(value) if name == "properties" else value
        for name, value in schema.items()
        if name not in {"title", "description"}
    }


def _members(properties: Mapping[str, Json]) -> Json:
    return {name: _member(member) for name, member in properties.items()}


def _member(schema: Json) -> Json:
    member = {name: value for name, value in schema.items() if name != "default"}
    choices = [row for row in member.get("anyOf", ()) if row != {"type": "null"}]
    if len(choices) == 1 and "default" in schema:
        return dict(choices[0])
    return member


def _search_schema() -> Json:
    schema = plain_schema(SearchQuery)
    schema.pop("$defs", None)
    known = schema["properties"]
    names = (*_FIRST, *(name for name in known if name not in _FIRST))
    members = {name: known[name] for name in names if name not in _LEFT_OUT}
    return {**schema, "properties": members}


def _object(required: tuple[str, ...], **members: Json) -> Json:
    return {
        "type": "object",
        "properties": members,
        "required": list(required),
        "additionalProperties": False,
    }


_TEXT = {"type": "string"}
_POINTS = {
    "type": "object",
    "description": "points of 100 by factor",
    "additionalProperties": {"type": "number"},
}
_RANKED = _object(
    ("site",),
    site=_TEXT,
    score={"type": "number"},
    contributions=_POINTS,
)

TOOLS = (
    ToolRow(
        name="search_sites",
        title="Search sites that can do something",
        description=(
            "Find sites that can do what is asked, best first, each with its score, why, "
            "and how to call the matching actions: signature, by, url, method. Ask once, "
            "in the user's own words; give city where the place matters."
        ),
        takes=_search_schema(),
        answers=plain_schema(CompactAnswer),
        kind=Kind.SEARCH,
    ),
    ToolRow(
        name="explain_ranking",
        title="Explain a ranking",
        description=(
            "Why the sites of an answer stand in their order: score and points of the "
            "five factors, their weights, and where its record is in the public log. "
            "Only if the user asks why."
        ),
        takes=_object(
            ("rankingId",),
            rankingId={
                "type": "string",
                "maxLength": 100,
                "description": "ranking.id of the answer, whole",
            },
        ),
        answers=_object(
            ("ranking", "policy", "sites"),
            notice=_TEXT,
            ranking=_TEXT,
            policy=_TEXT,
            answeredAt=_TEXT,
            eligible={"type": "integer"},
            weights=_POINTS,
            query=_TEXT,
            sites={"type": "array", "items": _RANKED},
            erased={"type": "array", "items": _TEXT},
            record=_TEXT,
            proof=_TEXT,
        ),
    ),
    ToolRow(
        name="get_site",
        title="Look up one site",
        description=(
            "What is listed of one site by its host: name, place, trust, its actions and "
            "how to call them. Not needed after a search that shows the action."
        ),
        takes=_object(("site",), site=_HOST),
        answers=_object(
            ("site", "actions"),
            notice=_TEXT,
            site=_TEXT,
            name=_TEXT,
            category=_TEXT,
            description=_TEXT,
            city=_TEXT,
            country=_TEXT,
            trust=_TEXT,
            conformance=_TEXT,
            formats={"type": "array", "items": _TEXT},
            actions={"type": "array", "items": {"type": "object"}},
            omitted={"type": "integer"},
        ),
    ),
    ToolRow(
        name="get_site_tools",
        title="A site's actions as MCP tools",
        description=(
            "All actions of a site as MCP tool definitions named {site}__{action}, with "
            "the limits of rate that it declares."
        ),
        takes=_object(("site",), site=_HOST),
        answers=_object(
            ("tools",),
            notice=_TEXT,
            tools={"type": "array", "items": {"type": "object"}},
            rateLimits={"type": "array", "items": {"type": "object"}},
        ),
    ),
    ToolRow(
        name="report_selection",
        title="Report which site was chosen",
        description=(
            "Tell, once for each search, which site of it you used, or null if none. It "
            "keeps the ranking honest; it moves no later order."
        ),
        takes=_object(
            ("rankingId", "siteId"),
            rankingId={
                "type": "string",
                "maxLength": 100,
                "description": "ranking.id of the answer, whole",
            },
            siteId={
                "type": ["string", "null"],
                "maxLength": 253,
                "description": "the chosen site; null if none fits",
            },
            outcome={
                "type": "string",
                "pattern": OUTCOME,
                "description": "one word: succeeded, failed",
            },
        ),
        answers=plain_schema(PromisedView),
        kind=Kind.SELECTION,
        is_read_only=False,
    ),
)
TOOL: Mapping[str, ToolRow] = {row.name: row for row in TOOLS}
