"""WebMCP manifests: `/.well-known/webmcp`, `webmcp.json`.

No specification defines them, yet they exist. All their shapes are read, and each leaves a
deviation: only the page itself, run in a browser, shows which tools there are.
"""

import re
from collections.abc import Iterator

from msgspec.structs import replace

from registry.formats.document import MAX_ACTIONS, Document
from registry.formats.reading.action_list import gather
from registry.formats.reading.claims import read_address, read_languages
from registry.formats.reading.gating import read_auth
from registry.formats.reading.methods import read_method
from registry.formats.reading.reader import Reader
from registry.formats.reading.tools import (
    SCHEMAS,
    declared_tools,
    lists_tools,
    note_if_empty,
    read_tool,
)
from registry.sites.action import Action, Call
from registry.sites.site import Site
from registry.strict_json import JsonObject, JsonValue

_MAX_PAGES = 50
_MAX_SERVERS = 50
_MARK = re.compile(r"web-?mcp|WebMCP|\.modelContext\b")
_MARKED = ("spec", "format", "protocol", "$schema", "schema", "surface", "runtimeApi")
_CONTENTS = ("tools", "forms", "pages", "mcp", "mcpServers", "endpoint")
_ADDRESSES = (
    "url",
    "homepage",
    "live",
    "websiteUrl",
    "website",
    "provider_url",
    "origin",
    "baseUrl",
    "base_url",
)
_PAGE_TOOLS = ("tools", "intents", "actions")
_SERVERS = ("mcp", "server")
_SERVER_ADDRESSES = ("mcp_endpoint", "mcpEndpoint", "rpcEndpoint", "endpoint")
_FIELDS = ("fields", "requiredFields", *SCHEMAS)
_ENDPOINTS = ("endpoint", "entrypoint", "target_url", "url_template", "urlTemplate")
_PAGES = ("url", "uri", "page", "path", "availableOn")
_LOCATING = frozenset({"execution", *_ENDPOINTS, *_PAGES})
# Members that a callable tool has and a hammer lacks.
_TOOL_MARKS = frozenset({"description", "annotations", "readOnly", "mode", "function"})
_TOOL_MARKS |= frozenset(SCHEMAS)
# Several words in one, as tools are named.
_COMPOUND = re.compile(r"[a-z][a-z0-9]*+(?:[_.:-][A-Za-z0-9]|[A-Z])")


# --- detection ------------------------------------------------------------------------


def names_webmcp(raw: JsonObject) -> bool:
    """Return whether the document declares itself WebMCP and has some of its content."""
    marks = (raw.get(name) for name in _MARKED)
    if not any(isinstance(mark, str) and _MARK.search(mark) for mark in marks):
        return False
    return _has_contents(raw) or _has_contents(raw.get("site"))


def is_webmcp(raw: JsonObject) -> bool:
    nested = raw.get("webmcp")
    body = nested if isinstance(nested, dict) else raw
    return (
        (_lists_tools_of_sites(body.get("tools")) and not _is_foreign(raw))
        or _lists_objects(body.get("forms"), "url", "action", "method", "endpoint")
        or _lists_objects(body.get("pages"), "tools", "intents")
        or _offers_servers(body.get("mcpServers"))
    )


def _has_contents(value: JsonValue) -> bool:
    return isinstance(value, dict) and any(name in value for name in _CONTENTS)


def _lists_tools_of_sites(value: JsonValue) -> bool:
    """Return whether these are tools: most bare names must look like names of tools."""
    if not isinstance(value, list):
        return lists_tools(value)
    if any(isinstance(item, dict) and _TOOL_MARKS & item.keys() for item in value):
        return lists_tools(value)
    names = [item.get("name") if isinstance(item, dict) else item for item in value]
    # `React` and `Docker` are other tools.
    compound = sum(
        isinstance(name, str) and bool(_COMPOUND.match(name)) for name in names
    )
    return 0 < len(names) <= 2 * compound


def _lists_objects(value: JsonValue, *keys: str) -> bool:
    return isinstance(value, list) and any(
        isinstance(item, dict) and any(key in item for key in keys) for item in value
    )


def _offers_servers(value: JsonValue) -> bool:
    """Return whether servers have an address; a command runs on the agent's machine."""
    return isinstance(value, dict) and any(
        isinstance(server, dict) and isinstance(server.get("url"), str)
        for server in value.values()
    )


def _is_foreign(raw: JsonObject) -> bool:
    """Return whether it is an MCP bundle, to be installed, or a request to a model."""
    server = raw.get("server")
    return "messages" in raw or (
        isinstance(server, dict) and bool({"mcp_config", "entry_point"} & server.keys())
    )


def _dialect_of(raw: JsonObject) -> str:
    tools = raw.get("tools")
    if isinstance(tools, list) and tools:
        return "tool_names" if isinstance(tools[0], str) else "tools"
    if isinstance(raw.get("mcpServers"), dict):
        return "client_configuration"
    return next((name for name in ("tools", "forms") if name in raw), "pages")


# --- normalisation --------------------------------------------------------------------


