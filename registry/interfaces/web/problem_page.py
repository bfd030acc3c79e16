"""Problems as pages, for browsers at addresses that belong to no face for programs."""

from typing import Any

import msgspec
from litestar import Response

from registry.interfaces.http.problems import (
    EXCEPTION_HANDLERS,
    AnyRequest,
    ProblemDocument,
    ProblemResponse,
    respond_to,
)
from registry.interfaces.web.rendering import page

FOR_PROGRAMS = ("/v1/", "/ard/", "/api/", "/mcp", "/ws", "/health/", "/tile/")


def respond_to_visitor(request: AnyRequest, error: Exception) -> Response[Any]:
    response = respond_to(error, request)
    if request.scope["path"].startswith(FOR_PROGRAMS):
        return response
    shown = _page_of(response) if _is_browser(request) else response
    shown.headers["Vary"] = "Accept"
    return shown


PAGE_EXCEPTION_HANDLERS: dict[int | type[Exception], Any] = dict.fromkeys(
    EXCEPTION_HANDLERS, respond_to_visitor
)


def _is_browser(request: AnyRequest) -> bool:
    """Return whether a page is accepted by name, and JSON is not."""
    accepted = request.headers.get("Accept", "").lower()
    return "text/html" in accepted and "json" not in accepted


def _page_of(response: ProblemResponse) -> Response[str]:
    problem = msgspec.json.decode(response.content, type=ProblemDocument)
    shown = page("refusal.html", problem.status, refusal=problem)
    shown.headers.update(response.headers)
    return shown
