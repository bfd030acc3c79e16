"""Error codes of WAB 1.0, Appendix B, for the problems of this registry."""

from collections.abc import Mapping
from http import HTTPStatus

_OF_PROBLEM: Mapping[str, str] = {
    "credentials_missing": "AUTHENTICATION_REQUIRED",
    "request_signature_invalid": "SIGNATURE_INVALID",
    "origin_mismatch": "ORIGIN_MISMATCH",
    "method_not_allowed": "INVALID_METHOD",
    "body_invalid": "INVALID_COMMAND",
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
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "BRIDGE_ERROR"
    return _OF_STATUS.get(status, "INVALID_PARAMS")
