"""Documents about MCP servers: server cards, `server.json`, website manifests.

A thin adapter for `/.well-known/mcp.json`, `mcp/server-card.json` and `server.json`, in
the shapes in which they are found; compared with its specification is what declares its
published schema. Resources and prompts are no actions.
"""

from collections.abc import Iterator
from itertools import islice

from registry.formats.document import MAX_ACTIONS, Document
from registry.formats.reading.action_list import gather
from registry.formats.reading.claims import read_address, read_languages
from registry.formats.reading.conformance import Specification, load_specifications
from registry.formats.reading.gating import read_auth
from registry.formats.reading.methods import read_method
from registry.formats.reading.name_folding import fold_word
from registry.formats.reading.reader import Reader
from registry.formats.reading.structure import has_text, lists_objects_with
from registry.formats.reading.tools import (
    declared_tools,
    lists_tools,
    names_mcp_tools,
    note_if_empty,
    read_tool,
)
from registry.sites.action import Action, Call
from registry.sites.site import Site
from registry.strict_json import JsonObject, JsonValue

PUBLISHED = "https://static.modelcontextprotocol.io/schemas/"
SPECIFICATIONS = load_specifications(__package__, "mcp_schema.json")
"""Specifications of `server.json`, version 2025-12-11 of the MCP registry, and of the card
of SEP-1649, by the end of the `$schema` that a document declares."""

_MAX_SERVERS = 20
_MAX_REMOTES = 10
_TRANSPORTS = frozenset(
    {"streamablehttp", "httpstreamable", "http", "sse", "httpsse", "stdio"}
)
_ADDRESSES = (
    "endpoint",
    "mcp_endpoint",
    "mcpEndpoint",
    "endpoint_url",
    "mcp_server",
    "server_url",
    "serverUrl",
    "rpcEndpoint",
    "remote_endpoint",
    "url",
)
_TOOLS = ("tools", "methods", "tool_list")
_MARKED = ("$schema", "spec")
_VERSIONS = ("protocolVersion", "protocol_version", "mcpVersion", "mcp_version")
_SERVING = frozenset(
    {"transport", "tools", "command", "server_url", "endpoint_url", "protocol"}
)
_REGISTRY_TYPES = ("registryType", "registry_type", "registry_name")
_SITES = ("homepage", "websiteUrl", "website")


# --- detection ------------------------------------------------------------------------


def is_mcp(raw: JsonObject) -> bool:
    """Return whether the document is about MCP; `tools` alone could be WebMCP."""
    return (
        _is_named(raw)
        or isinstance(raw.get("serverInfo"), dict)
        or _is_server_json(raw)
        or lists_tools(raw.get("tool_list"))
        or (lists_tools(raw.get("methods")) and _has_address(raw))
        or _is_reached(raw)
        or _lists_servers(raw)
        or _is_nested(raw)
    )


def _is_named(raw: JsonObject) -> bool:
    protocol = raw.get("protocol")
    marks = (raw.get(name) for name in _MARKED)
    return (
        any(isinstance(mark, str) and "modelcontextprotocol" in mark for mark in marks)
        or (isinstance(protocol, str) and protocol.lower().startswith("mcp"))
        or has_text(raw, "mcpVersion", "mcp_version")
    )


def _is_server_json(raw: JsonObject) -> bool:
    return lists_objects_with(
        raw.get("packages"), *_REGISTRY_TYPES
    ) or lists_objects_with(raw.get("remotes"), "type", "transport_type")


def _is_reached(raw: JsonObject) -> bool:
    """Return whether the document names a transport of MCP and an address or tools."""
    transport = raw.get("transport")
    named = transport.get("type") if isinstance(transport, dict) else transport
    several = named if isinstance(named, list) else [named]
    if not any(
        isinstance(name, str) and fold_word(name) in _TRANSPORTS for name in several
    ):
        return False
    return _has_address(raw) or isinstance(transport, dict) or "tools" in raw


def _has_address(raw: JsonObject) -> bool:
    return has_text(raw, *_ADDRESSES)


def _lists_servers(raw: JsonObject) -> bool:
    servers, configured = raw.get("servers"), raw.get("mcpServers")
    if isinstance(configured, dict):
        return any(
            isinstance(server, dict) and lists_tools(server.get("tools"))
            for server in configured.values()
        )
    return lists_objects_with(configured, "url") or (
        isinstance(servers, list) and any(map(_is_server, servers))
    )


def _is_server(value: JsonValue) -> bool:
    """Distinguish MCP servers from those of OpenAPI, which have name and URL alone."""
    return isinstance(value, dict) and not _SERVING.isdisjoint(value)


