"""The extension member of documents, for facts that their format cannot express.

`x-fair-registry` is a member of the document, of an action and of a parameter.
`undeclared` lists specified members whose value is there only because the format requires
one; the others hold facts without a member in it. The registry writes it when it shows a
site in another format, and reads it, so that nothing is lost or invented in between.
"""

import re
from collections.abc import Iterable, Iterator
from typing import get_args

from msgspec.structs import replace

from registry.formats.document import MAX_PARAMETERS, Format
from registry.formats.reading.reader import Reader
from registry.sites.action import Action, Call, Parameter, Sensitivity
from registry.sites.site import Site
from registry.strict_json import JsonObject, JsonValue

EXTENSION = "x-fair-registry"
_MAX_CALLS = 50
_INTERFACE = re.compile(r"[\w$.\[\]\"']{0,200}+")


# --- writing --------------------------------------------------------------------------


def extended(
    members: JsonObject, undeclared: Iterable[str] = (), **more: JsonValue
) -> JsonObject:
    """Add the extension, unless it would be empty. more: None where there is nothing."""
    extension: JsonObject = {
        name: value for name, value in more.items() if value is not None
    }
    extension |= stated(undeclared=list(undeclared))
    return {**members, EXTENSION: extension} if extension else members


def stated(**members: JsonValue) -> JsonObject:
    """Return the members that say something: not null, and not an empty text or list."""
    return {
        name: value
        for name, value in members.items()
        if value not in (None, "", [], {})
    }


def encode_calls(calls: Iterable[Call]) -> list[JsonValue]:
    return [
        {name: value for name, value in _call_members(call) if value} for call in calls
    ]


def _call_members(call: Call) -> Iterator[tuple[str, JsonValue]]:
    yield "format", call.format
    yield "transport", call.transport
    yield "method", call.method
    yield "url" if "://" in call.target else "interface", call.target
    yield "operation", call.operation


# --- reading --------------------------------------------------------------------------


def undeclared_in(holder: Reader) -> frozenset[str]:
    return frozenset(holder.child(EXTENSION).texts("undeclared", limit=_MAX_CALLS))


def extend_site(site: Site, document: Reader) -> Site:
    undeclared = undeclared_in(document)
    return replace(
        site,
        name="" if "name" in undeclared else site.name,
        category="" if "category" in undeclared else site.category,
        url="" if "url" in undeclared else site.url,
    )


def extend_action(
    action: Action, declared: Reader, parameters: Reader | None = None
) -> Action:
    """Add what the extensions of the action and of its parameters say.

    declared: the action in the document. parameters: the list or the map of those there.
    """
    if parameters is not None and _has_extension(parameters.value):
        extended_rows = _extend_parameters(action.parameters, parameters)
        action = replace(action, parameters=extended_rows)
    extension = declared.child(EXTENSION)
    if not extension.is_present:
        return action
    undeclared = undeclared_in(declared)
    calls = action.calls
    if "calls" in extension.members:
        calls = _read_calls(extension)
    elif "trigger" in undeclared:
        calls = tuple(replace(call, method="") for call in calls)
    sensitivity = _read_sensitivity(extension)
    confirmation = extension.boolean("confirmation")
    return replace(
        action,
        name=extension.text("name") or action.name,
        description="" if "description" in undeclared else action.description,
        auth_required=_settle_auth(action, extension, undeclared),
        sensitivity=action.sensitivity if sensitivity is None else sensitivity,
        confirmation=action.confirmation if confirmation is None else confirmation,
        experimental=extension.boolean("experimental") or action.experimental,
        deprecated=extension.boolean("deprecated") or action.deprecated,
        calls=calls,
    )


def _settle_auth(
    action: Action, extension: Reader, undeclared: frozenset[str]
) -> bool | None:
    if "auth_required" in undeclared:
        return None
    declared = extension.boolean("auth_required")
    return action.auth_required if declared is None else declared


def _has_extension(parameters: JsonValue) -> bool:
    """Return quickly whether a document may have one; hardly any has."""
    if isinstance(parameters, dict):
        parameters = list(parameters.values())
    return isinstance(parameters, list) and any(
        isinstance(item, dict) and EXTENSION in item for item in parameters
    )


def _extend_parameters(
    parameters: tuple[Parameter, ...], declared: Reader
) -> tuple[Parameter, ...]:
    if isinstance(declared.value, dict):
        by_name = dict(declared.entries(MAX_PARAMETERS))
    else:
        by_name = {item.text("name"): item for item in declared.elements()}
    return tuple(
        _extend_parameter(p, by_name[p.name]) if p.name in by_name else p
        for p in parameters
    )


def _extend_parameter(parameter: Parameter, declared: Reader) -> Parameter:
    undeclared = undeclared_in(declared)
    extension = declared.child(EXTENSION)
    kind = extension.text("type") or parameter.type
    return replace(
        parameter,
        type="unknown" if "type" in undeclared else kind,
        required=None if "required" in undeclared else parameter.required,
        enum=extension.texts("enum", limit=MAX_PARAMETERS) or parameter.enum,
    )


def _read_sensitivity(extension: Reader) -> Sensitivity | None:
    declared = extension.text("sensitivity")
    for level in get_args(Sensitivity):
        if level == declared:
            return level  # type: ignore[no-any-return]
    return None


def _read_calls(extension: Reader) -> tuple[Call, ...]:
    calls = map(_read_call, extension.items("calls", limit=_MAX_CALLS))
    return tuple(call for call in calls if call is not None)


def read_interface(declared: Reader) -> str:
    """Read the name of a script's object; an address is checked, and thus no interface."""
    interface = declared.text("interface")
    if not _INTERFACE.fullmatch(interface):
        declared.child("interface").deviate("no_page_object")
        return ""
    return interface


def _read_call(declared: Reader) -> Call | None:
    format_, transport = declared.text("format"), declared.text("transport")
    url = declared.target("url")
    if format_ not in get_args(Format) or not transport:
        return None
    if url is None and declared.text("url"):  # it leads where agents must not go
        return None
    return Call(
        format=format_,
        transport=transport,
        method=declared.text("method"),
        target=url or read_interface(declared),
        operation=declared.text("operation"),
        off_origin=bool(url) and declared.log.off_origin(url or ""),
    )
