"""The rest of a body that an answer did not wait for, such as a refusal.

What is left unread would end the connection: the server can't find the next request
behind it. A client that is not informed sends its next request into the close, and a
close with unread bytes resets the connection, maybe before the answer was read
(RFC 9112, section 9.6). So a small rest is read before the answer; else the answer
says `Connection: close`, and some of the rest is read after it.
"""

import asyncio
from contextlib import suppress
from typing import Any

from litestar.types import Receive, Scope

from registry.interfaces.http.strict import MAX_BODY_BYTES

REST_S = 1.0
LINGER_S, LINGER_BYTES = 2.0, 1 << 20


class UnreadBody:
    """The body of a request; `receive` stands for that of the server."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._headers = scope["headers"]
        self._receive = receive
        self._is_begun = self._is_read = False

    async def receive(self) -> Any:
        self._is_begun = True
        message: Any = await self._receive()
        self._is_read = not message.get("more_body")
        return message

    async def is_over(self) -> bool:
        """Return whether the next request may follow; read a small rest for that."""
        headers = dict(self._headers)
        length = headers.get(b"content-length", b"0")
        if self._is_read or (length == b"0" and b"transfer-encoding" not in headers):
            return True
        # To read would be to ask for what waits for 100 (Continue), and is not sent
        # after the answer; of a body that has stopped no more is waited for.
        is_coming = not self._is_begun and b"expect" not in headers
        if is_coming and int(length) <= MAX_BODY_BYTES:
            await self.skip(REST_S, MAX_BODY_BYTES)
        return self._is_read

    async def skip(self, most_s: float = LINGER_S, most: int = LINGER_BYTES) -> None:
        """Read what is left, for so long and so many bytes at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                while not self._is_read and most > 0:
                    most -= len((await self.receive()).get("body", b""))