def _is_nested(raw: JsonObject) -> bool:
    server, mcp = raw.get("server"), raw.get("mcp")
    return (isinstance(server, dict) and _is_server_json(server)) or (
        names_mcp_tools(mcp) and not lists_tools(raw.get("tools"))
    )


def _dialect_of(raw: JsonObject) -> str:
    if "serverInfo" in raw:
        return "server_card"
    if "packages" in raw or "remotes" in raw:
        return "server_json"
    if "servers" in raw or "mcpServers" in raw:
        return "server_list"
    return "gateway" if "tool_list" in raw else "website_manifest"


# --- normalisation --------------------------------------------------------------------


def read_mcp(document: Reader) -> Document:
    body = _body_of(document)
    specification = _specification_of(document.members)
    if specification:
        specification.compare(document)
    servers = [body, *_values_in(body.child("servers", "mcpServers"), _MAX_SERVERS)]
    endpoints = [_endpoint_of(server) for server in servers]
    if body is not document:
        endpoints[0] = endpoints[0] or document.target("path", *_ADDRESSES)
    actions = gather(islice(_read_all(servers, endpoints), 2 * MAX_ACTIONS))
    if not specification:  # neither has to list any: the server tells them
        note_if_empty(document, actions)
    info = body.child("serverInfo", "server")
    return document.log.conclude(
        format="mcp",
        dialect=_dialect_of(body.members),
        version=body.text(*_VERSIONS),
        site=Site(
            name=info.text("title", "name")
            or body.text("title", "displayName", "name", "server_name"),
            description=body.text("description") or info.text("description"),
            url=read_address(body, *_SITES),
            languages=read_languages(body, "languages", "language"),
            actions=actions,
        ),
        raw=document.members,
        references=tuple(dict.fromkeys(url for url in endpoints if url)),
        is_judged=specification is not None,
    )


def _read_all(
    servers: list[Reader], endpoints: list[str | None]
) -> Iterator[tuple[Reader, Action]]:
    for server, endpoint in zip(servers, endpoints, strict=True):
        yield from _read_actions(server, endpoint or "")


def _specification_of(raw: JsonObject) -> Specification | None:
    schema = raw.get("$schema")
    if not isinstance(schema, str) or not schema.startswith(PUBLISHED):
        return None
    endings = (ending for ending in SPECIFICATIONS if schema.endswith(ending))
    return SPECIFICATIONS.get(next(endings, ""))


def _body_of(document: Reader) -> Reader:
    """Return the body, which the registry puts under `server` and some sites under `mcp`."""
    if _is_nested(document.members):
        return document.child("server", "mcp")
    return document


def _values_in(several: Reader, limit: int) -> list[Reader]:
    """Return the values of a map, or the elements of a list."""
    if isinstance(several.value, dict):
        return [value for _, value in several.entries(limit)]
    return several.elements(limit)


def _endpoint_of(server: Reader) -> str | None:
    """Return the first address of transport, remotes, endpoints or the server itself."""
    holders = [
        server.child("transport"),
        *server.items("remotes", limit=_MAX_REMOTES),
        server.child("remote"),
        server.child("endpoints"),
        *_values_in(server.child("transports"), _MAX_REMOTES),
    ]
    for holder in holders:
        url = holder.target("endpoint", "url", "mcp", "http", "sse")
        if url:
            return url
    return server.target(*_ADDRESSES)


def _read_actions(server: Reader, endpoint: str) -> Iterator[tuple[Reader, Action]]:
    auth = _read_server_auth(server)
    for declared in _tool_lists(server):
        for name, tool in declared_tools(declared):
            if name != "dynamic":  # listed on request only
                calls = _read_calls(name, tool, endpoint)
                yield tool, read_tool(name, tool, calls, auth_required=auth)


def _tool_lists(server: Reader) -> Iterator[Reader]:
    for name in _TOOLS:
        declared = server.child(name)
        if declared.value != "dynamic":
            yield declared
    capability = server.child("capabilities").child("tools")
    if lists_tools(capability.value):
        yield capability


def _read_server_auth(server: Reader) -> bool | None:
    declared = read_auth(server.child("authentication", "auth", "authorization"))
    if declared is not None:
        return declared
    for remote in server.items("remotes", limit=1):
        required = [header.boolean("isRequired") for header in remote.items("headers")]
        return True if True in required else read_auth(remote.child("authentication"))
    return None


def _read_calls(name: str, tool: Reader, endpoint: str) -> tuple[Call, ...]:
    execution = tool.child("execution")
    holder = execution if isinstance(execution.value, dict) else tool
    url = holder.target("endpoint", "url")
    if url:
        return (tool.call("mcp", "http", url, read_method(holder, "method")),)
    return (tool.call("mcp", "mcp", endpoint, operation=name),) if endpoint else ()
