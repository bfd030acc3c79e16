"""The client for programs without an event loop of their own.

It runs `AsyncClient` on a loop in a thread of its own. So there is one implementation,
a call ends in its time whatever the registry does, and it works within a notebook too.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

from registry.client.async_client import DEFAULT_URL, AsyncClient, Detail
from registry.client.results import (
    Json,
    ProvenInclusion,
    RankedResult,
    RecordReceipt,
    RegistrationState,
    SearchPage,
    ShortSite,
    WholeSite,
)
from registry.client.statements import KeyOrFile
from registry.formats.writing.forms import Form

T = TypeVar("T")


class Client:
    """A registry, from the side of those who use it; for the options see `AsyncClient`.

    To be closed, or used with `with`.
    """

    def __init__(self, base_url: str = DEFAULT_URL, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = AsyncClient(base_url, **options)
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
        self._run(self._client.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def search(
        self,
        q: str,
        *,
        city: str | None = None,
        country: str | None = None,
        detail: Detail | None = None,
        **parameters: Any,
    ) -> SearchPage:
        return self._run(
            self._client.search(
                q, city=city, country=country, detail=detail, **parameters
            )
        )

    def pages(self, q: str, **parameters: Any) -> Iterator[SearchPage]:
        return self._iterate(self._client.pages(q, **parameters))

    def select(
        self,
        answer: SearchPage | RecordReceipt,
        chosen: RankedResult | str | None,
        *,
        outcome: str | None = None,
    ) -> RecordReceipt:
        return self._run(self._client.select(answer, chosen, outcome=outcome))

    def explain(self, ranking: RecordReceipt | str) -> Json:
        return self._run(self._client.explain(ranking))

    def erase(self, ranking: RecordReceipt | str) -> Json:
        return self._run(self._client.erase(ranking))

    def site(self, host: str) -> WholeSite:
        return self._run(self._client.site(host))

    def document(self, host: str, form: Form) -> Json:
        return self._run(self._client.document(host, form))

    def sites(self, **filters: str | None) -> Iterator[ShortSite]:
        return self._iterate(self._client.sites(**filters))

    def register(
        self, host: str, key: KeyOrFile, *, wait_s: float = 30.0, **declared: Any
    ) -> RegistrationState:
        return self._run(self._client.register(host, key, wait_s=wait_s, **declared))

    def update(
        self, host: str, key: KeyOrFile, *, wait_s: float = 30.0, **declared: Any
    ) -> RegistrationState:
        return self._run(self._client.update(host, key, wait_s=wait_s, **declared))

    def withdraw(
        self, host: str, key: KeyOrFile, *, wait_s: float = 30.0
    ) -> RegistrationState:
        return self._run(self._client.withdraw(host, key, wait_s=wait_s))

    def rotate(
        self, host: str, key: KeyOrFile, next_kid: str, *, wait_s: float = 30.0
    ) -> RegistrationState:
        return self._run(self._client.rotate(host, key, next_kid, wait_s=wait_s))

    def revoke(
        self, host: str, key: KeyOrFile, revoked_kid: str, *, wait_s: float = 30.0
    ) -> RegistrationState:
        return self._run(self._client.revoke(host, key, revoked_kid, wait_s=wait_s))

    def verify(
        self, receipt: RecordReceipt, *, wait_s: float = 30.0
    ) -> ProvenInclusion:
        return self._run(self._client.verify(receipt, wait_s=wait_s))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        pending = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return pending.result()
        except BaseException:
            pending.cancel()  # of a keyboard interrupt, the call too
            raise

    def _iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        async def following() -> T:
            return await anext(items)

        while True:
            try:
                item = self._run(following())
            except StopAsyncIteration:
                return
            yield item
