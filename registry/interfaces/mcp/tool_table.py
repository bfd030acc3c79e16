"""The tools as a host reads them: few, each with all that a model needs to call it.

What they take is made from the one definition of a search, and what they answer from the
shapes of /v1; the rest stands in tool_table.json, with the words of the prompt and of the
resources. They are what a model reads before it calls; nothing else is.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import msgspec

from registry.formats.untrusted_text import NOTICE
from registry.interfaces.http.limits import Kind
from registry.interfaces.mcp.compact_answer import CompactAnswer
from registry.interfaces.rest.wire_model import PromisedView
from registry.usecases.search.search_query import SearchQuery
from registry.usecases.search.select import OUTCOME

Json = dict[str, Any]

WORDS: Json = json.loads(files(__package__).joinpath("tool_table.json").read_text())
INSTRUCTIONS = WORDS["instructions"] + NOTICE
_FIRST = ("q", "city", "country", "lat", "lon", "limit", "cursor", "nonce")
_LEFT_OUT = frozenset({"detail", "facets", "fields"})


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
        name: {key: _member(member) for key, member in value.items()}
        if name == "properties"
        else value
        for name, value in schema.items()
        if name not in {"title", "description"}
    }


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


_FROM_CODE: Mapping[str, Json] = {
    "search_sites": {
        "takes": _search_schema(),
        "answers": plain_schema(CompactAnswer),
        "kind": Kind.SEARCH,
    },
    "report_selection": {
        "answers": plain_schema(PromisedView),
        "kind": Kind.SELECTION,
        "is_read_only": False,
    },
}
TOOLS = tuple(
    ToolRow(**row, **_FROM_CODE.get(row["name"], {})) for row in WORDS["tools"]
)
TOOL: Mapping[str, ToolRow] = {row.name: row for row in TOOLS}
TOOL["report_selection"].takes["properties"]["outcome"]["pattern"] = OUTCOME
