"""WebMCP manifests: `/.well-known/webmcp`, `webmcp.json`.

No specification has them; they exist. All their shapes are read, and each leaves a
deviation: only the page itself, run in a browser, says which tools there are.
"""

from registry.formats.actions import gather, read_only_sensitivity, severest
from registry.formats.claims import read_address, read_languages
from registry.formats.document import Document
from registry.formats.parameters import read_parameters
from registry.formats.reader import Reader
from registry.sites.action import Action, Call, Sensitivity
from registry.sites.site import Site
from registry.strict_json import JsonObject

_MAX_REFERENCES = 50


def is_webmcp(raw: JsonObject) -> bool:
    return (
        _lists_named(raw, "tools")
        or _lists_named(raw, "forms")
        or isinstance(raw.get("mcpServers"), dict)
        or _names_webmcp(raw)
    )


def read_webmcp(document: Reader) -> Document:
    document.note(
        "manifest",
        "WebMCP knows no manifest; the tools are claimed, not seen on a page",
        "Register the tools on the pages, as forms or with registerTool().",
    )
    return document.ledger.conclude(
        format="webmcp",
        dialect=_dialect_of(document.members),
        version=document.text("version", "spec", "format"),
        site=Site(
            name=document.text("name", "title"),
            description=document.text("description"),
            url=read_address(document, "url", "homepage", "live"),
            languages=read_languages(document, "language", "languages"),
            actions=gather(
                (item, _read_tool(item))
                for name in ("tools", "forms")
                for item in document.items(name)
            ),
        ),
        raw=document.members,
        references=_read_references(document),
    )


def _names_webmcp(raw: JsonObject) -> bool:
    marks = (raw.get(name) for name in ("spec", "format", "protocol"))
    return any(isinstance(mark, str) and "webmcp" in mark.lower() for mark in marks)


def _lists_named(raw: JsonObject, name: str) -> bool:
    members = raw.get(name)
    if not isinstance(members, list) or not members:
        return False
    return all(
        isinstance(each, str)
        or (isinstance(each, dict) and isinstance(each.get("name"), str))
        for each in members
    )


def _dialect_of(raw: JsonObject) -> str:
    tools = raw.get("tools")
    if isinstance(tools, list) and tools:
        return "tool_names" if isinstance(tools[0], str) else "tools"
    if isinstance(raw.get("mcpServers"), dict):
        return "client_configuration"
    return "forms" if "forms" in raw else "pages"


def _read_tool(tool: Reader) -> Action:
    if isinstance(tool.value, str):
        name = tool.as_text()
        return Action(name=name, calls=(tool.call("webmcp", "page", operation=name),))
    return Action(
        name=tool.text("name"),
        description=tool.text("description"),
        parameters=read_parameters(
            tool, "inputSchema", "input_schema", "parameters", "params", "fields"
        ),
        sensitivity=_read_sensitivity(tool),
        calls=_read_calls(tool),
    )


def _read_sensitivity(tool: Reader) -> Sensitivity | None:
    hints = tool.child("annotations")
    return severest(
        read_only_sensitivity(tool, "readOnly", "readOnlyHint"),
        read_only_sensitivity(hints, "readOnlyHint"),
        "destructive" if hints.boolean("destructiveHint") else None,
    )


def _read_calls(tool: Reader) -> tuple[Call, ...]:
    url = tool.target("endpoint", "entrypoint", "url")
    if url is None:
        return (tool.call("webmcp", "page", operation=tool.text("name")),)
    method = tool.text("method").upper()
    return (tool.call("webmcp", "http" if method else "navigate", url, method),)


def _read_references(document: Reader) -> tuple[str, ...]:
    """Pages that register tools, and servers that offer them."""
    found = [
        document.resolve(page, names=("pages",))
        for page in document.texts("pages", limit=_MAX_REFERENCES)
    ]
    servers = document.children("mcpServers", limit=_MAX_REFERENCES)
    found += [server.target("url") for _, server in servers]
    found.append(_server_address(document))
    return tuple(dict.fromkeys(url for url in found if url))


def _server_address(document: Reader) -> str | None:
    if isinstance(document.child("mcp").value, str):
        return document.target("mcp")
    return document.child("mcp").target("endpoint", "url", "server")
