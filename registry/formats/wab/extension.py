"""The extension member of WAB documents, for facts that WAB 1.0 cannot express.

`x-fair-registry` is a member of the document, of a command and of a parameter.
`undeclared` lists specified members whose value is there only because WAB requires one;
the others hold facts without a member in WAB. The registry writes it when it shows a site
as WAB, and reads it, so that nothing is lost or invented in between.
"""

import re
from dataclasses import replace
from typing import get_args

from registry.formats.document import Format
from registry.formats.reading.reader import Reader
from registry.sites.action import Action, Call, Parameter, Sensitivity
from registry.sites.site import Site

EXTENSION = "x-fair-registry"
_MAX_CALLS = 50
_INTERFACE = re.compile(r"[\w$.\[\]\"']{0,200}+")


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


def extend_action(action: Action, command: Reader) -> Action:
    extension = command.child(EXTENSION)
    if not extension.is_present:
        return action
    undeclared = undeclared_in(command)
    calls = action.calls
    if "calls" in extension.members:
        calls = _read_calls(extension)
    elif "trigger" in undeclared:
        calls = tuple(replace(call, method="") for call in calls)
    sensitivity = _read_sensitivity(extension)
    return replace(
        action,
        name=extension.text("name") or action.name,
        description="" if "description" in undeclared else action.description,
        sensitivity=action.sensitivity if sensitivity is None else sensitivity,
        confirmation=extension.boolean("confirmation"),
        experimental=extension.boolean("experimental") or False,
        deprecated=extension.boolean("deprecated") or False,
        calls=calls,
    )


def extend_parameters(
    parameters: tuple[Parameter, ...], command: Reader
) -> tuple[Parameter, ...]:
    extended = {
        item.text("name"): item
        for item in command.items("params")
        if EXTENSION in item.members
    }
    return tuple(
        _extend_parameter(p, extended[p.name]) if p.name in extended else p
        for p in parameters
    )


def _extend_parameter(parameter: Parameter, declared: Reader) -> Parameter:
    undeclared = undeclared_in(declared)
    kind = declared.child(EXTENSION).text("type") or parameter.type
    return replace(
        parameter,
        type="unknown" if "type" in undeclared else kind,
        required=None if "required" in undeclared else parameter.required,
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
        declared.child("interface").note(
            "interface",
            "not the name of an object in the page",
            'Write it like "window.AICommands".',
        )
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
