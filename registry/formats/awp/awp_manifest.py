"""AWP, the Agent Web Protocol: `agent.json`.

Specification: AWP 0.2 sections 4 to 14. The protocol's own schema asks only for an
action's id where the specification's tables ask for more, so documents are accepted by
the schema and compared with the tables. Many unrelated files bear the name `agent.json`;
what resembles AWP but is built otherwise is refused by name. What a document tells agents
beside its actions (section 12) is never read.
"""

import re
from datetime import datetime
from urllib.parse import urlsplit

from registry.errors import Refused
from registry.formats import refusals
from registry.formats.awp.contracts import (
    AuthContract,
    action_ids,
    check_dependencies,
    check_status,
    check_types,
    read_auth,
)
from registry.formats.awp.protocols import Protocols, read_calls, read_protocols
from registry.formats.document import MAX_PARAMETERS, NATIVE, Document, DocumentOrigin
from registry.formats.extension import extend_action
from registry.formats.reading.action_list import gather, severest
from registry.formats.reading.claims import names_host, read_host
from registry.formats.reading.conformance import load_specifications
from registry.formats.reading.parameters import is_schema, read_parameters
from registry.formats.reading.reader import Reader
from registry.sites.action import Action, Sensitivity
from registry.sites.site import Site
from registry.strict_json import JsonObject, JsonValue

# Sections 5 to 10 and 13 of AWP 0.2. An empty text fills no required member. A payment has
# no version in an example of its own; `poll_endpoint` of an asynchronous action is not
# required, since results may come by webhook.
_SPECIFICATIONS = load_specifications(__package__, "awp_schema.json")
# Members whose shape tells AWP from its lookalikes.
_SHAPES: tuple[tuple[str, type, str], ...] = (
    ("actions", list, "an array"),
    ("protocols", dict, "an object"),
    ("capabilities", dict, "an object"),
    ("domain", str, "a host name"),
    ("intent", str, "a text"),
)
_VERSION = re.compile(r"0\.[0-9]{1,9}\Z")
_URL_OR_PORT = re.compile(
    r"(?:https?://)?([A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,9})"
)
_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(?:\.[0-9]{1,20})?(?:Z|[+-][0-9]{2}:[0-9]{2})\Z"
)
_SENSITIVITY: dict[str, Sensitivity] = {
    "destructive": "destructive",
    "irreversible": "irreversible",
}


def is_awp(raw: JsonObject) -> bool:
    return "awp_version" in raw


def read_awp(document: Reader) -> Document:
    """Read an AWP document. Raises: Refused (format_lookalike)."""
    _refuse_lookalike(document)
    _SPECIFICATIONS["document"].compare(document)
    ids = action_ids(document.child("actions"))
    auth = read_auth(document, ids)
    protocols = read_protocols(document, root=_root(document.log.url))
    site = Site(
        description=document.text("intent"),
        url=read_host(document, "domain"),
        actions=gather(
            (item, _read_action(item, protocols, auth))
            for item in document.items("actions")
            if isinstance(item.value, dict)
        ),
    )
    check_dependencies(document, ids)
    check_status(document, ids)
    check_types(document)
    provenance = _read_provenance(document)
    return document.log.conclude(
        format="awp",
        dialect=provenance.source,
        version=_read_version(document),
        site=site,
        raw=document.members,
        references=protocols.references,
        provenance=provenance,
    )


