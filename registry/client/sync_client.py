"""The client for programs without an event loop of their own.

It runs `AsyncClient` on a loop in a thread of its own. So there is one implementation,
a call ends in its time whatever the registry does, and it works within a notebook too.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from registry.client.async_client import DEFAULT_URL, AsyncClient

T = TypeVar("T")
P = ParamSpec("P")


def _blocking(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate["Client", P], T]:
    """Return the method of the other client as one that waits for its end."""

    @wraps(method)
    def call(self: "Client", /, *args: P.args, **options: P.kwargs) -> T:
        return self.run(method(self.other, *args, **options))

    return call


def _iterating(
    method: Callable[Concatenate[AsyncClient, P], AsyncIterator[T]],
) -> Callable[Concatenate["Client", P], Iterator[T]]:
    """Return the iterator of the other client as one that waits for each item."""

    @wraps(method)
    def call(self: "Client", /, *args: P.args, **options: P.kwargs) -> Iterator[T]:
        items = method(self.other, *args, **options)

        async def following() -> T:
            return await anext(items)

        while True:
            try:
                item = self.run(following())
            except StopAsyncIteration:
                return
            yield item

    return call


class Client:
    """A registry, from the side of those who use it; for the options see `AsyncClient`.

    To be closed, or used with `with`.
    """

    def __init__(self, base_url: str = DEFAULT_URL, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self.other = AsyncClient(base_url, **options)
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="fair-registry client", daemon=True
        )
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self.run(self.other.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    search = _blocking(AsyncClient.search)
    pages = _iterating(AsyncClient.pages)
    select = _blocking(AsyncClient.select)
    explain = _blocking(AsyncClient.explain)
    erase = _blocking(AsyncClient.erase)
    site = _blocking(AsyncClient.site)
    document = _blocking(AsyncClient.document)
    sites = _iterating(AsyncClient.sites)
    register = _blocking(AsyncClient.register)
    update = _blocking(AsyncClient.update)
    withdraw = _blocking(AsyncClient.withdraw)
    rotate = _blocking(AsyncClient.rotate)
    revoke = _blocking(AsyncClient.revoke)
    verify = _blocking(AsyncClient.verify)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        pending = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return pending.result()
        except BaseException:
            pending.cancel()  # of a keyboard interrupt, the call too
            raise
