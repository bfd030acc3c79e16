"""Gates before an action: authentication, and confirmation by a person."""

from registry.formats.reading.name_folding import fold_word
from registry.formats.reading.reader import Reader
from registry.strict_json import JsonValue

_OPEN = frozenset(
    {"none", "no", "noauth", "false", "public", "open", "anonymous", "publicfree"}
)
_CLOSED = frozenset(
    {"required", "yes", "true", "bearer", "bearertoken", "token", "jwt", "basic"}
    | {"oauth", "oauth2", "oauth20", "oauth21", "openidconnect", "mtls", "mandate"}
    | {"apikey", "session", "cookie"}
)
_CONFIRMATIONS = (
    "requiresConfirmation",
    "requires_confirmation",
    "confirmationRequired",
    "confirmation_required",
    "requiresUserConfirmation",
    "requires_user_confirmation",
    "requires_user_confirm",
    "requires_human_confirmation",
)


def read_auth(declared: Reader) -> bool | None:
    """Return whether callers must authenticate, from a flag, a word or an object.

    An object has a flag, or names the scheme in `type` or `schemes`. Prose and unknown
    schemes count as undeclared.
    """
    value = declared.value
    if not isinstance(value, dict):
        return _judge(value)
    required = declared.boolean("required", "requires_login")
    if required is None:
        required = _judge(value.get("type"))
    return _judge(value.get("schemes")) if required is None else required


def _judge(value: JsonValue) -> bool | None:
    """Judge a value; a list requires authentication unless one of its entries does not."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = fold_word(value)
        return False if word in _OPEN else (True if word in _CLOSED else None)
    if isinstance(value, list):
        verdicts = {_judge(word) for word in value if isinstance(word, str)}
        return False if False in verdicts else (True if True in verdicts else None)
    return None


def read_confirmation(action: Reader) -> bool | None:
    members = action.members
    for name in _CONFIRMATIONS:
        if name in members:
            return action.boolean(name)
    return None
