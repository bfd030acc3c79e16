"""Slots of event streams: each keeps a connection and asks the database again and again.

Both limits are of one process. A client without a slot can poll instead.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Receive, Scope, Send
from typing_extensions import override

from registry.errors import RateLimited, Unavailable
from registry.interfaces.http.client_networks import client_of, networks_of
from registry.interfaces.http.refusals import STREAMS_TAKEN, TOO_MANY_STREAMS

STREAMS = 100
STREAMS_OF_CLIENT = 4
SOCKETS = 1_000
SOCKETS_OF_CLIENT = 16
TOGETHER = 4
"""Times a client's: the streams of an IPv6 /48."""
RETRY_AFTER_S = 20


class StreamSlots:
    """Slots for `streams` at once, `of_client` of them for one network."""

    def __init__(
        self, streams: int = STREAMS, of_client: int = STREAMS_OF_CLIENT
    ) -> None:
        self._streams = streams
        self._of_client = of_client
        self._open: Counter[str] = Counter()
        self._in_all = 0

    @contextmanager
    def slot(self, address: str) -> Iterator[None]:
        """Hold a slot. Raises: RateLimited, Unavailable."""
        networks = networks_of(address)
        for network, most in zip(networks, (1, TOGETHER), strict=False):
            if self._open[network] >= most * self._of_client:
                raise RateLimited(TOO_MANY_STREAMS, retry_after_s=RETRY_AFTER_S)
        if self._in_all >= self._streams:
            raise Unavailable(STREAMS_TAKEN, retry_after_s=RETRY_AFTER_S)
        self._in_all += 1
        self._open.update(networks)
        try:
            yield
        finally:
            self._in_all -= 1
            self._open.subtract(networks)
            self._open += Counter()  # without those at zero


class LimitedStream(ASGIMiddleware):
    """Middleware of handlers that stream: a slot is held until the answer has ended."""

    scopes = (ScopeType.HTTP,)

    @override
    async def handle(
        self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp
    ) -> None:
        services = scope["litestar_app"].state.services
        with ExitStack() as held:
            try:
                held.enter_context(services.streams.slot(client_of(scope)))
            except RateLimited:
                await services.limits.hold_up()
                raise
            await next_app(scope, receive, send)
