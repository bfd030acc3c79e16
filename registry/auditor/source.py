"""Sources of a log: a registry, a static copy behind a URL, or a folder.

What a source gives is not trusted; who reads it verifies every byte.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import quote, unquote, urlsplit

from registry.auditor.connections import Connections, NotAnswered
from registry.calls.api_call import (
    MAX_ANSWER_BYTES,
    ApiAnswer,
    ApiCall,
    decode,
    verify_success,
)
from registry.calls.failures import CallFailed, NotListed
from registry.calls.results import Json
from registry.identity.statements.detached_jws import HEADER as SIGNATURE_HEADER
from registry.tlog.follow import MAX_RESPONSE_BYTES

A = TypeVar("A")
T = TypeVar("T")
FETCHED_AT_ONCE = 6  # parts; one has 300 KB as a rule, and 16 MB at most
WHOLE_S, ANSWER_S = 120.0, 30.0
PAUSES_S = (0.2, 0.5, 1.0, 2.0, 4.0)  # before each new try
MAX_SIGNED_BYTES = 256 * 1024 * 1024
_AS_THEY_ARE = {"Accept-Encoding": "identity"}
_IN_PATHS = "%/?&=:,.~-_+!$'()*;@"


Fetch = Callable[[str], Awaitable[bytes | None]]


class LogUnreadable(Exception):
    """The log cannot be reached; the text says why. What was verified stays so."""

    summary = "The log can't be read"


class NotThere(LogUnreadable):
    """Absence of what was asked for, in a log or a registry that can be read."""

    summary = "Not there"


class LogSource(Protocol):
    """name: for people. fetch may be called while another fetch is under way."""

    name: str

    async def fetch(self, path: str) -> bytes | None:
        """The bytes at a path of the log, None if not there. Raises: LogUnreadable."""

    async def get_json(self, path: str) -> Json:
        """Return what the registry itself says, unproven. Raises: LogUnreadable."""

    async def signed_file(self, path: str) -> tuple[bytes, bytes]:
        """Return a detached JWS, not verified, and the body. Raises: LogUnreadable."""


class RemoteSource:
    """A log behind a URL, and what else its registry answers.

    whole_s: for a file with all its bytes, however they trickle. answer_s: for an answer.
    """

    def __init__(
        self, url: str, *, whole_s: float = WHOLE_S, answer_s: float = ANSWER_S
    ) -> None:
        """Raises: ValueError if it is no URL of a server."""
        self.name = url
        self._whole_s = whole_s
        self._answer_s = answer_s
        self._connections = Connections(url)
        self._threads = ThreadPoolExecutor(FETCHED_AT_ONCE, "log")

    async def fetch(self, path: str) -> bytes | None:
        cause = ""
        for pause_s in PAUSES_S:
            try:
                async with asyncio.timeout(self._whole_s):
                    return await self._wait(self._connections.get, path)
            except TimeoutError:
                cause = f"{path} was not there whole in {self._whole_s:g} s"
                break
            except NotAnswered as error:
                cause = f"{path}: {error}"
                if not error.is_passing:
                    break
            await asyncio.sleep(pause_s)
        raise LogUnreadable(f"{self.name}: {cause}")

    async def get_json(self, path: str) -> Json:
        return await self._read_answer(
            path, MAX_ANSWER_BYTES, partial(decode, shape=Json)
        )

    async def signed_file(self, path: str) -> tuple[bytes, bytes]:
        return await self._read_answer(path, MAX_SIGNED_BYTES, _signed)

    async def _read_answer(
        self, path: str, max_bytes: int, read: Callable[[ApiAnswer], T]
    ) -> T:
        try:
            return read(await self._answer(path, max_bytes))
        except CallFailed as error:
            kind = NotThere if isinstance(error, NotListed) else LogUnreadable
            raise kind(f"{self.name.rstrip('/')}{path}: {error}") from error

    async def _answer(self, path: str, max_bytes: int) -> ApiAnswer:
        """Ask once, and again if an idle connection had ended. Raises: NotAnswered."""
        call = ApiCall(
            method="GET",
            path=quote(path, safe=_IN_PATHS),
            headers=_AS_THEY_ARE,
            max_bytes=max_bytes,
        )
        try:
            async with asyncio.timeout(self._answer_s):
                try:
                    return await self._wait(self._connections.exchange, call)
                except NotAnswered as error:
                    if not error.is_passing:
                        raise
                return await self._wait(self._connections.exchange, call)
        except TimeoutError as error:
            detail = f"no answer in {self._answer_s:g} s"
            raise NotAnswered(detail, is_passing=True) from error

    async def _wait(self, get: Callable[[A, HTTPConnection], T], what: A) -> T:
        """Wait for a thread, and end what it waits for if nobody does any more."""
        loop, connection = asyncio.get_running_loop(), self._connections.take()
        try:
            return await loop.run_in_executor(self._threads, get, what, connection)
        except asyncio.CancelledError:
            self._connections.end(connection)
            raise

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._connections.close()


def _signed(answer: ApiAnswer) -> tuple[bytes, bytes]:
    verify_success(answer)
    return answer.headers.get(SIGNATURE_HEADER.lower(), "").encode(), answer.body


class Ahead:
    """Parts of a log, fetched some way ahead of their use.

    paths: in the order in which they will be asked for; some may be left out.
    """

    def __init__(self, fetch: Fetch, paths: Iterator[str]) -> None:
        self._fetch = fetch
        self._paths = paths
        self._coming: deque[tuple[str, asyncio.Task[bytes | None]]] = deque()

    async def take(self, path: str) -> bytes | None:
        """Return the file at the path, fetched already if it was foreseen."""
        self._fill()
        if path not in [coming for coming, _ in self._coming]:
            return await self._fetch(path)
        while True:
            foreseen, task = self._coming.popleft()
            if foreseen == path:
                self._fill()
                return await task
            task.cancel()

    async def close(self) -> None:
        tasks = [task for _, task in self._coming]
        self._coming.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _fill(self) -> None:
        while len(self._coming) < FETCHED_AT_ONCE:
            path = next(self._paths, None)
            if path is None:
                return
            task = asyncio.ensure_future(self._fetch(path))
            self._coming.append((path, task))


class FolderSource:
    """A log published as files."""

    def __init__(self, folder: Path) -> None:
        """Raises: LogUnreadable."""
        if not folder.is_dir():
            raise LogUnreadable(f"{folder} is no folder")
        self.name = str(folder)
        self._folder = folder

    async def fetch(self, path: str) -> bytes | None:
        try:
            with (self._folder / path).open("rb") as file:
                data = file.read(MAX_RESPONSE_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise LogUnreadable(str(error)) from error
        if len(data) > MAX_RESPONSE_BYTES:
            raise LogUnreadable(f"{path} is too large for a log")
        return data

    async def get_json(self, path: str) -> Json:
        raise self._no_registry(path)

    async def signed_file(self, path: str) -> tuple[bytes, bytes]:
        raise self._no_registry(path)

    def _no_registry(self, path: str) -> LogUnreadable:
        return LogUnreadable(f"{self.name} is files, and no registry for {path}")


@asynccontextmanager
async def open_source(url: str) -> AsyncIterator[LogSource]:
    """url: http(s)://…, file:///… or a path. Raises: LogUnreadable if it is no URL."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"}:
        yield FolderSource(Path(unquote(parts.path) if parts.scheme == "file" else url))
        return
    try:
        served = RemoteSource(url)
    except ValueError as error:
        raise LogUnreadable(f"{url} is no URL: {error}") from error
    with closing(served):
        yield served
