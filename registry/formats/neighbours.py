"""Neighbouring formats, each by a thin adapter: A2A, MCP and ARD.

A2A agent cards (before and since 0.3), MCP server cards, `server.json` and website
manifests, and ARD catalogues (AI Catalog 1.0). They are not compared with their
specifications, hence never called strict.
"""

from collections.abc import Iterator

from registry.formats.actions import gather, read_only_sensitivity, severest
from registry.formats.claims import read_address, read_languages
from registry.formats.document import Document
from registry.formats.parameters import read_parameters
from registry.formats.reader import Reader
from registry.sites.action import Action, Call, Sensitivity
from registry.sites.site import Site
from registry.strict_json import JsonObject, JsonValue

_MAX_INTERFACES = 10


def _lists_objects_with(raw: JsonObject, name: str, *keys: str) -> bool:
    members = raw.get(name)
    return (
        isinstance(members, list)
        and bool(members)
        and all(isinstance(each, dict) for each in members)
        and any(_has_any(each, keys) for each in members)
    )


def _has_any(value: JsonValue, keys: tuple[str, ...]) -> bool:
    return isinstance(value, dict) and any(
        isinstance(value.get(key), str) for key in keys
    )


# --- A2A ------------------------------------------------------------------------------


def is_a2a(raw: JsonObject) -> bool:
    return _lists_objects_with(raw, "skills", "id", "name") and isinstance(
        raw.get("name"), str
    )


def read_a2a(card: Reader) -> Document:
    interfaces = tuple(_a2a_interfaces(card))
    return card.ledger.conclude(
        format="a2a",
        dialect="agent_card",
        version=card.text("protocolVersion"),
        site=Site(
            name=card.text("name"),
            description=card.text("description"),
            url=read_address(card.child("provider"), "url"),
            actions=gather(
                (item, _read_skill(item, interfaces))
                for item in card.items("skills")
                if isinstance(item.value, dict)
            ),
        ),
        raw=card.members,
        is_judged=False,
    )


def _a2a_interfaces(card: Reader) -> Iterator[tuple[str, str]]:
    """Transport and URL of each place where the agent is reached."""
    declared = card.items(
        "supportedInterfaces", "additionalInterfaces", limit=_MAX_INTERFACES
    )
    seen: set[str] = set()
    for interface in declared:
        url = interface.target("url")
        if url and url not in seen:
            seen.add(url)
            binding = interface.text("protocolBinding", "protocol", "transport")
            yield binding.lower() or "a2a", url
    main = card.target("url")
    if main and main not in seen:
        yield card.text("preferredTransport").lower() or "a2a", main


def _read_skill(skill: Reader, interfaces: tuple[tuple[str, str], ...]) -> Action:
    name = skill.text("id", "name")
    title = skill.text("name")
    return Action(
        name=name,
        description=skill.text("description") or (title if title != name else ""),
        calls=tuple(
            skill.call("a2a", transport, url, operation=name)
            for transport, url in interfaces
        ),
    )


# --- MCP ------------------------------------------------------------------------------


def is_mcp(raw: JsonObject) -> bool:
    """`tools` alone would do for WebMCP too; MCP shows itself by more than that."""
    schema = raw.get("$schema")
    return (
        raw.get("protocol") == "mcp"
        or isinstance(raw.get("serverInfo"), dict)
        or (isinstance(schema, str) and "modelcontextprotocol" in schema)
        or _lists_objects_with(raw, "packages", "registryType", "registry_type")
        or _lists_objects_with(raw, "remotes", "url")
        or _lists_objects_with(raw, "tool_list", "name")
        or _lists_objects_with(raw, "methods", "name")
    )


def read_mcp(server: Reader) -> Document:
    info = server.child("serverInfo")
    endpoint = _mcp_endpoint(server) or ""
    return server.ledger.conclude(
        format="mcp",
        dialect=_mcp_dialect(server.members),
        version=server.text("protocolVersion"),
        site=Site(
            name=info.text("title", "name") or server.text("name", "server_name"),
            description=server.text("description") or info.text("description"),
            url=read_address(server, "homepage", "websiteUrl"),
            languages=read_languages(server, "languages", "language"),
            actions=gather(
                (item, _read_mcp_tool(item, endpoint))
                for name in ("tools", "methods", "tool_list")
                for item in server.items(name)
                if isinstance(item.value, dict)
            ),
        ),
        raw=server.members,
        is_judged=False,
    )


def _mcp_dialect(raw: JsonObject) -> str:
    if "serverInfo" in raw:
        return "server_card"
    if "packages" in raw or "remotes" in raw:
        return "server_json"
    return "gateway" if "tool_list" in raw else "website_manifest"


def _mcp_endpoint(server: Reader) -> str | None:
    transport = server.child("transport")
    if isinstance(transport.value, dict):
        declared = transport.target("endpoint", "url")
        if declared:
            return declared
    for remote in server.items("remotes", limit=1):
        return remote.target("url")
    return server.target("endpoint", "url")


def _read_mcp_tool(tool: Reader, endpoint: str) -> Action:
    name = tool.text("name")
    return Action(
        name=name,
        description=_mcp_description(tool),
        parameters=read_parameters(
            tool, "inputSchema", "input_schema", "params", "parameters", "schema"
        ),
        sensitivity=_mcp_sensitivity(tool),
        calls=_mcp_calls(tool, name, endpoint),
    )


def _mcp_description(tool: Reader) -> str:
    return tool.text("description") or tool.child("parsed_description").text("main")


def _mcp_sensitivity(tool: Reader) -> Sensitivity | None:
    hints = tool.child("annotations")
    return severest(
        read_only_sensitivity(hints, "readOnlyHint"),
        "destructive" if hints.boolean("destructiveHint") else None,
    )


def _mcp_calls(tool: Reader, name: str, endpoint: str) -> tuple[Call, ...]:
    url = tool.target("endpoint", "url")
    if url:
        return (tool.call("mcp", "http", url, tool.text("method").upper()),)
    return (tool.call("mcp", "mcp", endpoint, operation=name),) if endpoint else ()


# --- ARD ------------------------------------------------------------------------------


def is_ard(raw: JsonObject) -> bool:
    return isinstance(raw.get("specVersion"), str) and (
        _lists_objects_with(raw, "entries", "identifier", "displayName")
        or _lists_objects_with(raw, "agents", "cardUrl")
    )


def read_ard(catalogue: Reader) -> Document:
    host = catalogue.child("host")
    entries = [
        entry
        for entry in catalogue.items("entries", "agents")
        if isinstance(entry.value, dict)
    ]
    read = [(entry, _read_entry(entry)) for entry in entries]
    return catalogue.ledger.conclude(
        format="ard",
        dialect="entries" if "entries" in catalogue.members else "agents",
        version=catalogue.text("specVersion"),
        site=Site(
            name=host.text("displayName", "name"),
            description=host.text("description"),
            actions=gather(read),
        ),
        raw=catalogue.members,
        is_judged=False,
        references=tuple(
            dict.fromkeys(call.target for _, action in read for call in action.calls)
        ),
    )


def _read_entry(entry: Reader) -> Action:
    url = entry.target("url", "cardUrl")
    kind = entry.text("type", "mediaType") or "resource"
    return Action(
        name=entry.text("displayName", "name", "identifier", "id"),
        description=entry.text("description"),
        calls=(entry.call("ard", kind, url),) if url else (),
    )
