"""Failures of a call, each with what to do next.

All are `CallFailed`. A refusal has the registry's stable `code`; its class tells what
kind of refusal it is. An answer that is none, a proof that does not hold and a registry
that is not there are no refusals: nothing of theirs is believed.
"""

from collections.abc import Mapping
from typing import Any


class CallFailed(Exception):
    """Base of all that a call raises."""


class ProblemAnswered(CallFailed):
    """A refusal by the registry, with its problem document (RFC 9457).

    code: stable, explained at /problems/CODE. fix: what to do. pointer: where, or "".
    status: of HTTP, 0 if unknown. retry_after_s: when to try again, or None.
    """

    def __init__(
        self,
        problem: Mapping[str, Any],
        *,
        status: int = 0,
        retry_after_s: float | None = None,
    ) -> None:
        self.problem = dict(problem)
        self.status = status
        self.retry_after_s = retry_after_s
        super().__init__(f"{self.code}: {self.detail}")

    @property
    def code(self) -> str:
        return str(self.problem.get("code"))

    @property
    def detail(self) -> str:
        return str(self.problem.get("detail"))

    @property
    def fix(self) -> str:
        return str(self.problem.get("fix") or "")

    @property
    def pointer(self) -> str:
        return str(self.problem.get("pointer") or "")


class NotAdmitted(ProblemAnswered):
    """401, 403: the caller is not known, or may not do this."""


class NotListed(ProblemAnswered):
    """404, 410: there is no such thing, or it is there no more."""


class TooManyCalls(ProblemAnswered):
    """429: more than the limit; `retry_after_s` says when there is room."""


class RegistryBusy(ProblemAnswered):
    """5xx: the registry can't answer now."""


class AnswerInvalid(CallFailed):
    """An answer that is too large, no JSON, or not of the documented shape."""


class ProofFailed(CallFailed):
    """A promise or a proof does not hold: keep it, and tell an auditor."""


_OF_STATUS: Mapping[int, type[ProblemAnswered]] = {
    401: NotAdmitted,
    403: NotAdmitted,
    404: NotListed,
    410: NotListed,
    429: TooManyCalls,
}


def refusal_of(
    problem: Mapping[str, Any], status: int, retry_after_s: float | None
) -> ProblemAnswered:
    kind = _OF_STATUS.get(status, RegistryBusy if status >= 500 else ProblemAnswered)
    return kind(problem, status=status, retry_after_s=retry_after_s)
