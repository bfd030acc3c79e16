"""What every call refuses: loose JSON, unknown parameters, text that is no text."""

from typing import Any

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.handlers.base import BaseRouteHandler
from litestar.types.empty import EmptyType  # noqa: F401 — resolved by get_type_hints
from typing_extensions import override

from registry.errors import Refused
from registry.interfaces.http import refusals
from registry.strict_json import parse_json

MAX_BODY_BYTES = 65_536
MAX_BODY_DEPTH = 16


class StrictRequest(Request[Any, Any, State]):
    """A request whose JSON is parsed strictly: no duplicate keys, no deep nesting."""

    @override
    async def json(self) -> Any:
        body = await self.body()
        if not body:
            return None
        return parse_json(body, max_depth=MAX_BODY_DEPTH, max_bytes=MAX_BODY_BYTES)


def refuse_unknown_parameters(
    connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler
) -> None:
    """A guard: query parameters must be the handler's, each given once."""
    given = [name for name, _ in connection.query_params.multi_items()]
    known = handler.opt.get("query")
    if known is None:
        known = handler.opt["query"] = _query_names(handler)
    for name in given:
        if name not in known:
            raise Refused(
                refusals.PARAMETER_UNKNOWN,
                f"{name[:80]!r} is no parameter of this call",
                pointer=name[:80],
            )
    if len(set(given)) != len(given):
        raise Refused(refusals.PARAMETER_INVALID, "a parameter is given twice")


def verify_text(text: str, pointer: str, *, max_length: int) -> str:
    """The text, trimmed. Raises: Refused if it holds what no text should hold."""
    if len(text) > max_length:
        raise Refused(
            refusals.PARAMETER_INVALID,
            f"longer than {max_length} characters",
            pointer=pointer,
        )
    if any(_is_no_text(character) for character in text):
        raise Refused(refusals.TEXT_INVALID, pointer=pointer)
    return text.strip()


def _is_no_text(character: str) -> bool:
    """U+FFFD stands for bytes that were not UTF-8."""
    point = ord(character)
    is_control = (point < 32 and character not in "\t\n\r") or 127 <= point < 160
    return is_control or 0xD800 <= point <= 0xDFFF or point in {0xFFFD, 0xFFFE, 0xFFFF}


def _query_names(handler: BaseRouteHandler) -> frozenset[str]:
    names = set()
    for name, field in handler.parsed_fn_signature.parameters.items():
        kwarg = field.kwarg_definition
        names.add(getattr(kwarg, "query", None) or name)
    return frozenset(names)
