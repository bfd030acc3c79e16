"""Connections that are kept, for thousands of small files from one server.

`http.client` in threads: a reader of a whole log does little else than this, and httpx
needs ten times the CPU time for a file (docs/decisions/0041).
"""

import http.client
import queue
import zlib
from contextlib import suppress
from http import HTTPStatus
from socket import SHUT_RDWR, socket
from urllib.parse import urlsplit

import httpx

from registry.tlog.follow import MAX_RESPONSE_BYTES

TIMEOUT_S = 30.0
HEADERS = {"Accept-Encoding": "gzip", "User-Agent": "fair-registry-audit"}
_GZIP = 31  # zlib's number for a gzip header and the widest window


class NotAnswered(Exception):
    """is_passing: whether it may go well a moment later."""

    def __init__(self, detail: str, *, is_passing: bool) -> None:
        self.is_passing = is_passing
        super().__init__(detail)


class Connections:
    """Connections to the server of a URL. `get` blocks, and may be called by several threads."""

    def __init__(self, url: str) -> None:
        """Raises: ValueError if it is no URL of a server."""
        parts = urlsplit(url)
        if not parts.hostname:
            raise ValueError("no host")
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._tls = httpx.create_ssl_context() if parts.scheme == "https" else None
        self._sockets: dict[http.client.HTTPConnection, socket] = {}
        self._idle: queue.LifoQueue[http.client.HTTPConnection] = queue.LifoQueue()

    def get(
        self, path: str, connection: http.client.HTTPConnection | None = None
    ) -> bytes | None:
        """Get a resource; None for "not found". Raises: NotAnswered."""
        connection = connection or self.take()
        try:
            connection.request("GET", f"{self._prefix}/{path}", headers=HEADERS)
            # A connection lets go of it when its answer is to end with it.
            self._sockets[connection] = connection.sock
            answer = connection.getresponse()
            body = answer.read(MAX_RESPONSE_BYTES + 1)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            self.close()  # the server may have ended all that were idle
            raise NotAnswered(f"{path}: {error!r}", is_passing=True) from error
        finally:
            self._sockets.pop(connection, None)
        if answer.isclosed():
            self._idle.put(connection)
        else:
            connection.close()
        if len(body) > MAX_RESPONSE_BYTES:
            raise NotAnswered(f"{path} is too large for a log", is_passing=False)
        if answer.length:
            raise NotAnswered(f"{path} is cut off", is_passing=True)
        return _body(path, answer, body)

    def close(self) -> None:
        with suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

    def end(self, connection: http.client.HTTPConnection) -> None:
        """End the wait of the thread that reads from it, perhaps a byte at a time."""
        if opened := self._sockets.get(connection):
            with suppress(OSError):
                opened.shutdown(SHUT_RDWR)

    def take(self) -> http.client.HTTPConnection:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            pass
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=TIMEOUT_S)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=TIMEOUT_S, context=self._tls
        )


def _body(path: str, answer: http.client.HTTPResponse, body: bytes) -> bytes | None:
    if answer.status == HTTPStatus.NOT_FOUND:
        return None
    if answer.status != HTTPStatus.OK:
        is_passing = answer.status in {408, 429} or answer.status >= 500
        raise NotAnswered(f"{path}: HTTP {answer.status}", is_passing=is_passing)
    if answer.headers.get("Content-Encoding", "") != "gzip":
        return body
    inflate = zlib.decompressobj(_GZIP)
    try:
        whole = inflate.decompress(body, MAX_RESPONSE_BYTES + 1)
    except zlib.error as error:
        raise NotAnswered(f"{path}: broken gzip", is_passing=False) from error
    if len(whole) > MAX_RESPONSE_BYTES or not inflate.eof:
        raise NotAnswered(f"{path}: broken or endless gzip", is_passing=False)
    return whole