def read_webmcp(document: Reader) -> Document:
    document.deviate("manifest_unknown")
    body = _body_of(document)
    base = read_address(body, "baseUrl", "base_url")
    actions = gather(_read_actions(body, base))
    note_if_empty(document, actions)
    return document.log.conclude(
        format="webmcp",
        dialect=_dialect_of(body.members),
        version=document.text("version", "webmcp_version", "spec", "format"),
        site=Site(
            name=_read_name(body) or _read_name(document),
            description=body.text("description") or document.text("description"),
            url=read_address(body, *_ADDRESSES) or read_address(document, *_ADDRESSES),
            languages=read_languages(body, "language", "languages", "lang"),
            actions=actions,
        ),
        raw=document.members,
        references=_read_references(body, base),
    )


def _body_of(document: Reader) -> Reader:
    """Return the body, which some documents put under `webmcp` or `site`."""
    for name in ("webmcp", "site"):
        inner = document.members.get(name)
        if _has_contents(inner) and not _has_contents(document.value):
            return document.child(name)
    return document


def _read_name(body: Reader) -> str:
    """Return the name of the site, its application or its publisher."""
    publisher = body.child("application", "publisher", "provider")
    if isinstance(publisher.value, str):
        return body.text("name", "title") or publisher.as_text()
    return body.text("name", "title") or publisher.text("name", "organization")


def _read_actions(body: Reader, base: str) -> Iterator[tuple[Reader, Action]]:
    listed: set[str] = set()
    auth = read_auth(body.child("authentication", "auth"))
    for name, tool in declared_tools(body.child("tools")):
        listed.add(name)
        calls = _read_calls(name, tool, base)
        yield tool, read_tool(name, tool, calls, auth_required=auth)
    for name, form in declared_tools(body.child("forms")):
        listed.add(name)
        calls = _read_form_calls(name, form, base)
        yield form, read_tool(name, form, calls, schemas=_FIELDS)
    for name, page_tool in _read_page_tools(body, base).items():
        if name not in listed:
            yield page_tool


def _read_page_tools(body: Reader, base: str) -> dict[str, tuple[Reader, Action]]:
    """Return tools by name; a tool of several pages has a call on each of them."""
    tools: dict[str, tuple[Reader, Action]] = {}
    for page in body.items("pages", limit=_MAX_PAGES):
        if not isinstance(page.value, dict):
            continue
        url = page.target("url", "path", base=base) or ""
        for name, tool in declared_tools(page.child(*_PAGE_TOOLS)):
            call = tool.call("webmcp", "page", url, operation=name)
            if name in tools:
                first, action = tools[name]
                tools[name] = (first, replace(action, calls=(*action.calls, call)))
            elif len(tools) < MAX_ACTIONS:
                tools[name] = (tool, read_tool(name, tool, (call,)))
    return tools


def _read_calls(name: str, tool: Reader, base: str) -> tuple[Call, ...]:
    """Read the calls: an address with a method is called, another is the tool's page."""
    if _LOCATING.isdisjoint(tool.members):
        return (tool.call("webmcp", "page", operation=name),)
    execution = tool.child("execution")
    holder = execution if isinstance(execution.value, dict) else tool
    method = read_method(holder, "method", "httpMethod", "http_method")
    endpoint = holder.target(*_ENDPOINTS, base=base)
    if endpoint is None and method:
        endpoint = holder.target("url", "uri", "path", base=base)
    if endpoint:
        return (tool.call("webmcp", "http", endpoint, method),)
    page = _page_of(tool, base) or ""
    if holder.names_private(*_ENDPOINTS, *_PAGES, base=base):
        return ()
    return (tool.call("webmcp", "page", page, operation=name),)


def _page_of(tool: Reader, base: str) -> str | None:
    for name in _PAGES:
        value = tool.members.get(name)
        if isinstance(value, str) and value.startswith(("/", "http")):
            return tool.target(name, base=base)
    return None


def _read_form_calls(name: str, form: Reader, base: str) -> tuple[Call, ...]:
    url = form.target("url", "action", "endpoint", base=base)
    if url is None and form.names_private("url", "action", "endpoint", base=base):
        return ()
    if url is None:
        return (form.call("webmcp", "page", operation=name),)
    return (form.call("webmcp", "form", url, read_method(form, "method"), name),)


def _read_references(body: Reader, base: str) -> tuple[str, ...]:
    """List pages that register tools, and servers that offer them."""
    urls: list[str | None] = []
    for page in body.items("pages", limit=_MAX_PAGES):
        if isinstance(page.value, str):
            urls.append(body.resolve(page.as_text(), names=("pages",), base=base))
        else:
            urls.append(page.target("url", "path", base=base))
    servers = body.children("mcpServers", limit=_MAX_SERVERS)
    urls += [server.target("url", base=base) for _, server in servers]
    urls += _server_addresses(body, base)
    return tuple(dict.fromkeys(url for url in urls if url))


def _server_addresses(body: Reader, base: str) -> Iterator[str | None]:
    for name in _SERVERS:
        if isinstance(body.members.get(name), str):
            yield body.target(name, base=base)
    yield body.child("mcp").target("endpoint", "url", "server", base=base)
    yield body.target(*_SERVER_ADDRESSES, base=base)
    endpoints = body.child("endpoints")
    nested = isinstance(endpoints.child("mcp").value, dict)
    holder = endpoints.child("mcp") if nested else endpoints
    yield holder.target("mcp", "http", "sse", base=base)
    yield body.child("remote").target("url", base=base)
