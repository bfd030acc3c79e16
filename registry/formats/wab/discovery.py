"""WAB, the Web Agent Bridge: discovery documents of the specification and its dialects.

Specification: WAB 1.0 sections 4 and 7.3, Appendix A. The reference repository itself
emits nine shapes under the same two addresses; each is told by its own members, never by
the version it claims. Prices of a place (`tier`) and scores a site gives itself stay in
the raw document: nothing reads them.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from urllib.parse import quote

from registry.errors import Refused
from registry.formats import refusals
from registry.formats.document import MAX_ACTIONS, Document
from registry.formats.reading.actions import gather, read_only_sensitivity, severest
from registry.formats.reading.claims import (
    read_address,
    read_host,
    read_languages,
    read_location,
    read_percent,
    read_permissions,
)
from registry.formats.reading.conformance import Specification
from registry.formats.reading.parameters import read_parameters
from registry.formats.reading.reader import Reader, clean_text
from registry.formats.reading.targets import resolve_target
from registry.formats.wab.extension import (
    extend_action,
    extend_parameters,
    extend_site,
    undeclared_in,
)
from registry.formats.wab.schema import APPENDIX_A, STANDARD_PERMISSIONS
from registry.sites.action import Action, Call
from registry.sites.site import Site
from registry.strict_json import JsonObject

_SPECIFICATION = Specification(APPENDIX_A)
_NAME_HOLE = "{actionName}"
_DEFAULT_INTERFACE = "window.AICommands"  # section 4.3.7


def is_wab(raw: JsonObject) -> bool:
    return (
        "wab_version" in raw
        or isinstance(raw.get("wab"), str)
        or _is_generated(raw)
        or _is_envelope(raw)
    )


def _is_generated(raw: JsonObject) -> bool:
    """By one of the project's packages, whose documents bear no other mark."""
    generator = raw.get("generator")
    return isinstance(generator, str) and generator.startswith(("@wab/", "wab/"))


def read_wab(top: Reader) -> Document:
    """Raises: Refused (not_discovery, format_unknown)."""
    body = top.child("payload") if _is_envelope(top.members) else top
    dialect = _dialect_of(body, enveloped=body is not top)
    _note_misplaced(body)
    _SPECIFICATION.compare(body)
    _check_transport(body)
    _check_addresses(body)
    return top.ledger.conclude(
        format="wab",
        dialect=dialect,
        version=body.text("wab_version", "wab", "version"),
        site=extend_site(_read_site(body), body),
        raw=top.members,
    )


def _is_envelope(raw: JsonObject) -> bool:
    payload = raw.get("payload")
    if "signature" not in raw or not isinstance(payload, dict):
        return False
    return any(
        str(payload.get(name, "")).startswith("wab") for name in ("version", "type")
    )


# --- dialects -------------------------------------------------------------------------


def _has(name: str, kind: type) -> Callable[[Reader], bool]:
    return lambda body: isinstance(body.child(name).value, kind)


def _all(*conditions: Callable[[Reader], bool]) -> Callable[[Reader], bool]:
    return lambda body: all(holds(body) for holds in conditions)


def _commands_are_names(body: Reader) -> bool:
    commands = body.child("capabilities").child("commands").value
    return isinstance(commands, list) and any(isinstance(x, str) for x in commands)


def _declared_version(body: Reader) -> str:
    return str(body.members.get("wab_version", ""))


def _lists_no_commands(body: Reader) -> bool:
    return "commands" not in body.child("capabilities").members


_TELLTALES: tuple[tuple[str, Callable[[Reader], bool]], ...] = (
    ("mu_plugin", lambda body: _declared_version(body).startswith("mu-")),
    ("edge_3_2", _has("commands", dict)),
    (
        "wordpress",
        _all(_has("site", dict), _has("lifecycle", list), _lists_no_commands),
    ),
    ("site_1_2", _has("site", dict)),
    ("server_1_3", _all(_has("provider", dict), _commands_are_names)),
    ("spec_1_0", _has("provider", dict)),
    ("generated_1_0", _all(_has("site", str), _has("generator", str))),
    ("php_bridge", _all(_has("wab", str), _has("actions", list))),
    ("setup_script", _all(_has("wab", str), _has("capabilities", list))),
    ("manifest_1_3", _has("actions", list)),
    ("spec_1_0", lambda body: _has("commands", list)(body.child("capabilities"))),
)


