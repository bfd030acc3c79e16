"""Sending of calls: one at a time, each within its time, its size and its retries."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from registry.calls.api_call import NO_RETRIES, ApiAnswer, ApiCall, RetryRule, decode
from registry.calls.failures import AnswerInvalid, CallFailed
from registry.calls.promise_file import keep_promise
from registry.calls.results import Json

T = TypeVar("T")
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
ENDED = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
"""Failures of a connection that its server may have ended because it was idle."""


class RegistryUnreachable(CallFailed, httpx.TransportError):
    """A registry that gave no answer: no connection, or not in time."""


class ApiConnection:
    """A connection to a registry.

    timeout_s: of a whole call with its answer, so that one that trickles ends too.
    operator: identifies the caller (`ApiKeyAuth`, `SigningAuth`); None: anonymous.
    promises: a file to which the promise of every answer is appended, for
    `fair-registry audit promises` to check later.
    Answers come as they are: what is compressed could be any size.
    """

    def __init__(
        self,
        base_url: str,
        *,
        timeout_s: float = 30.0,
        retries: RetryRule = NO_RETRIES,
        operator: httpx.Auth | None = None,
        promises: Path | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=base_url,
            timeout=timeout_s,
            auth=operator,
            headers={"Accept-Encoding": "identity"},
        )
        self._timeout_s = timeout_s
        self._retries = retries
        self._promises = promises

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    @property
    def base_url(self) -> str:
        return str(self._http.base_url)

    def _keep_promise(self, answer: Json) -> None:
        if self._promises:
            keep_promise(self._promises, self.base_url, answer)

    async def call(self, call: ApiCall, shape: type[T]) -> T:
        """Raises: ProblemAnswered, AnswerInvalid, RegistryUnreachable."""
        return decode(await self.send(call), shape)

    async def get_as(
        self, path: str, shape: type[T], params: Mapping[str, Any] | None = None
    ) -> T:
        return await self.call(
            ApiCall(method="GET", path=path, params=params or {}), shape
        )

    async def send(self, call: ApiCall) -> ApiAnswer:
        """Return the answer, whatever its status. Raises: AnswerInvalid, RegistryUnreachable."""
        tries = 0
        while True:
            tries += 1
            try:
                answer = await self._exchange(call)
            except (httpx.HTTPError, TimeoutError) as error:
                was_sent = not isinstance(error, NOT_SENT)
                pause_s = self._retries.pause_after_failure(
                    call, tries, was_sent=was_sent
                )
                if tries == 1 and call.is_repeatable and isinstance(error, ENDED):
                    pause_s = 0.0  # RFC 9110, section 9.2.2: once, with any rule
                if pause_s is None:
                    raise self._unreachable(call, error) from error
            else:
                now = datetime.now(UTC)  # noqa: TID251 - a client's now is now
                pause_s = self._retries.pause_after(call, answer, tries, now)
                if pause_s is None:
                    return answer
            await asyncio.sleep(pause_s)

    async def _exchange(self, call: ApiCall) -> ApiAnswer:
        async with (
            asyncio.timeout(self._timeout_s),
            self._http.stream(
                call.method,
                call.path,
                params=call.params or None,
                content=call.content,
                headers=call.headers,
            ) as response,
        ):
            coding = response.headers.get("Content-Encoding", "identity")
            if coding != "identity":
                raise AnswerInvalid(f"{coding[:40]!a} was not asked for")
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > call.max_bytes:
                    raise AnswerInvalid(f"more than {call.max_bytes} bytes")
            return ApiAnswer(
                status=response.status_code,
                headers={name.lower(): text for name, text in response.headers.items()},
                body=bytes(body),
            )

    def _unreachable(
        self, call: ApiCall, error: httpx.HTTPError | TimeoutError
    ) -> RegistryUnreachable:
        if isinstance(error, TimeoutError | httpx.TimeoutException):
            why = f"no answer in {self._timeout_s:g} s"
        else:
            why = str(error) or type(error).__name__
        request = self._http.build_request(call.method, call.path)
        return RegistryUnreachable(why, request=request)
