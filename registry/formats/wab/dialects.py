"""Dialects of WAB documents, each recognised by its own members.

The reference repository itself emits nine of them; the version that a document claims is
no evidence.
"""

from collections.abc import Callable

from registry.errors import Refused
from registry.formats import refusals
from registry.formats.reading.reader import Reader
from registry.strict_json import JsonObject


def is_wab(raw: JsonObject) -> bool:
    return (
        "wab_version" in raw
        or isinstance(raw.get("wab"), str)
        or _is_generated(raw)
        or is_envelope(raw)
    )


def _is_generated(raw: JsonObject) -> bool:
    """Return whether one of WAB's packages wrote it; its documents have no other mark."""
    generator = raw.get("generator")
    return isinstance(generator, str) and generator.startswith(("@wab/", "wab/"))


def is_envelope(raw: JsonObject) -> bool:
    payload = raw.get("payload")
    if "signature" not in raw or not isinstance(payload, dict):
        return False
    return any(
        str(payload.get(name, "")).startswith("wab") for name in ("version", "type")
    )


def _has(name: str, kind: type) -> Callable[[Reader], bool]:
    return lambda body: isinstance(body.child(name).value, kind)


def _all(*conditions: Callable[[Reader], bool]) -> Callable[[Reader], bool]:
    return lambda body: all(holds(body) for holds in conditions)


def _commands_are_names(body: Reader) -> bool:
    commands = body.child("capabilities").child("commands").value
    return isinstance(commands, list) and any(isinstance(x, str) for x in commands)


def _lists_no_commands(body: Reader) -> bool:
    return "commands" not in body.child("capabilities").members


_DIALECTS: tuple[tuple[str, Callable[[Reader], bool]], ...] = (
    ("mu_plugin", lambda body: str(body.members.get("wab_version")).startswith("mu-")),
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


def dialect_of(body: Reader, *, enveloped: bool) -> str:
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
    for dialect, matches in _DIALECTS:
        if matches(body):
            return dialect
    raise Refused(
        refusals.FORMAT_UNKNOWN,
        "it names a WAB version but has no provider, site, commands or actions",
    )