def _dialect_of(body: Reader, *, enveloped: bool) -> str:
    if body.child("platform").is_present and body.child("compliance").is_present:
        raise Refused(refusals.NOT_DISCOVERY, "a WAB trust policy; it lists no actions")
    if enveloped and not _has("capabilities", list)(body):
        raise Refused(
            refusals.NOT_DISCOVERY,
            "a WAB trust envelope that lists no capabilities",
            pointer="/payload/capabilities",
        )
    if enveloped:
        return "trust_envelope"
    for dialect, is_told in _TELLTALES:
        if is_told(body):
            return dialect
    raise Refused(
        refusals.FORMAT_UNKNOWN,
        "it names a WAB version but holds no provider, site, commands or actions",
    )


# --- what the dialects put elsewhere --------------------------------------------------

_OTHER_PLACES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "wab_version",
        ("wab", "version"),
        'Rename {found} to wab_version, and write "1.0".',
    ),
    ("provider", ("site",), "Rename site to provider; give it name, category and url."),
    (
        "provider",
        ("name", "site_url"),
        "Put name, category and url into an object called provider.",
    ),
    (
        "capabilities",
        ("actions", "commands"),
        "Move {found} to capabilities.commands, as a list of objects.",
    ),
    (
        "transport",
        ("endpoint", "endpoints", "agent_access"),
        'Say how you are called, e.g. {{"http": {{"enabled": true, "base_url": "/api/wab"}}}}.',
    ),
)


def _note_misplaced(body: Reader) -> None:
    """Said before the comparison, whose "is missing" would help less."""
    for name, others, fix in _OTHER_PLACES:
        found = next((other for other in others if other in body.members), None)
        if found is not None and name not in body.members:
            detail = f"{name} is missing; {found} stands in its place"
            body.child(name).note("required", detail, fix.format(found=found))


# --- what Appendix A lets through -----------------------------------------------------


def _check_transport(body: Reader) -> None:
    """Section 4.3.7 wants one enabled transport; the schema's `anyOf` asks for none."""
    transport = body.child("transport")
    if isinstance(transport.value, dict) and not any(
        member.get("enabled") is True
        for member in transport.value.values()
        if isinstance(member, dict)
    ):
        transport.note(
            "transport",
            "no transport is enabled",
            'Enable one, e.g. {"http": {"enabled": true, "base_url": "/api/wab"}}.',
        )


def _check_addresses(body: Reader) -> None:
    """`format: uri` checks nothing by itself, and passes `javascript:`."""
    for holder, name in (("provider", "url"), ("agent_access", "api_fallback")):
        url = body.child(holder).child(name)
        if isinstance(url.value, str) and resolve_target(url.value, base="") is None:
            url.note("url", "not an https URL", "Give an absolute https URL.")


# --- normalisation --------------------------------------------------------------------


def _read_site(body: Reader) -> Site:
    identity = body.child("provider", "site")
    if not isinstance(identity.value, dict):
        identity = body
    fairness = body.child("fairness_metrics", "fairness")
    return Site(
        name=identity.text("name", "site"),
        description=identity.text("description"),
        category=identity.text("category"),
        url=_read_url(body, identity),
        location=read_location(identity.child("location")),
        languages=read_languages(identity, "language", "languages"),
        permissions=_read_permissions(body),
        commission_percent=read_percent(fairness, "commission_rate"),
        is_independent=fairness.boolean("is_independent"),
        actions=_read_actions(body),
    )


def _read_url(body: Reader, identity: Reader) -> str:
    return (
        read_address(identity, "url", "baseUrl")
        or read_host(identity, "domain", "host")
        or read_address(body, "site_url")
    )


def _read_permissions(body: Reader) -> tuple[tuple[str, bool], ...]:
    declared = body.child("permissions", "agent_permissions")
    if not declared.is_present:
        declared = body.child("capabilities").child("permissions")
    named = tuple((verb, True) for verb in _verbs(body) if verb in STANDARD_PERMISSIONS)
    return read_permissions(declared) or named


def _sources(body: Reader) -> tuple[Reader, ...]:
    """Where a WAB document may keep its commands, the specification's place first."""
    capabilities = body.child("capabilities")
    listed = (capabilities,) if isinstance(capabilities.value, list) else ()
    return (
        capabilities.child("commands"),
        body.child("commands"),
        body.child("actions"),
        *listed,
    )


def _declared_in(source: Reader) -> list[tuple[str, Reader]]:
    if isinstance(source.value, dict):
        return source.entries()
    return [("", item) for item in source.elements()]


