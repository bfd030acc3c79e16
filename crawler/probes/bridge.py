"""Answers of a WAB bridge to the four questions that change nothing. Pure.

WAB 1.0: a bridge must implement the standard methods (11.2) and answer in the response
format (5.2), over HTTP to a GET below its base URL (7.3.1). Nothing here executes.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NoReturn

from crawler import refusals
from registry.errors import Refused, RegistryError
from registry.formats.document import MAX_BODY_BYTES, MAX_DEPTH
from registry.formats.reading.conformance import Specification
from registry.formats.reading.reader import DeviationLog, Reader
from registry.formats.wab.wab_schema import APPENDIX_A
from registry.strict_json import JsonValue, parse_json

Method = Literal["ping", "discover", "actions", "context"]

HEADERS: Mapping[str, str] = MappingProxyType({"X-WAB-Version": "1.0"})
"""Every request must bear it (7.3.4)."""

# A document stands in the answer.
_MAX_DEPTH = 1 + MAX_DEPTH
_STRING = {"type": "string"}
_OBJECT = {"type": "object"}
_INSTANT = {
    "type": "string",
    "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}",
    "examples": ["2026-03-15T10:00:00Z"],
}
_COMMANDS = APPENDIX_A["properties"]["capabilities"]["properties"]["commands"]


def _all_of(**members: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(members), "properties": members}


def _response(result: Mapping[str, Any]) -> Specification:
    """Return the form of a successful response (WAB 5.2)."""
    kind = {"type": "string", "const": "success"}
    return Specification(_all_of(id=_STRING, type=kind, result=result))


_ANSWERS: Mapping[Method, Specification] = MappingProxyType(
    {
        "ping": _response(
            _all_of(
                status={"type": "string", "const": "ok"},
                timestamp=_INSTANT,
                version=_STRING,
            )
        ),
        "discover": _response(APPENDIX_A),
        "actions": _response(_COMMANDS),
        "context": _response(
            _all_of(
                version=_STRING,
                permissions=_OBJECT,
                session=_OBJECT,
                tier=_STRING,
                url=_STRING,
            )
        ),
    }
)
"""5.3."""
METHODS = tuple(_ANSWERS)


def verify_pong(body: bytes, url: str) -> None:
    """Verify that the bridge says that it runs, in its own words if need be.

    Many bridges answer the bare result, without the response around it.
    Raises: Refused `bridge_answer`.
    """
    answer = _parse(body, url)
    result = answer.get("result", answer) if isinstance(answer, dict) else None
    if not isinstance(result, dict) or result.get("status") != "ok":
        _deviate(url, "the status is not ok")


def verify_answer(method: Method, body: bytes, url: str) -> None:
    """Verify that it conforms to the letter of the specification.

    Raises: Refused `bridge_answer` with the first deviation.
    """
    ledger = DeviationLog(url=url)
    _ANSWERS[method].compare(Reader(_parse(body, url), "", ledger))
    for deviation in ledger.deviations:
        _deviate(url, f"{deviation.pointer or '/'}: {deviation.detail}", deviation.fix)


def _parse(body: bytes, url: str) -> JsonValue:
    try:
        return parse_json(body, max_depth=_MAX_DEPTH, max_bytes=MAX_BODY_BYTES)
    except RegistryError as error:
        _deviate(url, error.problem.detail)


def _deviate(url: str, detail: str, fix: str = "") -> NoReturn:
    raise Refused(refusals.BRIDGE_ANSWER, f"{url}: {detail}", fix=fix)
