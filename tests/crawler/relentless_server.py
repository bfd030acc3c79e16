"""Server that never pauses: a thread that keeps the socket full, whatever is read.

Handlers on the test's own event loop can't: they stand still while the crawler works.
"""

import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass

RECORD_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Endless:
    """Response without end. record_bytes: of a TLS record; blob: sent over and over."""

    head: bytes
    blob: bytes
    record_bytes: int = RECORD_BYTES


class RelentlessServer:
    def __init__(self, context: ssl.SSLContext, response: Endless) -> None:
        self._context = context
        self._response = response
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    def close(self) -> None:
        """Once nobody is connected any more."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(timeout=10)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self._context.wrap_bio(incoming, outgoing, server_side=True)
        is_asked = False
        while not is_asked:
            try:
                tls.do_handshake()
                is_asked = bool(tls.read(RECORD_BYTES))
            except ssl.SSLWantReadError:
                connection.sendall(outgoing.read())
                incoming.write(connection.recv(RECORD_BYTES))
        tls.write(self._response.head)
        while True:
            blob, size = self._response.blob, self._response.record_bytes
            for start in range(0, len(blob), size):
                tls.write(blob[start : start + size])
            connection.sendall(outgoing.read())
