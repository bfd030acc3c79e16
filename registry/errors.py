"""The one error tree, and what a caller is told of a fault.

A fault has a stable `code`, says what happened (`detail`), where (`pointer`, an RFC 6901
JSON pointer or the name of a header or parameter) and the way out (`fix`). Each package
declares its `ProblemType`s in its own `refusals` module; nothing here knows HTTP.

* RegistryError
  * Refused         the input breaks a rule
  * Unauthorized    the caller says who it is and does not show it
  * Forbidden       the caller may not do this
  * NotFound        nothing here has that name
  * Conflict        the input is sound but the state speaks against it
  * Gone            it was here and no longer is
  * TooLarge        over a declared limit
  * RateLimited     too many in too short a time
  * Unavailable     not now; try again later
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProblemType:
    """A kind of fault: its page stands at `/problems/{code}`."""

    code: str
    title: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault as it is told."""

    code: str
    title: str
    detail: str
    pointer: str | None = None
    fix: str = ""


class RegistryError(Exception):
    """A fault with a name.

    Raise a leaf: `raise Refused(NONCE_UNKNOWN, "…", pointer="/jti")`. Without a detail
    the type's title stands for it, without a fix the type's own.
    """

    def __init__(
        self,
        kind: ProblemType,
        detail: str = "",
        *,
        pointer: str | None = None,
        fix: str = "",
        retry_after_s: int | None = None,
    ) -> None:
        self.problem = Problem(
            code=kind.code,
            title=kind.title,
            detail=detail or kind.title,
            pointer=pointer,
            fix=fix or kind.fix,
        )
        self.retry_after_s = retry_after_s
        super().__init__(f"{kind.code}: {self.problem.detail}")

    @property
    def code(self) -> str:
        return self.problem.code


class Refused(RegistryError):
    """The input breaks a rule."""


class Unauthorized(RegistryError):
    """The caller says who it is and does not show it."""


class Forbidden(RegistryError):
    """The caller may not do this."""


class NotFound(RegistryError):
    """Nothing here has that name."""


class Conflict(RegistryError):
    """The input is sound but the state speaks against it."""


class Gone(RegistryError):
    """It was here and no longer is."""


class TooLarge(RegistryError):
    """Over a declared limit."""


class RateLimited(RegistryError):
    """Too many in too short a time."""


class Unavailable(RegistryError):
    """Not now; try again later."""
