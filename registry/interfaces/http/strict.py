"""Refusals of every call: loose JSON, unknown parameters, text that is no text."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from typing import Any, Literal, get_args, get_origin

import msgspec
from litestar import Request
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.exceptions import HTTPException, InternalServerException
from litestar.handlers.base import BaseRouteHandler
from litestar.params import QueryParameter
from litestar.types.empty import EmptyType  # noqa: F401 — resolved by get_type_hints
from typing_extensions import override

from registry.errors import Refused, RegistryError
from registry.interfaces.http import refusals
from registry.strict_json import parse_json

MAX_BODY_BYTES = 65_536
MAX_BODY_DEPTH = 16
BODY_TIMEOUT_S = 10.0

_JSON = re.compile(r"application/([a-z0-9.-]+\+)?json")
_STEP = re.compile(r"\.([^.\[\]`]+)|\[(\d+)\]")
_NAMED = re.compile(r"field `([^`]+)`")


class StrictRequest(Request[Any, Any, State]):
    """A request whose JSON is parsed strictly: no duplicate keys, no deep nesting.

    It becomes what the handler takes here and not in Litestar, which would let a text
    stand for a number.
    """

    @override
    async def json(self) -> Any:
        taken = self.route_handler.parsed_data_field
        body = await self.body()
        value = parse_json(body, max_depth=MAX_BODY_DEPTH, max_bytes=MAX_BODY_BYTES)
        return value if taken is None else convert_body(value, taken.annotation)

    @override
    async def body(self) -> bytes:
        takes_json = self.route_handler.parsed_data_field is not None
        if takes_json:
            self._verify_media_type()
        body = await self._read()
        if takes_json and not body:
            raise Refused(refusals.BODY_INVALID, "the body is empty")
        return body

    def _verify_media_type(self) -> None:
        media_type, options = self.content_type
        charset = options.get("charset", "utf-8").lower()
        if not _JSON.fullmatch(media_type.lower()) or charset != "utf-8":
            raise HTTPException(
                "The body is application/json, in UTF-8", status_code=415
            )

    async def _read(self) -> bytes:
        try:
            async with asyncio.timeout(BODY_TIMEOUT_S):
                return await super().body()
        except TimeoutError as error:
            raise HTTPException(status_code=HTTPStatus.REQUEST_TIMEOUT) from error
        except InternalServerException as error:  # the client has gone
            raise HTTPException(status_code=HTTPStatus.BAD_REQUEST) from error


async def verify_head(
    connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler
) -> None:
    """Guard: one Host, as HTTP/1.1 wants it.

    The server takes a head with none, for which it puts an empty one, or two, of which
    a proxy in front might read the other. Lengths that differ it refuses itself.
    """
    hosts = [value for name, value in connection.scope["headers"] if name == b"host"]
    needs_host = connection.scope["http_version"] == "1.1"
    if len(hosts) > 1 or (needs_host and not any(hosts)):
        raise Refused(refusals.HOST_AMBIGUOUS)


async def verify_query(
    connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler
) -> None:
    """Guard: query parameters are the handler's, each once, none of them missing.

    It awaits nothing; a guard that is no coroutine is called in another thread, which
    costs more than it does.
    """
    known: dict[str, bool] | None = handler.opt.get("query")
    if known is None:
        known = handler.opt["query"] = {
            name: field.is_required
            for name, field in query_parameters(handler).values()
        }
    given = [name for name, _ in connection.query_params.multi_items()]
    for name in given:
        if name not in known:
            detail = f"{name[:80]!r} is no parameter of this call"
            raise Refused(refusals.PARAMETER_UNKNOWN, detail, pointer=name[:80])
        if given.count(name) > 1:
            detail = f"{name} is given more than once"
            raise Refused(refusals.PARAMETER_INVALID, detail, pointer=name)
    for name, is_required in known.items():
        if is_required and name not in given:
            raise Refused(
                refusals.PARAMETER_MISSING, f"{name} is missing", pointer=name
            )


@contextmanager
def pointing_into_body(under: str = "") -> Iterator[None]:
    """A refusal that names a parameter names a member of the body instead.

    under: where that lies, such as /filters.
    """
    try:
        yield
    except RegistryError as refused:
        if refused.problem.pointer:
            pointer = f"{under}/{refused.problem.pointer}"
            refused.problem = replace(refused.problem, pointer=pointer)
        raise


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


def parse_instant(text: str, pointer: str) -> datetime:
    """RFC 3339: Litestar would take a bare number for seconds since 1970. Raises: Refused."""
    with Refused.on(ValueError, refusals.PARAMETER_INVALID, str, pointer=pointer):
        return msgspec.convert(text, datetime)


def with_choices(detail: str, annotation: Any) -> str:
    """Return msgspec's detail; where a value is none of an enum's, with those."""
    choices = ", ".join(_choices(annotation))
    named = detail.startswith("Invalid enum value") and choices
    return f"{detail}; it may be {choices}" if named else detail


def _choices(annotation: Any) -> Iterator[str]:
    for part in get_args(annotation):
        if get_origin(annotation) is Literal:
            yield str(part)
        else:
            yield from _choices(part)


def convert_body(value: Any, wanted: Any) -> Any:
    """Return the JSON value as a struct. Raises: Refused, naming the member."""
    try:
        return msgspec.convert(value, wanted)
    except msgspec.ValidationError as error:
        detail, _, path = str(error).partition(" - at `$")
        pointer = _pointer(path, detail)
        is_struct = isinstance(wanted, type) and issubclass(wanted, msgspec.Struct)
        fields = msgspec.structs.fields(wanted) if is_struct else ()
        members = {field.encode_name: field.type for field in fields}
        detail = with_choices(detail, members.get(pointer.split("/")[-1]))
        raise Refused(refusals.BODY_INVALID, detail, pointer=pointer) from error


def _pointer(path: str, detail: str) -> str:
    """RFC 6901 from the path that msgspec gives, and the member that it names."""
    steps = [name or index for name, index in _STEP.findall(path)]
    steps += _NAMED.findall(detail)
    return "".join(f"/{step}" for step in steps)


def _is_no_text(character: str) -> bool:
    """U+FFFD stands for bytes that were not UTF-8."""
    point = ord(character)
    is_control = (point < 32 and character not in "\t\n\r") or 127 <= point < 160
    return is_control or 0xD800 <= point <= 0xDFFF or point in {0xFFFD, 0xFFFE, 0xFFFF}


def query_parameters(handler: BaseRouteHandler) -> dict[str, tuple[str, Any]]:
    """Python's name of each: the name in the query, and the field."""
    return {
        name: (field.kwarg_definition.name or name, field)
        for name, field in handler.parsed_fn_signature.parameters.items()
        if isinstance(field.kwarg_definition, QueryParameter)
    }