def _root(url: str) -> str:
    """Check that the document is at the root (section 3)."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/"


def _refuse_lookalike(document: Reader) -> None:
    for name, kind, shape in _SHAPES:
        member = document.child(name)
        if member.is_present and not isinstance(member.value, kind):
            raise _lookalike(name, f"AWP has {shape} there")
    for name in ("domain", "intent", "actions"):
        if not document.child(name).is_present:
            raise _lookalike(name, "AWP requires it")
    domain = document.text("domain")
    if not names_host(domain) or ":" in domain:
        raise _lookalike(
            "domain", "AWP has a bare host name there", _mend_domain(domain)
        )
    actions = document.child("actions")
    if actions.value and not action_ids(actions):
        raise _lookalike(
            "actions",
            "AWP has objects with an id there",
            'Write each action as an object, with its name as "id".',
        )


def _lookalike(name: str, why: str, fix: str = "") -> Refused:
    return Refused(
        refusals.FORMAT_LOOKALIKE, f"{name}: {why}", pointer=f"/{name}", fix=fix
    )


def _mend_domain(declared: str) -> str:
    if not declared.isascii():
        return "Write the host name in ASCII, as xn--…"
    host = _URL_OR_PORT.match(declared)
    return f'Write "{host[1][:200]}".' if host else ""


def _read_version(document: Reader) -> str:
    """Check the version; documents of an unknown major version are read (section 4)."""
    declared = document.child("awp_version")
    if isinstance(declared.value, int | float) and not isinstance(declared.value, bool):
        version = str(declared.value)
    elif isinstance(declared.value, str):
        version = declared.as_text()[:80]
    else:
        return ""
    if not _VERSION.match(version):
        declared.deviate("unknown_version", version=version)
    return version


def _read_provenance(document: Reader) -> DocumentOrigin:
    declared = document.text("source")
    source = declared.lower()
    if declared not in ("", "native", "synthetic"):
        document.child("source").deviate("unknown_source", declared=declared[:80])
    if source != "synthetic":
        return NATIVE
    for name in ("generated_by", "confidence", "last_verified"):
        if not document.child(name).is_present:
            document.child(name).deviate("synthetic_without", name=name)
    return DocumentOrigin(
        source="synthetic",
        generated_by=document.text("generated_by"),
        confidence=_read_confidence(document),
        last_verified=_read_last_verified(document),
    )


def _read_confidence(document: Reader) -> float | None:
    confidence = document.number("confidence")
    if confidence is None or 0 <= confidence <= 1:
        return confidence
    document.child("confidence").deviate("confidence_range")
    return None


def _read_last_verified(document: Reader) -> str:
    declared = document.text("last_verified")
    if not declared or _is_instant(declared):
        return declared
    document.child("last_verified").deviate("no_instant", declared=declared[:80])
    return ""


def _is_instant(text: str) -> bool:
    try:
        return bool(_RFC_3339.match(text) and datetime.fromisoformat(text))
    except ValueError:  # the 31st of February
        return False


def _read_action(action: Reader, protocols: Protocols, auth: AuthContract) -> Action:
    name = action.text("id")
    inputs = action.child("inputs")
    _check_inputs(inputs)
    parsed = Action(
        name=name,
        description=action.text("description", "intent"),
        parameters=read_parameters(action, "inputs", "parameters"),
        auth_required=auth.settle(action, name),
        sensitivity=_read_sensitivity(action),
        confirmation=_read_confirmation(action),
        calls=read_calls(action, protocols),
    )
    return extend_action(parsed, action, inputs)


def _check_inputs(inputs: Reader) -> None:
    """Check the inputs: a map from a name to an object with the type (section 9)."""
    if all(map(_is_plain_input, inputs.members.values())):
        return
    if is_schema(inputs.value):
        inputs.deviate("schema_for_map")
    elif not inputs.log.is_full:
        _SPECIFICATIONS["inputs"].compare(inputs)
        _check_options(inputs)


def _is_plain_input(declared: JsonValue) -> bool:
    """Return quickly whether an input conforms; nearly every input does."""
    if not isinstance(declared, dict):
        return False
    kind = declared.get("type")
    return (
        isinstance(kind, str)
        and kind != ""
        and isinstance(declared.get("required", False), bool)
        and isinstance(declared.get("description", ""), str)
        and ("options" not in declared if kind != "enum" else _has_options(declared))
    )


def _has_options(declared: JsonObject) -> bool:
    return isinstance(declared.get("options"), list) and bool(declared["options"])


def _check_options(inputs: Reader) -> None:
    for _, declared in inputs.entries(MAX_PARAMETERS):
        options = declared.child("options")
        if declared.members.get("type") == "enum" and options.value in (None, []):
            options.deviate("enum_without_values")


def _read_sensitivity(action: Reader) -> Sensitivity | None:
    """Read the sensitivity; `standard` is neither read nor write."""
    declared = action.members.get("sensitivity")
    level = _SENSITIVITY.get(declared) if isinstance(declared, str) else None
    reversible = action.members.get("reversible")
    if level == "irreversible" and reversible is True:
        action.child("reversible").deviate("reversible_contradicted")
    return severest(level, "irreversible" if reversible is False else None)


def _read_confirmation(action: Reader) -> bool | None:
    """Read the confirmation, which irreversible actions always need (section 9)."""
    declared = action.members.get("requires_human_confirmation")
    if declared is False and action.members.get("sensitivity") == "irreversible":
        action.child("requires_human_confirmation").deviate("confirmation_contradicted")
        return True
    return declared if isinstance(declared, bool) else None
