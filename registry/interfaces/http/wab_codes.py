"""Error codes of WAB 1.0, Appendix B, for the problems of this registry."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

_OF_PROBLEM: Mapping[str, str] = {
    "credentials_missing": "AUTHENTICATION_REQUIRED",
    "request_signature_invalid": "SIGNATURE_INVALID",
    "origin_mismatch": "ORIGIN_MISMATCH",
    "method_not_allowed": "INVALID_METHOD",
    "body_invalid": "INVALID_PARAMS",
    "command_invalid": "INVALID_COMMAND",
    "media_type_unsupported": "INVALID_COMMAND",
    "method_unknown": "INVALID_METHOD",
    "version_unsupported": "UNSUPPORTED_VERSION",
    "session_ended": "SESSION_EXPIRED",
    "command_signature_wrong": "SIGNATURE_INVALID",
    "command_repeated": "DUPLICATE_COMMAND_ID",
    "action_unknown": "ACTION_NOT_FOUND",
    "selector_unknown": "SELECTOR_NOT_FOUND",
    "selector_forbidden": "SELECTOR_BLOCKED",
    "others_action": "SANDBOX_VIOLATION",
}
_OF_STATUS: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "INVALID_TOKEN",
    HTTPStatus.FORBIDDEN: "PERMISSION_DENIED",
    HTTPStatus.REQUEST_TIMEOUT: "TIMEOUT",
    HTTPStatus.CONFLICT: "EXECUTION_FAILED",
    HTTPStatus.TOO_MANY_REQUESTS: "RATE_LIMITED",
}


def wab_code_of(code: str, status: int) -> str:
    """Return the code that is nearest. code: of the problem; status: of its answer.

    Sites and rankings that do not exist are INVALID_PARAMS: Appendix B knows no 404 but
    of actions and selectors.
    """
    if code in _OF_PROBLEM:
        return _OF_PROBLEM[code]
    if code.startswith("json_"):
        return "INVALID_COMMAND"
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "BRIDGE_ERROR"
    return _OF_STATUS.get(status, "INVALID_PARAMS")


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


_HTTP_STATUS: Mapping[str, HTTPStatus] = {
    "AUTHENTICATION_REQUIRED": HTTPStatus.UNAUTHORIZED,
    "INVALID_TOKEN": HTTPStatus.UNAUTHORIZED,
    "SESSION_EXPIRED": HTTPStatus.UNAUTHORIZED,
    "SIGNATURE_INVALID": HTTPStatus.UNAUTHORIZED,
    "PERMISSION_DENIED": HTTPStatus.FORBIDDEN,
    "ORIGIN_MISMATCH": HTTPStatus.FORBIDDEN,
    "SELECTOR_BLOCKED": HTTPStatus.FORBIDDEN,
    "SANDBOX_VIOLATION": HTTPStatus.FORBIDDEN,
    "ACTION_NOT_FOUND": HTTPStatus.NOT_FOUND,
    "SELECTOR_NOT_FOUND": HTTPStatus.NOT_FOUND,
    "DUPLICATE_COMMAND_ID": HTTPStatus.CONFLICT,
    "RATE_LIMITED": HTTPStatus.TOO_MANY_REQUESTS,
}


def http_status_of(code: str, status: int) -> int:
    """Return the status that Appendix B gives a code. status: of the problem itself.

    It stays where Appendix B has only a 500: that would blame the bridge for a mistake
    of the caller's, or call permanent what passes.
    """
    if code in {"EXECUTION_FAILED", "BRIDGE_ERROR", "TIMEOUT"}:
        return status
    return _HTTP_STATUS.get(code, HTTPStatus.BAD_REQUEST)
