"""Error codes of WAB 1.0, Appendix B, for the problems of this registry."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec

from registry.toml_table import read_table


class _Table(msgspec.Struct, frozen=True):
    of_problem: Mapping[str, str]
    of_status: Mapping[str, str]
    http_status: Mapping[str, int]


_TABLE = read_table(__package__, "wab_codes.toml", _Table)


def wab_code_of(code: str, status: int) -> str:
    """Return the code that is nearest. code: of the problem; status: of its answer.

    Sites and rankings that do not exist are INVALID_PARAMS: Appendix B knows no 404 but
    of actions and selectors.
    """
    if code in _TABLE.of_problem:
        return _TABLE.of_problem[code]
    if code.startswith("json_"):
        return "INVALID_COMMAND"
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "BRIDGE_ERROR"
    return _TABLE.of_status.get(str(status), "INVALID_PARAMS")


_DETAILS = ("code", "pointer", "fix")


def wab_error(problem: Mapping[str, Any], retry_after: str | None) -> dict[str, Any]:
    """Return a problem document as an error of Appendix B. retry_after: the header's."""
    error: dict[str, Any] = {
        "code": wab_code_of(problem["code"], problem["status"]),
        "message": problem["detail"],
        "details": {name: problem[name] for name in _DETAILS if name in problem},
    }
    if retry_after:
        error["retryAfter"] = int(retry_after)
    return error


def http_status_of(code: str, status: int) -> int:
    """Return the status that Appendix B gives a code. status: of the problem itself.

    It stays where Appendix B has only a 500: that would blame the bridge for a mistake
    of the caller's, or call permanent what passes.
    """
    if code in {"EXECUTION_FAILED", "BRIDGE_ERROR", "TIMEOUT"}:
        return status
    return _TABLE.http_status.get(code, HTTPStatus.BAD_REQUEST)
