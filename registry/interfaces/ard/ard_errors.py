"""Problems for ARD clients: with the members errorCode and message of its Appendix B."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import msgspec

from registry.interfaces.http.problems import (
    EXCEPTION_HANDLERS,
    AnyRequest,
    ProblemResponse,
)

_CODES = {
    HTTPStatus.UNAUTHORIZED: "UNAUTHENTICATED",
    HTTPStatus.FORBIDDEN: "UNAUTHENTICATED",
    HTTPStatus.NOT_FOUND: "NOT_FOUND",
    HTTPStatus.GONE: "NOT_FOUND",
    HTTPStatus.TOO_MANY_REQUESTS: "RATE_LIMIT_EXCEEDED",
}

Handler = Callable[[AnyRequest, Any], ProblemResponse]


def ard_code(status: int) -> str:
    """Return the code of Appendix B that is nearest to a status."""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "INTERNAL_ERROR"
    return _CODES.get(HTTPStatus(status), "INVALID_ARGUMENT")


def _with_code(handle: Handler) -> Handler:
    def answer(request: AnyRequest, error: Any) -> ProblemResponse:
        response = handle(request, error)
        document = msgspec.json.decode(response.content)
        status = response.status_code or HTTPStatus.INTERNAL_SERVER_ERROR
        members = {"errorCode": ard_code(status), "message": document["detail"]}
        response.content = msgspec.json.encode({**document, **members})
        return response

    return answer


ARD_EXCEPTION_HANDLERS: dict[int | type[Exception], Any] = {
    kind: _with_code(handle) for kind, handle in EXCEPTION_HANDLERS.items()
}