def _read_actions(body: Reader) -> tuple[Action, ...]:
    """One action a name; a document may say the same in two places."""
    transports = _read_transports(body)
    found: dict[str, Action] = {}
    for source in _sources(body):
        declared = [
            (item, _read_command(name, item, body, transports))
            for name, item in _declared_in(source)
            if isinstance(item.value, dict) and not _is_bare_permission(item)
        ]
        for action in gather(declared):
            found.setdefault(action.name, action)
    if not found:
        return _read_bare_names(body, transports)
    return tuple(found.values())[:MAX_ACTIONS]


def _is_bare_permission(command: Reader) -> bool:
    """Some bridges list the permissions again as commands, without a word of theirs."""
    named = command.members.get("name")
    return named in STANDARD_PERMISSIONS and "description" not in command.members


def _read_command(
    key: str, command: Reader, body: Reader, transports: tuple[Call, ...]
) -> Action:
    name = clean_text(key) or command.text("id", "name")
    title = command.text("name")
    method = command.text("method").upper()
    parameters = read_parameters(command, "params", "parameters", "inputs")
    action = Action(
        name=name,
        description=command.text("description") or (title if title != name else ""),
        parameters=extend_parameters(parameters, command),
        auth_required=command.boolean("requiresAuth", "auth_required", "auth"),
        sensitivity=severest(
            read_only_sensitivity(command, "readonly", "readOnly"),
            "destructive" if method == "DELETE" else None,
        ),
        calls=_read_calls(command, body, method, transports),
    )
    return extend_action(action, command)


def _read_calls(
    command: Reader, body: Reader, method: str, transports: tuple[Call, ...]
) -> tuple[Call, ...]:
    """The command's own address if it has one, else the site's transports."""
    url = command.target("endpoint", "url", "urlTemplate")
    path = command.text("path")
    if url is None and path:
        base = body.text("endpoint").rstrip("/")
        url = command.resolve(base + path, names=("path",))
    if url is not None:
        return (command.call("wab", "http", url, method),)
    trigger = command.text("trigger") or method
    name = quote(command.text("name"), safe="")
    return tuple(
        replace(each, method=trigger, target=each.target.replace(_NAME_HOLE, name))
        for each in transports
    )


def _verbs(body: Reader) -> list[str]:
    return [
        item.as_text()
        for source in _sources(body)
        if isinstance(source.value, list)
        for item in source.elements()
        if isinstance(item.value, str)
    ]


def _read_bare_names(body: Reader, transports: tuple[Call, ...]) -> tuple[Action, ...]:
    """Commands given by name only; the names of permissions are no actions."""
    names = dict.fromkeys(_verbs(body))
    return tuple(
        Action(name=name, calls=transports)
        for name in names
        if name and name not in STANDARD_PERMISSIONS
    )


def _read_transports(body: Reader) -> tuple[Call, ...]:
    if "transport" in undeclared_in(body):
        return ()
    for holder in (body, body.child("capabilities")):
        named = holder.child("transport")
        if isinstance(named.value, list):
            return tuple(_listed_transports(body, holder.texts("transport")))
    return tuple(_described_transports(body))


def _listed_transports(body: Reader, named: tuple[str, ...]) -> Iterator[Call]:
    endpoint = _execute_address(body, body.child("transport"))
    if "http" in named and endpoint:
        yield body.call("wab", "http", endpoint)
    if {"javascript", "js_global"}.intersection(named):
        yield Call(format="wab", transport="js_global", target=_DEFAULT_INTERFACE)


def _described_transports(body: Reader) -> Iterator[Call]:
    transport = body.child("transport")
    http = transport.child("http")
    url = _execute_address(body, http)
    if url and http.boolean("enabled") is not False:
        yield body.call("wab", "http", url)
    websocket = transport.child("websocket")
    if websocket.boolean("enabled") is not False:
        socket_url = websocket.target("url")
        if socket_url:
            yield body.call("wab", "websocket", socket_url)
    script = transport.child("js_global")
    if script.boolean("enabled"):
        interface = script.text("interface") or _DEFAULT_INTERFACE
        yield Call(format="wab", transport="js_global", target=interface)


def _execute_address(body: Reader, http: Reader) -> str | None:
    """Section 7.3.1, or where the dialects keep it."""
    base = http.text("base_url")
    if base:
        return http.resolve(base.rstrip("/") + "/execute", names=("base_url",))
    declared = body.child("endpoints").target("execute", "api")
    # In the manifest dialect `endpoint` is the discovery document itself.
    if declared or body.text("endpoint").endswith(".json"):
        return declared
    return body.target("endpoint")
