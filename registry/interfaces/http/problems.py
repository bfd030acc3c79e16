"""Faults as RFC 9457 problem documents: one table from error class to status."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.openapi import ResponseSpec

from registry import errors
from registry.db.engine import DatabaseError, is_away
from registry.errors import Problem, ProblemType, RegistryError
from registry.interfaces.http import refusals

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 2

STATUS: Mapping[type[RegistryError], HTTPStatus] = {
    errors.Refused: HTTPStatus.BAD_REQUEST,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.Gone: HTTPStatus.GONE,
    errors.TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.RateLimited: HTTPStatus.TOO_MANY_REQUESTS,
    errors.Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}

STATUS_DECLARED = (
    *STATUS.values(),
    HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.NOT_ACCEPTABLE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
)

_OF_STATUS: Mapping[int, ProblemType] = {
    404: refusals.NOT_FOUND,
    405: refusals.METHOD_NOT_ALLOWED,
    406: refusals.NOT_ACCEPTABLE,
    413: refusals.BODY_TOO_LARGE,
    415: refusals.MEDIA_TYPE_UNSUPPORTED,
    429: refusals.TOO_MANY_REQUESTS,
    503: refusals.DATABASE_UNAVAILABLE,
}

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


PROBLEMS: Mapping[int, ResponseSpec] = {
    status.value: ResponseSpec(
        ProblemDocument,
        generate_examples=False,
        description=status.phrase,
        media_type=MEDIA_TYPE,
    )
    for status in STATUS_DECLARED
}
"""For a handler's `responses`: what any call may answer beside its own status."""


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
    return Response(
        msgspec.json.encode(document),
        status_code=status,
        media_type=MEDIA_TYPE,
        headers=dict(headers or {}),
    )


def on_registry_error(_: AnyRequest, error: RegistryError) -> ProblemResponse:
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    headers = {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(error.retry_after_s)
    return problem_response(error.problem, status, headers=headers)


def on_validation_error(_: AnyRequest, error: ValidationException) -> ProblemResponse:
    """Litestar's word for a parameter or body of the wrong shape."""
    found = tuple(_validation_problems(error))
    first = found[0] if found else _problem(refusals.REQUEST_INVALID, error.detail)
    others = found if len(found) > 1 else ()
    return problem_response(first, HTTPStatus.BAD_REQUEST, others=others)


def on_http_error(_: AnyRequest, error: HTTPException) -> ProblemResponse:
    kind = _OF_STATUS.get(error.status_code, refusals.REQUEST_INVALID)
    headers = {
        name: value
        for name, value in (error.headers or {}).items()
        if name.lower() in {"allow", "retry-after"}
    }
    problem = _problem(kind, "")
    return problem_response(problem, error.status_code, headers=headers)


def on_database_error(request: AnyRequest, error: DatabaseError) -> ProblemResponse:
    """A database that is away is no mistake of ours; anything else is."""
    away = is_away(error)
    logger.error("database_failed", kind=type(error).__name__, away=away)
    return on_connection_error(request, error) if away else _internal(error)


def on_connection_error(_: AnyRequest, __: Exception) -> ProblemResponse:
    problem = _problem(refusals.DATABASE_UNAVAILABLE, "")
    headers = {"Retry-After": str(RETRY_AFTER_S)}
    return problem_response(problem, 503, headers=headers)


def on_recursion_error(_: AnyRequest, __: RecursionError) -> ProblemResponse:
    problem = _problem(refusals.BODY_INVALID, "the body is nested too deep")
    return problem_response(problem, HTTPStatus.BAD_REQUEST)


def on_any_error(_: AnyRequest, error: Exception) -> ProblemResponse:
    return _internal(error)


def _internal(error: Exception) -> ProblemResponse:
    # The message may hold what the caller sent, so only the kind and place are logged.
    logger.error("request_failed", kind=type(error).__name__, exc_info=error)
    problem = _problem(refusals.INTERNAL, "")
    return problem_response(problem, HTTPStatus.INTERNAL_SERVER_ERROR)


def _validation_problems(error: ValidationException) -> list[Problem]:
    found = error.extra if isinstance(error.extra, list) else []
    return [
        Problem(
            code=(kind := _kind_of(one)).code,
            title=kind.title,
            detail=str(one.get("message", kind.title)),
            pointer=_pointer_of(one),
            fix=kind.fix,
        )
        for one in found
        if isinstance(one, dict)
    ]


def _kind_of(one: Mapping[str, Any]) -> ProblemType:
    if str(one.get("source", "")) == "body":
        return refusals.BODY_INVALID
    return refusals.PARAMETER_INVALID


def _pointer_of(one: Mapping[str, Any]) -> str | None:
    key = one.get("key")
    if not key:
        return None
    if str(one.get("source", "")) == "body":
        return "/" + str(key).removeprefix("data.").replace(".", "/")
    return str(key)


def _problem(kind: ProblemType, detail: str) -> Problem:
    return Problem(
        code=kind.code, title=kind.title, detail=detail or kind.title, fix=kind.fix
    )


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
