"""WAB, the Web Agent Bridge: discovery documents of the specification and its dialects.

Specification: WAB 1.0 sections 4 and 7.3, Appendix A. Paid tiers (`tier`) and scores that
a site gives itself are not read.
"""

from urllib.parse import quote

from msgspec.structs import replace

from registry.formats.document import MAX_ACTIONS, Document
from registry.formats.extension import extend_action, extend_site
from registry.formats.reading.action_list import gather, read_only_sensitivity, severest
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
from registry.formats.wab.dialects import dialect_of, is_envelope
from registry.formats.wab.transports import read_transports
from registry.formats.wab.wab_schema import APPENDIX_A, STANDARD_PERMISSIONS
from registry.sites.action import Action, Call
from registry.sites.site import Site

BENEFIT_CHARACTERS = 300
MAX_TRUST_SIGNATURES, TRUST_SIGNATURE_CHARACTERS = 5, 200
_NAME_HOLE = "{actionName}"


def read_wab(top: Reader) -> Document:
    """Read a WAB document. Raises: Refused (not_discovery, format_unknown)."""
    body = top.child("payload") if is_envelope(top.members) else top
    dialect = dialect_of(body, enveloped=body is not top)
    _note_departures(body)
    return top.log.conclude(
        format="wab",
        dialect=dialect,
        version=body.text("wab_version", "wab", "version"),
        site=extend_site(_read_site(body), body),
        raw=top.members,
    )


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
        direct_benefit=fairness.text("direct_benefit")[:BENEFIT_CHARACTERS],
        trust_signatures=_read_trust_signatures(body),
        actions=_read_actions(body),
    )


def _read_trust_signatures(body: Reader) -> tuple[str, ...]:
    declared = body.texts("trust_signatures", limit=MAX_TRUST_SIGNATURES)
    short = (text for text in declared if len(text) <= TRUST_SIGNATURE_CHARACTERS)
    return tuple(dict.fromkeys(short))


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
    """Return the members that may hold the commands, the specified one first."""
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
    """Read the actions, the first of each name: a document may list them twice."""
    transports = read_transports(body)
    actions: dict[str, Action] = {}
    for source in _sources(body):
        declared = [
            (item, _read_command(name, item, body, transports))
            for name, item in _declared_in(source)
            if isinstance(item.value, dict) and not _is_bare_permission(item)
        ]
        for action in gather(declared):
            actions.setdefault(action.name, action)
    if not actions:
        return _read_bare_names(body, transports)
    return tuple(actions.values())[:MAX_ACTIONS]


def _is_bare_permission(command: Reader) -> bool:
    """Return whether it is a permission that a bridge lists again as a command."""
    named = command.members.get("name")
    return named in STANDARD_PERMISSIONS and "description" not in command.members


def _read_command(
    key: str, command: Reader, body: Reader, transports: tuple[Call, ...]
) -> Action:
    name = clean_text(key) or command.text("id", "name")
    title = command.text("name")
    method = command.text("method").upper()
    action = Action(
        name=name,
        description=command.text("description") or (title if title != name else ""),
        parameters=read_parameters(command, "params", "parameters", "inputs"),
        auth_required=command.boolean("requiresAuth", "auth_required", "auth"),
        sensitivity=severest(
            read_only_sensitivity(command, "readonly", "readOnly"),
            "destructive" if method == "DELETE" else None,
        ),
        calls=_read_calls(command, body, method, transports),
    )
    return extend_action(action, command, command.child("params"))


def _read_calls(
    command: Reader, body: Reader, method: str, transports: tuple[Call, ...]
) -> tuple[Call, ...]:
    """Return a call to the command's own address, else the site's transports."""
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
        replace(call, method=trigger, target=call.target.replace(_NAME_HOLE, name))
        for call in transports
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


# --- departures -----------------------------------------------------------------------

_SPECIFICATION = Specification(APPENDIX_A)


def _note_departures(body: Reader) -> None:
    """Note departures from the specification, with their fixes.

    Members that dialects put elsewhere are reported before Appendix A is compared, since
    "is missing" would help less; faults that its schema accepts, after it.
    """
    _note_synonyms(body)
    _SPECIFICATION.compare(body)
    _check_transport(body)
    _check_addresses(body)


_SYNONYMS = (
    ("wab_version", ("wab", "version"), "instead_of_version"),
    ("provider", ("site",), "instead_of_provider"),
    ("provider", ("name", "site_url"), "parts_of_provider"),
    ("capabilities", ("actions", "commands"), "instead_of_commands"),
    ("transport", ("endpoint", "endpoints", "agent_access"), "instead_of_transport"),
)
"""Members with what stands in their place, and the deviation that it is."""


def _note_synonyms(body: Reader) -> None:
    for name, others, deviation in _SYNONYMS:
        synonym = next((other for other in others if other in body.members), None)
        if synonym is not None and name not in body.members:
            body.child(name).deviate(deviation, name=name, synonym=synonym)


def _check_transport(body: Reader) -> None:
    """Check for the enabled transport of section 4.3.7, which the schema lets pass."""
    transport = body.child("transport")
    if isinstance(transport.value, dict) and not any(
        member.get("enabled") is True
        for member in transport.value.values()
        if isinstance(member, dict)
    ):
        transport.deviate("no_transport")


def _check_addresses(body: Reader) -> None:
    """Check URLs, as `format: uri` validates nothing by itself and passes `javascript:`."""
    for holder, name in (("provider", "url"), ("agent_access", "api_fallback")):
        body.child(holder).check_address(name)
