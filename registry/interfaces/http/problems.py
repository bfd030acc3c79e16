"""Faults as RFC 9457 problem documents: one table from error class to status."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

import msgspec
import structlog
from litestar import Request, Response
from litestar.datastructures import Headers
from litestar.exceptions import HTTPException, ValidationException
from litestar.openapi import ResponseSpec

from registry import errors
from registry.db.engine.engines import DatabaseError, is_away
from registry.errors import (
    Problem,
    ProblemType,
    RegistryError,
    root_cause,
    traceback_summary,
)
from registry.interfaces.http import refusals
from registry.interfaces.http.strict import query_parameters, with_choices
from registry.observability import PROBLEMS
from registry.usecases.refusals import LINTS_BUSY, REPORTS_BUSY

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 2
LANGUAGE = "en"
"""Language of all texts, whatever Accept-Language says. Programs go by `code`."""

STATUS: Mapping[type[RegistryError], HTTPStatus] = {
    errors.Refused: HTTPStatus.BAD_REQUEST,
    errors.Unauthorized: HTTPStatus.UNAUTHORIZED,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.Unprocessable: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.Gone: HTTPStatus.GONE,
    errors.PreconditionFailed: HTTPStatus.PRECONDITION_FAILED,
    errors.TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.RateLimited: HTTPStatus.TOO_MANY_REQUESTS,
    errors.Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}

_OF_STATUS: Mapping[int, ProblemType] = {
    404: refusals.NOT_FOUND,
    405: refusals.METHOD_NOT_ALLOWED,
    408: refusals.BODY_LATE,
    413: refusals.BODY_TOO_LARGE,
    415: refusals.MEDIA_TYPE_UNSUPPORTED,
}

_TURNED_AWAY = (refusals.ANONYMOUS_TURNED_AWAY, refusals.STREAMS_TAKEN)
_EXPECTED = {kind.code for kind in (*_TURNED_AWAY, LINTS_BUSY, REPORTS_BUSY)}
"""Strangers can have these as often as they like: metrics count them, the log doesn't."""

AnyRequest = Request[Any, Any, Any]
ProblemResponse = Response[bytes]

logger = structlog.get_logger()


class ProblemDocument(msgspec.Struct, omit_defaults=True):
    """RFC 9457 §3.1, and ours: `code` is stable, `fix` is the way out."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    fix: str
    pointer: str | None = None
    errors: tuple[Problem, ...] = ()


def answer(description: str, kind: Any = dict[str, Any]) -> dict[int, ResponseSpec]:
    """Return the success of a handler's `responses`, where its return type tells no kind."""
    return {200: ResponseSpec(kind, generate_examples=False, description=description)}


def problem_response(
    problem: Problem,
    status: int,
    *,
    others: tuple[Problem, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> ProblemResponse:
    document = ProblemDocument(
        type=f"/problems/{problem.code}",
        title=problem.title,
        status=status,
        detail=problem.detail,
        code=problem.code,
        fix=problem.fix,
        pointer=problem.pointer,
        errors=others,
    )
    PROBLEMS.labels(problem.code).inc()
    return Response(
        msgspec.json.encode(document),
        status_code=status,
        media_type=MEDIA_TYPE,
        headers={"Content-Language": LANGUAGE, **(headers or {})},
    )


def status_of(error: RegistryError) -> HTTPStatus:
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def on_registry_error(_: AnyRequest, error: RegistryError) -> ProblemResponse:
    status = status_of(error)
    headers = {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(error.retry_after_s)
    if status == HTTPStatus.UNAUTHORIZED:  # RFC 9110, section 11.6.1
        headers["WWW-Authenticate"] = "Bearer"
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR and error.code not in _EXPECTED:
        logger.warning("request_turned_away", code=error.code)
    return problem_response(error.problem, status, others=error.causes, headers=headers)


def on_validation_error(
    request: AnyRequest, error: ValidationException
) -> ProblemResponse:
    """Translate Litestar's error for parameters of the wrong shape."""
    invalid = tuple(_validation_problems(request, error))
    first = invalid[0] if invalid else _problem(refusals.REQUEST_INVALID, error.detail)
    others = invalid if len(invalid) > 1 else ()
    return problem_response(first, HTTPStatus.BAD_REQUEST, others=others)


def on_http_error(_: AnyRequest, error: HTTPException) -> ProblemResponse:
    """Translate Litestar's error for a missing route or method, or a wrong size."""
    if error.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _internal(error)
    headers = {}
    if allowed := Headers(error.headers).get("Allow"):
        headers["Allow"] = allowed.replace("GET", "GET, HEAD")
    kind = _OF_STATUS.get(error.status_code, refusals.REQUEST_INVALID)
    # Other details than ours are the status once more, in words.
    detail = error.detail if kind is refusals.MEDIA_TYPE_UNSUPPORTED else ""
    return problem_response(_problem(kind, detail), error.status_code, headers=headers)


def on_database_error(request: AnyRequest, error: DatabaseError) -> ProblemResponse:
    """A database that is away is no mistake of ours; anything else is."""
    return on_connection_error(request, error) if is_away(error) else _internal(error)


def on_connection_error(_: AnyRequest, error: Exception) -> ProblemResponse:
    logger.warning("database_away", kind=root_cause(error))
    problem = _problem(refusals.DATABASE_UNAVAILABLE)
    headers = {"Retry-After": str(RETRY_AFTER_S)}
    return problem_response(problem, HTTPStatus.SERVICE_UNAVAILABLE, headers=headers)


def on_recursion_error(_: AnyRequest, __: RecursionError) -> ProblemResponse:
    problem = _problem(refusals.BODY_INVALID, "the body is nested too deep")
    return problem_response(problem, HTTPStatus.BAD_REQUEST)


def on_any_error(_: AnyRequest, error: Exception) -> ProblemResponse:
    return _internal(error)


def _internal(error: Exception) -> ProblemResponse:
    logger.error("request_failed", **traceback_summary(error))
    problem = _problem(refusals.INTERNAL)
    return problem_response(problem, HTTPStatus.INTERNAL_SERVER_ERROR)


def _validation_problems(
    request: AnyRequest, error: ValidationException
) -> Iterator[Problem]:
    parameters = query_parameters(request.route_handler)
    for message in error.extra if isinstance(error.extra, list) else ():
        key = str(message.get("key", ""))
        name, field = parameters.get(key, (key, None))
        detail = str(message.get("message", ""))
        if field is not None:
            detail = with_choices(detail, field.annotation)
        yield _problem(refusals.PARAMETER_INVALID, detail, name)


def _problem(kind: ProblemType, detail: str = "", pointer: str = "") -> Problem:
    return RegistryError(kind, detail, pointer=pointer or None).problem


EXCEPTION_HANDLERS: dict[int | type[Exception], Any] = {
    RegistryError: on_registry_error,
    ValidationException: on_validation_error,
    HTTPException: on_http_error,
    DatabaseError: on_database_error,
    ConnectionError: on_connection_error,
    TimeoutError: on_connection_error,
    RecursionError: on_recursion_error,
    Exception: on_any_error,
}


def respond_to(error: Exception, request: AnyRequest) -> ProblemResponse:
    """Return what the framework would answer, for those who go past it."""
    kind = next(row for row in type(error).__mro__ if row in EXCEPTION_HANDLERS)
    response: ProblemResponse = EXCEPTION_HANDLERS[kind](request, error)
    return response
