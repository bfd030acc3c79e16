"""Connections that are kept, for thousands of small files from one server.

`http.client` in threads: a reader of a whole log does little else than this, and httpx
needs ten times the CPU time for a file (docs/decisions/0041).
"""

import http.client
import os
import queue
import ssl
import zlib
from contextlib import suppress
from http import HTTPStatus
from socket import SHUT_RDWR, socket
from urllib.parse import urlsplit

import certifi

from registry.calls.api_call import ApiAnswer, ApiCall
from registry.calls.failures import CallFailed
from registry.tlog.follow import MAX_RESPONSE_BYTES

TIMEOUT_S = 30.0
HEADERS = {"Accept-Encoding": "gzip", "User-Agent": "fair-registry-audit"}
_GZIP = 31  # zlib's number for a gzip header and the widest window


class NotAnswered(CallFailed):
    """is_passing: whether it may go well a moment later."""

    def __init__(self, detail: str, *, is_passing: bool) -> None:
        self.is_passing = is_passing
        super().__init__(detail)


class Connections:
    """Connections to the server of a URL. Its calls block, and may be of several threads."""

    def __init__(self, url: str) -> None:
        """Raises: ValueError if it is no URL of a server."""
        parts = urlsplit(url)
        if not parts.hostname:
            raise ValueError("no host")
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._tls = _trusted() if parts.scheme == "https" else None
        self._sockets: dict[http.client.HTTPConnection, socket] = {}
        self._idle: queue.LifoQueue[http.client.HTTPConnection] = queue.LifoQueue()

    def get(
        self, path: str, connection: http.client.HTTPConnection | None = None
    ) -> bytes | None:
        """Get a file of a log; None for "not found". Raises: NotAnswered."""
        most = MAX_RESPONSE_BYTES
        call = ApiCall(method="GET", path=f"/{path}", headers=HEADERS, max_bytes=most)
        return _body(self.exchange(call, connection))

    def exchange(
        self, call: ApiCall, connection: http.client.HTTPConnection | None = None
    ) -> ApiAnswer:
        """Return the answer, whatever its status. Raises: NotAnswered."""
        connection = connection or self.take()
        try:
            url = self._prefix + call.path
            connection.request(call.method, url, headers=call.headers)
            # A connection lets go of it when its answer is to end with it.
            self._sockets[connection] = connection.sock
            answer = connection.getresponse()
            body = answer.read(call.max_bytes + 1)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            self.close()  # the server may have ended all that were idle
            raise NotAnswered(repr(error), is_passing=True) from error
        finally:
            self._sockets.pop(connection, None)
        if answer.isclosed():
            self._idle.put(connection)
        else:
            connection.close()
        if len(body) > call.max_bytes:
            raise NotAnswered(f"more than {call.max_bytes} bytes", is_passing=False)
        if answer.length:
            raise NotAnswered("the answer is cut off", is_passing=True)
        headers = {name.lower(): text for name, text in answer.headers.items()}
        return ApiAnswer(status=answer.status, headers=headers, body=body)

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


def _trusted() -> ssl.SSLContext:
    """Trust the authorities of certifi, or those that OpenSSL's variables name."""
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context()
    return ssl.create_default_context(cafile=certifi.where())


def _body(answer: ApiAnswer) -> bytes | None:
    if answer.status == HTTPStatus.NOT_FOUND:
        return None
    if answer.status != HTTPStatus.OK:
        is_passing = answer.status in {408, 429} or answer.status >= 500
        raise NotAnswered(f"HTTP {answer.status}", is_passing=is_passing)
    if answer.headers.get("content-encoding", "") != "gzip":
        return answer.body
    inflate = zlib.decompressobj(_GZIP)
    try:
        whole = inflate.decompress(answer.body, MAX_RESPONSE_BYTES + 1)
    except zlib.error as error:
        raise NotAnswered("broken gzip", is_passing=False) from error
    if len(whole) > MAX_RESPONSE_BYTES or not inflate.eof:
        raise NotAnswered("broken or endless gzip", is_passing=False)
    return whole
