"""The error tree, and the problems that callers get.

A problem has a stable `code`, a `detail`, a `pointer` (an RFC 6901 JSON pointer, or the
name of a header or parameter) and a `fix`. Each package declares its `ProblemType`s in a
table, `refusals.toml`, and hands them on in its `refusals` module; this module is
independent of HTTP.
"""

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True)
class ProblemType:
    """A kind of problem, documented at `/problems/{code}`."""

    code: str
    title: str
    fix: str


def read_problem_types(package: str) -> Mapping[str, ProblemType]:
    """Return the kinds that the package's table declares, by name.

    A row has title and fix; its code is the name in small letters unless it has one.
    The package itself is not imported.
    """
    table = files("registry").joinpath("..", *package.split("."), "refusals.toml")
    rows = msgspec.toml.decode(table.read_bytes(), type=dict[str, dict[str, str]])
    return {
        name: ProblemType(**{"code": name.lower(), **row}) for name, row in rows.items()
    }


def lookup_in(kinds: Mapping[str, ProblemType]) -> Callable[[str], ProblemType]:
    """Return the `__getattr__` of a module that hands on these kinds by their names.

    Type checkers learn from it what the names stand for, and not which there are.
    """

    def find(name: str) -> ProblemType:
        if name in kinds:
            return kinds[name]
        raise AttributeError(f"refusals.toml has no {name}")

    return find


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem as the caller gets it."""

    code: str
    title: str
    detail: str
    pointer: str | None = None
    fix: str = ""

    @property
    def kind(self) -> ProblemType:
        """The problem's type, with the fix of this one."""
        return ProblemType(self.code, self.title, self.fix)


class RegistryError(Exception):
    """Base of all errors that callers get.

    Raise a subclass: `raise Refused(NONCE_UNKNOWN, "…", pointer="/jti")`. The detail
    defaults to the type's title, the fix to the type's. causes: what it comes from, where
    that is several.
    """

    def __init__(
        self,
        kind: ProblemType,
        detail: str = "",
        *,
        pointer: str | None = None,
        fix: str = "",
        retry_after_s: int | None = None,
        causes: tuple[Problem, ...] = (),
    ) -> None:
        self.problem = Problem(
            code=kind.code,
            title=kind.title,
            detail=detail or kind.title,
            pointer=pointer,
            fix=fix or kind.fix,
        )
        self.retry_after_s = retry_after_s
        self.causes = causes
        super().__init__(f"{kind.code}: {self.problem.detail}")

    @classmethod
    @contextmanager
    def on(
        cls,
        errors: type[Exception] | tuple[type[Exception], ...],
        kind: ProblemType,
        detail: str | Callable[[Any], str] = "",
        **members: Any,
    ) -> Iterator[None]:
        """Raise an error of this class in the place of others. detail: also as a function of them."""
        try:
            yield
        except errors as error:
            text = detail if isinstance(detail, str) else detail(error)
            raise cls(kind, text, **members) from error

    @property
    def code(self) -> str:
        return self.problem.code


def detail_of(error: RegistryError) -> str:
    return error.problem.detail


class Refused(RegistryError):
    """The input breaks a rule."""


class Unauthorized(RegistryError):
    """The caller's identity is missing or not proven."""


class Forbidden(RegistryError):
    """The caller lacks the permission."""


class NotFound(RegistryError):
    """The resource does not exist."""


class Conflict(RegistryError):
    """The input is valid but conflicts with the present state."""


class Unprocessable(RegistryError):
    """The input is valid, but not together with what the caller sent before."""


class PreconditionFailed(RegistryError):
    """The state is not the one that the caller named."""


class Gone(RegistryError):
    """The resource existed and was removed."""


class TooLarge(RegistryError):
    """The input exceeds a declared limit."""


class RateLimited(RegistryError):
    """The caller sent too many requests in too short a time."""


class Unavailable(RegistryError):
    """The service can not answer now; try again later."""


def root_cause(error: BaseException) -> str:
    """Return the name of the first cause, as DiskFullError; messages may hold queries."""
    while error.__cause__ is not None:
        error = error.__cause__
    return type(error).__name__


def traceback_summary(error: BaseException) -> dict[str, object]:
    """Return the class of the error, and the innermost frames as `file:line function`."""
    while isinstance(error, BaseExceptionGroup):  # the first says enough
        error = error.exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return {
        "kind": type(error).__name__,
        "at": [
            f"{'/'.join(frame.filename.split('/')[-2:])}:{frame.lineno} {frame.name}"
            for frame in frames
        ],
    }
