"""Documents of other kinds at the addresses of discovery documents.

The refusal names the kind and what its owner can do. Used only for documents that no
format has claimed.
"""

from collections.abc import Callable
from dataclasses import dataclass

from registry.errors import Refused
from registry.formats.reading.structure import has_text
from registry.formats.refusals import FORMAT_LOOKALIKE, FORMAT_UNKNOWN
from registry.strict_json import JsonObject, JsonValue

_PUBLISH = "List what agents can do as AWAS actions at /.well-known/ai-actions.json."
_SERVER_CARD = "Publish a server card with the server's URL at /.well-known/mcp.json."
_WITHDRAW = "Answer 404 here, or serve a discovery document."
_FAILURE = frozenset(
    {"error", "errors", "message", "detail", "status", "statusCode", "code", "success"}
    | {"path", "timestamp", "title", "ok", "error_description"}
)


@dataclass(frozen=True, slots=True)
class _Lookalike:
    """A kind of document. pointer: the fault in one that resembles our formats."""

    matches: Callable[[JsonObject], bool]
    detail: str
    fix: str
    pointer: str | None = None

    def refusal(self) -> Refused:
        kind = FORMAT_UNKNOWN if self.pointer is None else FORMAT_LOOKALIKE
        return Refused(kind, self.detail, pointer=self.pointer, fix=self.fix)


def explain(raw: JsonObject) -> Refused:
    """Return the reason of rejection: format_unknown or format_lookalike."""
    kinds = (kind for kind in (*_FOREIGN, *_NEARLY_OURS) if kind.matches(raw))
    return next((kind.refusal() for kind in kinds), None) or Refused(
        FORMAT_UNKNOWN,
        "no member tells its format: neither wab_version, awp_version, abp, actions, "
        "tools, skills nor entries",
    )


# --- other kinds ----------------------------------------------------------------------


def _is_openapi(raw: JsonObject) -> bool:
    names = ("openapi", "swagger", "asyncapi")
    return any(isinstance(raw.get(name), str) for name in names) and any(
        isinstance(raw.get(name), dict) for name in ("paths", "info", "channels")
    )


def _is_plugin(raw: JsonObject) -> bool:
    return "name_for_model" in raw or "description_for_model" in raw


def _is_package(raw: JsonObject) -> bool:
    names = ("dependencies", "devDependencies", "scripts")
    return any(isinstance(raw.get(name), dict) for name in names)


def _is_web_app(raw: JsonObject) -> bool:
    looks = ("display", "theme_color", "short_name")
    return "start_url" in raw or (
        isinstance(raw.get("icons"), list) and any(name in raw for name in looks)
    )


def _is_bundle(raw: JsonObject) -> bool:
    server = raw.get("server")
    return isinstance(server, dict) and (
        "mcp_config" in server or "entry_point" in server
    )


def _is_message(raw: JsonObject) -> bool:
    return "jsonrpc" in raw or (raw.get("type") == "response" and "result" in raw)


def _is_failure(raw: JsonObject) -> bool:
    return raw.keys() <= _FAILURE or any(
        isinstance(raw.get(name), int) and raw[name] in range(400, 600)
        for name in ("status", "statusCode", "code")
    )


def _is_schema(raw: JsonObject) -> bool:
    return isinstance(raw.get("properties"), dict) and (
        raw.get("type") == "object" or "$schema" in raw
    )


def _is_linked_data(raw: JsonObject) -> bool:
    return "@context" in raw or "@graph" in raw


def _is_chain_registration(raw: JsonObject) -> bool:
    kind = raw.get("type")
    return "supportedTrust" in raw or (isinstance(kind, str) and "8004" in kind)


def _describes_actions(raw: JsonObject) -> bool:
    return isinstance(raw.get("actions"), dict | str)


_FOREIGN: tuple[_Lookalike, ...] = (
    _Lookalike(lambda raw: not raw, "the object is empty", _WITHDRAW),
    _Lookalike(_is_openapi, "it is a description of an API (OpenAPI)", _PUBLISH),
    _Lookalike(_is_plugin, "it is the manifest of an OpenAI plugin", _PUBLISH),
    _Lookalike(
        _is_bundle,
        "it is the manifest of an MCP bundle, which is installed and not called",
        _SERVER_CARD,
    ),
    _Lookalike(_is_package, "it is the description of a software package", _WITHDRAW),
    _Lookalike(_is_web_app, "it is the manifest of a web app", _WITHDRAW),
    _Lookalike(
        _is_message,
        "it is a message of a protocol, not a document",
        "Serve the document at its own address, for a plain GET.",
    ),
    _Lookalike(
        _is_failure,
        "it is an error message",
        "Answer with the status code of the error, e.g. 404.",
    ),
    _Lookalike(
        _is_schema,
        "it is a JSON Schema, not a document that follows one",
        "Serve the document; the schema has an address of its own.",
    ),
    _Lookalike(_is_linked_data, "it is linked data for search engines", _PUBLISH),
    _Lookalike(_is_chain_registration, "it is an agent's entry on a chain", _PUBLISH),
    _Lookalike(
        _describes_actions,
        "its actions are described in prose, and none can be called",
        "List the actions, each with id, name, description, path and method.",
    ),
)


