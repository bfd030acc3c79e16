"""Calls and their answers without I/O: what is sent, what comes back, when to try again.

Both clients do as this says; nothing here waits, connects or reads a clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import msgspec

from registry.calls.failures import AnswerInvalid, refusal_of

T = TypeVar("T")
MAX_ANSWER_BYTES = 16 * 1024 * 1024
_MAX_SHOWN = 200
_REFUSED_FOR_NOW = frozenset({429, 503})
_FAILED_BETWEEN = frozenset({502, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """A request. path: with a leading slash. max_bytes: of the answer.

    is_repeatable: sending it twice does what sending it once does.
    """

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = True
    max_bytes: int = MAX_ANSWER_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiAnswer:
    """A response, whole. headers: names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    """Rule of when a call is made again.

    most: further tries. longest_pause_s: a registry that asks for a longer one is not
    waited for. first_pause_s: doubled with each try, where it names none.
    """

    most: int = 3
    longest_pause_s: float = 30.0
    first_pause_s: float = 0.25

    def pause_after(
        self, call: ApiCall, answer: ApiAnswer, tries: int, now: datetime
    ) -> float | None:
        """Return the seconds to wait, None if the answer stands. tries: so far."""
        is_refused = answer.status in _REFUSED_FOR_NOW
        is_lost = answer.status in _FAILED_BETWEEN and call.is_repeatable
        if tries > self.most or not (is_refused or is_lost):
            return None
        pause_s = retry_after_s(answer, now)
        if pause_s is None:
            pause_s = self._backoff(tries)
        return pause_s if pause_s <= self.longest_pause_s else None

    def pause_after_failure(
        self, call: ApiCall, tries: int, *, was_sent: bool
    ) -> float | None:
        """Return the seconds to wait, None to give up. was_sent: perhaps only in part."""
        if tries > self.most or (was_sent and not call.is_repeatable):
            return None
        return self._backoff(tries)

    def _backoff(self, tries: int) -> float:
        return min(self.first_pause_s * 2.0 ** (tries - 1), self.longest_pause_s)


NO_RETRIES = RetryRule(most=0)


def post_json(path: str, body: Any, *, key: str = "") -> ApiCall:
    """Make a call. key: of idempotency: with one, the call can be repeated."""
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Idempotency-Key"] = f'"{key}"'
    return ApiCall(
        method="POST",
        path=path,
        content=msgspec.json.encode(body),
        headers=headers,
        is_repeatable=bool(key),
    )


def post_jose(path: str, token: str) -> ApiCall:
    """Make a call with a signed statement, which counts once by its own number."""
    return ApiCall(
        method="POST",
        path=path,
        content=token.encode("ascii"),
        headers={"Content-Type": "application/jose"},
        is_repeatable=False,
    )


def decode(answer: ApiAnswer, shape: type[T]) -> T:
    """Return the body in its shape. Raises: ProblemAnswered, AnswerInvalid."""
    verify_success(answer)
    try:
        return msgspec.json.decode(answer.body, type=shape)
    except (ValueError, RecursionError) as error:
        detail = f"not the documented answer: {str(error)[:_MAX_SHOWN]}"
        raise AnswerInvalid(detail) from error


def verify_success(answer: ApiAnswer) -> None:
    """Raises: ProblemAnswered for a refusal, AnswerInvalid for what is neither."""
    if 200 <= answer.status < 300:
        return
    problem = None
    if answer.status >= 400:
        try:
            problem = msgspec.json.decode(answer.body, type=dict[str, Any])
        except (ValueError, RecursionError):
            problem = None
    if problem is None:
        if answer.status < 400:
            raise AnswerInvalid(f"HTTP {answer.status}, which no call answers")
        problem = {
            "code": "not_json",
            "detail": f"HTTP {answer.status} without a problem document",
        }
    wait_s = retry_after_s(answer, datetime.now(UTC))  # noqa: TID251 - for the message only
    raise refusal_of(problem, answer.status, wait_s)


def retry_after_s(answer: ApiAnswer, now: datetime) -> float | None:
    """Read Retry-After: seconds or a date (RFC 9110 §10.2.3); None without a sound one."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:10])
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        return None
    return max(0.0, (at - now).total_seconds())
