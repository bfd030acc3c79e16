"""Sources of a log: a registry, a static copy behind a URL, or a folder.

What a source gives is not trusted; who reads it verifies every byte.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

import httpx

from registry.auditor.connections import Connections, NotAnswered
from registry.client import CallFailed, Json, RegistryClient
from registry.tlog.follow import MAX_RESPONSE_BYTES

FETCHED_AT_ONCE = 6  # parts; one has 300 KB as a rule, and 16 MB at most
WHOLE_S = 120.0
PAUSES_S = (0.2, 0.5, 1.0, 2.0, 4.0)  # before each new try


Fetch = Callable[[str], Awaitable[bytes | None]]


class LogUnreadable(Exception):
    """The log cannot be reached; the text says why. What was verified stays so."""


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
    """A log behind a URL. client: of the same URL, for what else a registry answers.

    whole_s: for an answer with all its bytes, however they trickle.
    """

    def __init__(
        self, url: str, client: RegistryClient, *, whole_s: float = WHOLE_S
    ) -> None:
        self.name = url
        self._whole_s = whole_s
        self.client = client
        self._connections = Connections(url)
        self._threads = ThreadPoolExecutor(FETCHED_AT_ONCE, "log")

    async def fetch(self, path: str) -> bytes | None:
        cause = ""
        for pause_s in PAUSES_S:
            try:
                async with asyncio.timeout(self._whole_s):
                    return await self._get(path)
            except TimeoutError:
                cause = f"{path} was not there whole in {self._whole_s:g} s"
                break
            except NotAnswered as error:
                cause = str(error)
                if not error.is_passing:
                    break
            await asyncio.sleep(pause_s)
        raise LogUnreadable(f"{self.name}: {cause}")

    async def _get(self, path: str) -> bytes | None:
        loop, connection = asyncio.get_running_loop(), self._connections.take()
        get = partial(self._connections.get, path, connection)
        try:
            return await loop.run_in_executor(self._threads, get)
        except asyncio.CancelledError:
            self._connections.end(connection)
            raise

    async def get_json(self, path: str) -> Json:
        try:
            return await self.client.get(path)
        except CallFailed as error:
            raise LogUnreadable(f"{self._address(path)}: {error}") from error

    async def signed_file(self, path: str) -> tuple[bytes, bytes]:
        try:
            file = await self.client.report({}, path)
        except CallFailed as error:
            raise LogUnreadable(f"{self._address(path)}: {error}") from error
        return file.signature.encode(), file.body

    def _address(self, path: str) -> str:
        return self.name.rstrip("/") + path

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._connections.close()


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


def open_client(url: str) -> RegistryClient:
    """Raises: LogUnreadable if it is no URL."""
    try:
        Connections(url)
        return RegistryClient(url)
    except (ValueError, httpx.InvalidURL) as error:
        raise LogUnreadable(f"{url} is no URL: {error}") from error


@asynccontextmanager
async def open_source(url: str) -> AsyncIterator[LogSource]:
    """url: http(s)://…, file:///… or a path."""
    parts = urlsplit(url)
    if parts.scheme in {"http", "https"}:
        async with open_client(url) as client:
            with closing(RemoteSource(url, client)) as served:
                yield served
        return
    yield FolderSource(Path(unquote(parts.path) if parts.scheme == "file" else url))
