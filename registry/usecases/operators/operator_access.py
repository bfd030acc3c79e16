"""Authentication of operators: by an API key or by a signature of the request.

Keys are looked up in the database and remembered for a few seconds, so that most
requests ask it nothing, and a key that was taken away is refused everywhere within
that time.
"""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from registry.db import operators
from registry.db.engine.engines import Engine, reading
from registry.errors import Refused, Unauthorized, detail_of
from registry.identity.keys.api_key import digest_api_key
from registry.identity.keys.jwk import parse_jwk
from registry.identity.keys.public_keys import PublicKey
from registry.identity.requests.operator_request import (
    MAX_SKEW_S,
    SignedRequest,
    UsedNonce,
    key_of,
    verify_request,
)
from registry.usecases import refusals
from registry.usecases.ids import Clock

LIFE_S = 5.0
MAX_CACHED = 4_096

K = TypeVar("K")
V = TypeVar("V")


@dataclass
class LookupCache(Generic[K, V]):
    """Cache of a look-up for `LIFE_S`; the oldest entry goes first.

    Misses are not cached: a client that guesses keys would fill the cache.
    clock: seconds, monotonic.
    """

    look_up: Callable[[K], Awaitable[V | None]]
    clock: Callable[[], float] = time.monotonic
    _entries: OrderedDict[K, tuple[float, V]] = field(default_factory=OrderedDict)

    async def find(self, key: K) -> V | None:
        known = self._entries.get(key)
        if known is not None and self.clock() < known[0]:
            return known[1]
        ends_at = self.clock() + LIFE_S
        value = await self.look_up(key)
        self._entries.pop(key, None)
        if value is not None:
            self._entries[key] = (ends_at, value)
            if len(self._entries) > MAX_CACHED:
                self._entries.popitem(last=False)
        return value


class OperatorAccess:
    """engine: of the role of the web processes."""

    def __init__(
        self,
        engine: Engine,
        clock: Clock,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._by_digest = LookupCache(self._find_by_digest, monotonic_s)
        self._by_kid = LookupCache(self._find_by_kid, monotonic_s)

    async def of_api_key(self, api_key: str) -> str:
        """The operator's id. Raises: Unauthorized."""
        kind, detail = refusals.CREDENTIALS_INVALID, "An API key {}.".format
        with Unauthorized.on(ValueError, kind, detail, pointer="Authorization"):
            digest = digest_api_key(api_key)
        return await self.of_digest(digest)

    async def of_digest(self, digest: bytes) -> str:
        """The operator's id by the digest of its API key. Raises: Unauthorized."""
        operator_id = await self._by_digest.find(digest)
        if operator_id is None:
            raise Unauthorized(refusals.OPERATOR_KEY_UNKNOWN, pointer="Authorization")
        return operator_id

    async def of_signature(self, request: SignedRequest) -> str:
        """The operator's id, once for each signature. Raises: Unauthorized."""
        now = self._clock()
        kind = refusals.REQUEST_SIGNATURE_INVALID
        with Unauthorized.on(Refused, kind, detail_of, pointer="Signature"):
            known = await self._by_kid.find(key_of(request))
            if known is None:
                raise Unauthorized(
                    refusals.OPERATOR_KEY_UNKNOWN, pointer="Signature-Input"
                )
            operator_id, key = known
            used = verify_request(request, key, now=int(now.timestamp()))
        await self._use(operator_id, used, now)
        return operator_id

    async def _use(self, operator_id: str, used: UsedNonce, now: datetime) -> None:
        """Use up the nonce, remembered longer for processes whose clocks are behind."""
        expires = datetime.fromtimestamp(used.expires, UTC)
        forgotten_at = expires + timedelta(seconds=MAX_SKEW_S)
        async with reading(self._engine).connect() as connection:
            fresh = await operators.use_nonce(
                connection, operator_id, used.nonce, forgotten_at, now
            )
        if not fresh:
            raise Unauthorized(refusals.REQUEST_REPLAYED, pointer="Signature-Input")

    async def _find_by_digest(self, digest: bytes) -> str | None:
        async with reading(self._engine).connect() as connection:
            return await operators.operator_of_api_key(connection, digest)

    async def _find_by_kid(self, kid: str) -> tuple[str, PublicKey] | None:
        async with reading(self._engine).connect() as connection:
            row = await operators.operator_of_kid(connection, kid)
        return None if row is None else (row[0], parse_jwk(dict(row[1])))
