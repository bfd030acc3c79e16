"""Commands and replies of WAB 1.0, §5, whatever brings and takes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeAlias

from registry.errors import Refused
from registry.interfaces.wab.refusals import COMMAND_INVALID

Json = dict[str, Any]
CommandId: TypeAlias = str | int | None

MAX_ID_LENGTH = 128
MAX_METHOD_LENGTH = 64
_FRAME = frozenset({"id", "context", "signature"})
_ALIASES = {"action": "name", "params": "data"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """id: None where the sender gave none. token: of context.sessionToken, or ""."""

    id: CommandId
    method: str
    params: Json = field(default_factory=dict)
    token: str = ""
    signature: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReply:
    """A reply. status, headers: where it goes out over HTTP. error: code, message and more.

    token: of the session that the command opened.
    """

    id: CommandId
    result: Any = None
    error: Mapping[str, Any] | None = None
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)
    token: str = ""

    @property
    def message(self) -> Json:
        """Return it as §5.2 spells it."""
        if self.error is not None:
            return {"id": self.id, "type": "error", "error": self.error}
        return {"id": self.id, "type": "success", "result": self.result}


def parse_command(value: Any) -> Command:
    """Parse a command as it came over a WebSocket. Raises: Refused.

    Without a method it is recognised by its members, as WAB's own MCP adapter sends it.
    """
    if not isinstance(value, dict):
        raise Refused(COMMAND_INVALID, "a command is a JSON object")
    command_id = value.get("id")
    verify_id(command_id)
    if command_id is None:
        raise Refused(COMMAND_INVALID, "a command has an id", pointer="/id")
    method: Any = value.get("method")
    params: Any = value.get("params", {})
    if "method" not in value:
        method = _method_of(value)
        params = {name: row for name, row in value.items() if name not in _FRAME}
    if not isinstance(method, str) or len(method) > MAX_METHOD_LENGTH:
        raise Refused(COMMAND_INVALID, "method is a short string", pointer="/method")
    if not isinstance(params, dict):
        raise Refused(COMMAND_INVALID, "params is an object", pointer="/params")
    return Command(
        id=command_id,
        method=method,
        params=params,
        token=_text(_object(value, "context"), "sessionToken"),
        signature=_text(value, "signature") if "signature" in value else None,
    )


def verify_id(command_id: Any) -> None:
    """Raises: Refused for what is no string, whole number or null."""
    is_kind = isinstance(command_id, str | int | None) and command_id is not True
    if not is_kind or command_id is False or len(str(command_id)) > MAX_ID_LENGTH:
        detail = f"an id is a string of at most {MAX_ID_LENGTH} characters, or a number"
        raise Refused(COMMAND_INVALID, detail, pointer="/id")


def id_of(value: Any) -> CommandId:
    """Return the id to echo of what may be no command."""
    command_id = value.get("id") if isinstance(value, dict) else None
    try:
        verify_id(command_id)
    except Refused:
        return None
    return command_id


def read_action(params: Json) -> tuple[str, Json]:
    """Return the name and the data of wab.executeAction; `action` and `params` mean them.

    Raises: Refused.
    """
    named = {_ALIASES.get(name, name): value for name, value in params.items()}
    name, data = named.get("name"), named.get("data", {})
    if not isinstance(name, str) or not name:
        raise Refused(COMMAND_INVALID, "name is the name of an action", pointer="/name")
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise Refused(COMMAND_INVALID, "data is an object", pointer="/data")
    return name, data


def _method_of(value: Json) -> str:
    members = {
        "name": "executeAction",
        "selector": "readContent",
        "apiKey": "authenticate",
    }
    known = (method for name, method in members.items() if name in value)
    if value.keys() <= _FRAME:
        return "wab.getPageInfo"
    method = next(known, None)
    if method is None:
        raise Refused(COMMAND_INVALID, "a command has a method", pointer="/method")
    return f"wab.{method}"


def _object(value: Json, name: str) -> Json:
    member = value.get(name, {})
    if not isinstance(member, dict):
        raise Refused(COMMAND_INVALID, f"{name} is an object", pointer=f"/{name}")
    return member


def _text(value: Json, name: str) -> str:
    text = value.get(name, "")
    if not isinstance(text, str):
        raise Refused(COMMAND_INVALID, f"{name} is a string", pointer=f"/{name}")
    return text
