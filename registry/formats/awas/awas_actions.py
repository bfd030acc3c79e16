"""The actions of an AWAS document, in the words of 1.0, of 1.1 and of the wild."""

from collections.abc import Iterator
from dataclasses import dataclass

from registry.formats.extension import extend_action
from registry.formats.reading.action_list import severest
from registry.formats.reading.gating import read_auth, read_confirmation
from registry.formats.reading.methods import read_method
from registry.formats.reading.parameters import read_parameters
from registry.formats.reading.reader import Reader, clean_text
from registry.formats.reading.synonyms import note_synonym
from registry.sites.action import Action, Call, Sensitivity

# Each name of the specification with its synonyms, in the order in which they are read.
IDS = ("id", "action_id", "actionId")
METHODS = ("method", "http_method", "httpMethod")
ADDRESSES = ("path", "endpoint", "url", "href")
_PARAMETERS = (
    "parameters",
    "inputs",
    "params",
    "inputSchema",
    "input_schema",
    "request_schema",
    "requestSchema",
)
_SYNONYMS_1_0 = (IDS, METHODS, ADDRESSES, _PARAMETERS)
_SYNONYMS_1_1 = (IDS, METHODS, ("endpoint", "path", "url", "href"))
_INPUTS_1_1 = frozenset({"inputs", "inputSchema"})

_AUTH_FLAGS = ("authentication_required", "auth_required")
_AUTH = frozenset({*_AUTH_FLAGS, "authentication", "auth", "authScopes"})
_SIDE_EFFECTS = ("sideEffect", "side_effect", "side_effects")
_EFFECTS = frozenset({*_SIDE_EFFECTS, "intent", "reversible"})
_INTENTS = frozenset({"read", "write", "delete", "execute"})
_NAVIGATING = frozenset({"navigate", "link", "redirect", "open"})
_SENSITIVITIES: dict[str, Sensitivity] = {
    "none": "read",
    "safe": "read",
    "read": "read",
    "idempotent": "write",
    "write": "write",
    "delete": "destructive",
    "destructive": "destructive",
    "irreversible": "irreversible",
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Defaults of the document for all its actions.

    dialect: "1.0", "1.1" or "wild". base: of relative addresses.
    auth_optional: the ids of actions that can be called without authentication, whatever
    auth_required says.
    """

    dialect: str
    base: str
    auth_required: bool | None
    auth_optional: frozenset[str]


def read_actions(
    declared: Reader, surroundings: Surroundings
) -> Iterator[tuple[Reader, Action]]:
    """Read a list, or a map by id; the comparison has recorded what is not an object."""
    if isinstance(declared.value, dict):
        for name, action in declared.entries():
            yield action, _read_action(clean_text(name), action, surroundings)
        return
    for action in declared.elements():
        if isinstance(action.value, dict):
            name = action.text(*IDS, "name")
            yield action, _read_action(name, action, surroundings)


def _read_action(name: str, action: Reader, surroundings: Surroundings) -> Action:
    _note_synonyms(action, surroundings.dialect)
    parsed = Action(
        name=name,
        description=_read_description(name, action),
        parameters=read_parameters(action, *_PARAMETERS),
        auth_required=_read_auth(name, action, surroundings),
        sensitivity=_read_sensitivity(action),
        confirmation=read_confirmation(action),
        deprecated=action.members.get("deprecated") is True,
        calls=_read_calls(action, surroundings.base),
    )
    return extend_action(parsed, action, action.child("parameters"))


def _note_synonyms(action: Reader, dialect: str) -> None:
    is_newer = dialect == "1.1"
    for names in _SYNONYMS_1_1 if is_newer else _SYNONYMS_1_0:
        note_synonym(action, *names)
    if is_newer and _INPUTS_1_1.isdisjoint(action.members):
        note_synonym(action, "inputs", *_PARAMETERS)


def _read_description(name: str, action: Reader) -> str:
    """Read the description, or an intent that is prose and no word of 1.1."""
    description = action.text("description")
    if description:
        return description
    intent, title = action.text("intent"), action.text("name")
    if intent and intent.lower() not in _INTENTS:
        return intent
    return title if title != name else ""


def _read_auth(name: str, action: Reader, surroundings: Surroundings) -> bool | None:
    """Read the action's own declaration, else the document's for all actions."""
    members = action.members
    if not _AUTH.isdisjoint(members):
        declared = action.boolean(*_AUTH_FLAGS)
        if declared is None:
            declared = read_auth(action.child("authentication", "auth"))
        if declared is not None:
            return declared
        if members.get("authScopes"):
            return True
    return False if name in surroundings.auth_optional else surroundings.auth_required


def _read_sensitivity(action: Reader) -> Sensitivity | None:
    members = action.members
    if _EFFECTS.isdisjoint(members):
        return None
    irreversible = action.boolean("reversible") is False
    intent = members.get("intent")
    return severest(
        _side_effect(action.child(*_SIDE_EFFECTS)),
        _SENSITIVITIES.get(intent.lower()) if isinstance(intent, str) else None,
        "irreversible" if irreversible else None,
    )


def _side_effect(declared: Reader) -> Sensitivity | None:
    """Read an enum of 1.1, or a boolean or a list of effects in the wild."""
    value = declared.value
    if value is None:
        return None
    if isinstance(value, bool | list):
        return "write" if value and value != ["none"] else "read"
    return _SENSITIVITIES.get(declared.as_text().lower())


def _read_calls(action: Reader, base: str) -> tuple[Call, ...]:
    url = action.target(*ADDRESSES, base=base)
    if url is None:
        return ()
    if action.text(*METHODS).lower() in _NAVIGATING:
        return (action.call("awas", "navigate", url),)
    return (action.call("awas", "http", url, read_method(action, *METHODS)),)