# --- nearly ours ----------------------------------------------------------------------


def _is_awp_without_version(raw: JsonObject) -> bool:
    return isinstance(raw.get("domain"), str) and isinstance(raw.get("intent"), str)


def _is_abp_without_version(raw: JsonObject) -> bool:
    return isinstance(raw.get("app"), dict) and isinstance(
        raw.get("capabilities"), list
    )


def _is_wab_without_version(raw: JsonObject) -> bool:
    capabilities = raw.get("capabilities")
    return isinstance(capabilities, dict) and "commands" in capabilities


def _configures_client(raw: JsonObject) -> bool:
    servers = raw.get("servers")
    return "mcpServers" in raw or (
        isinstance(servers, dict) and any(map(_is_client_entry, servers.values()))
    )


def _is_client_entry(value: JsonValue) -> bool:
    return isinstance(value, dict) and ("command" in value or "url" in value)


def _names_actions_otherwise(raw: JsonObject) -> bool:
    return any(
        name.endswith(("_actions", "-actions", "Actions"))
        and isinstance(members, dict | list)
        for name, members in raw.items()
    )


def _lists_calls_otherwise(raw: JsonObject) -> bool:
    return any(
        isinstance(members, list) and any(map(_can_be_called, members))
        for members in raw.values()
    )


def _can_be_called(value: JsonValue) -> bool:
    """Return whether it has an address and a method."""
    return (
        isinstance(value, dict)
        and has_text(value, "endpoint", "path", "url", "href")
        and has_text(value, "method", "httpMethod", "http_method")
    )


def _mentions_webmcp(raw: JsonObject) -> bool:
    texts = (value for value in raw.values() if isinstance(value, str))
    return any("webmcp" in text.lower() for text in (*raw, *texts))


def _is_empty(name: str) -> Callable[[JsonObject], bool]:
    return lambda raw: raw.get(name) in ([], {})


def _begins_with(name: str, kind: type) -> Callable[[JsonObject], bool]:
    """Make a test for a member that is a list whose first entry is of the kind."""

    def matches(raw: JsonObject) -> bool:
        members = raw.get(name)
        return isinstance(members, list) and isinstance(next(iter(members), None), kind)

    return matches


_NEARLY_OURS: tuple[_Lookalike, ...] = (
    _Lookalike(
        _is_awp_without_version,
        "it is built like AWP but names no version",
        'Add awp_version, e.g. "0.2".',
        "/awp_version",
    ),
    _Lookalike(
        _is_abp_without_version,
        "it is built like ABP but names no version",
        'Add abp, e.g. "0.1".',
        "/abp",
    ),
    _Lookalike(
        _is_wab_without_version,
        "it is built like WAB but names no version",
        'Add wab_version, e.g. "1.0".',
        "/wab_version",
    ),
    _Lookalike(
        _configures_client,
        "it configures an MCP client, and describes no server at an address",
        _SERVER_CARD,
        "/mcpServers",
    ),
    *(
        _Lookalike(
            _is_empty(name),
            f"{name} is empty",
            "List what agents can do here, or answer 404.",
            f"/{name}",
        )
        for name in ("actions", "tools", "forms", "skills", "entries")
    ),
    _Lookalike(
        _begins_with("actions", dict),
        "the actions have no id or no path, so nothing can be called",
        "Give each action id, name, description, path and method.",
        "/actions/0",
    ),
    _Lookalike(
        _begins_with("tools", dict),
        "the tools have no name or no description",
        "Give each tool name, description and inputSchema.",
        "/tools/0",
    ),
    _Lookalike(
        _begins_with("tools", str),
        "the tools are bare words; no tool is described",
        "List objects with name, description and inputSchema.",
        "/tools/0",
    ),
    _Lookalike(
        _begins_with("actions", object),
        "the actions are not objects",
        "List objects with id, name, description, path and method.",
        "/actions/0",
    ),
    _Lookalike(
        _begins_with("tools", object),
        "the tools are not objects",
        "List objects with name, description and inputSchema.",
        "/tools/0",
    ),
    _Lookalike(
        _names_actions_otherwise,
        "it has actions under a name and in a shape of its own",
        "Name the member actions; list objects with id, name, path and method.",
        "/actions",
    ),
    _Lookalike(
        _lists_calls_otherwise,
        "what can be called stands under a name of its own, such as capabilities",
        "Name that member actions; give each entry id, name, description, path and "
        "method.",
    ),
    _Lookalike(
        _mentions_webmcp,
        "it mentions WebMCP but names no tool, form or page",
        "List the tools that the pages register, with name and description.",
        "/tools",
    ),
    _Lookalike(
        _begins_with("skills", object),
        "it has skills, but nothing else of an A2A agent card",
        "Add name, url, version, capabilities and defaultInputModes.",
        "/skills",
    ),
)
