"""Problems as pages, for browsers at addresses that belong to no face for programs."""

from collections.abc import Callable
from typing import Any

import msgspec
from litestar import Response

from registry.interfaces.http.problems import (
    EXCEPTION_HANDLERS,
    AnyRequest,
    ProblemDocument,
    ProblemResponse,
)
from registry.interfaces.web.rendering import page

FOR_PROGRAMS = ("/v1/", "/ard/", "/api/", "/mcp", "/ws", "/health/", "/tile/")

Handler = Callable[[AnyRequest, Any], ProblemResponse]


def _for_browsers(handle: Handler) -> Callable[[AnyRequest, Any], Response[Any]]:
    def answer(request: AnyRequest, error: Any) -> Response[Any]:
        response = handle(request, error)
        if request.scope["path"].startswith(FOR_PROGRAMS):
            return response
        shown = _page_of(response) if _is_browser(request) else response
        shown.headers["Vary"] = "Accept"
        return shown

    return answer


PAGE_EXCEPTION_HANDLERS: dict[int | type[Exception], Any] = {
    kind: _for_browsers(handle) for kind, handle in EXCEPTION_HANDLERS.items()
}


def _is_browser(request: AnyRequest) -> bool:
    """Return whether a page is accepted by name, and JSON is not."""
    accepted = request.headers.get("Accept", "").lower()
    return "text/html" in accepted and "json" not in accepted


def _page_of(response: ProblemResponse) -> Response[str]:
    problem = msgspec.json.decode(response.content, type=ProblemDocument)
    shown = page("refusal.html", problem.status, refusal=problem)
    shown.headers.update(response.headers)
    return shown
