"""Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): a call with one takes effect once.

The answer is stored in the transaction of the effect, so either both are there or none.
A caller who repeats the call within a day gets it again: status, Location and body. A refusal
has no effect and is not stored. The key belongs to who sends it, the operator or else the
network, so that it neither reads nor blocks another's; a key that two of one network
share is distinguished by the body. Stored answers are encrypted: some hold an API key.
"""

import hashlib
import hmac
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import msgspec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from litestar import Response
from litestar.openapi.spec import Operation, Parameter, Schema
from litestar.openapi.spec.enums import OpenAPIType

from registry.db.engine.engines import Connection, Engine
from registry.db.idempotent_answers import (
    StoredAnswer,
    find_answer,
    lock_call,
    save_answer,
)
from registry.errors import Conflict, Refused, Unprocessable
from registry.interfaces.http import refusals
from registry.interfaces.http.client_networks import network_of
from registry.interfaces.http.credentials import Call
from registry.interfaces.http.services import Services

HEADER = "Idempotency-Key"
LIFETIME = timedelta(days=1)
NONCE_BYTES = 12

_KEY = re.compile(r'"([\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x7e]{1,255})')
KEY_PARAMETER = Parameter(
    name=HEADER,
    param_in="header",
    description="A value of your own, such as a UUID, new for each thing that is to be "
    "done. A repetition with the same key and body within a day takes no effect and gets "
    "the first answer; with another body it is refused (422), and while the first is "
    "still at work too (409).",
    schema=Schema(type=OpenAPIType.STRING, max_length=257),
)


class _Answer(msgspec.Struct, array_like=True):
    status: int
    headers: dict[str, str]
    body: bytes


class AnsweredBefore(Exception):
    """A call that has its answer already, which a handler of V1 gives again."""

    def __init__(self, answer: Response[Any]) -> None:
        self.answer = answer


class IdempotentCall:
    """A call within the transaction of its effect."""

    def __init__(
        self, request: Call, services: Services, connection: Connection, call: bytes
    ) -> None:
        self.connection = connection
        self._request = request
        self._services = services
        self._call = call
        self._digest = b""

    async def begin(self) -> None:
        """Raises: AnsweredBefore, Conflict, Unprocessable."""
        if not self._call:
            return
        self._digest = await _digest(self._request)
        if not await lock_call(self.connection, self._call):
            raise Conflict(refusals.IDEMPOTENCY_IN_FLIGHT, retry_after_s=1)
        stored = await find_answer(self.connection, self._call, self._services.clock())
        if stored is None:
            return
        if not hmac.compare_digest(stored.request, self._digest):
            raise Unprocessable(refusals.IDEMPOTENCY_KEY_REUSED, pointer=HEADER)
        raise AnsweredBefore(_response(_open(self._cipher, stored.answer, self._call)))

    async def answer(
        self, view: object, headers: Mapping[str, str] | None = None
    ) -> Response[Any]:
        """Return the answer; it is stored with the effect."""
        answer = _Answer(
            status=self._request.route_handler.status_code,
            headers=dict(headers or {}),
            body=msgspec.json.encode(view),
        )
        if self._call:
            await self._save(answer, self._services.clock())
        return _response(answer)

    async def _save(self, answer: _Answer, now: datetime) -> None:
        nonce = self._services.ids.random_bytes(NONCE_BYTES)
        sealed = nonce + self._cipher.encrypt(
            nonce, msgspec.msgpack.encode(answer), self._call
        )
        await save_answer(
            self.connection,
            self._call,
            StoredAnswer(self._digest, sealed),
            now=now,
            expires_at=now + LIFETIME,
        )

    @property
    def _cipher(self) -> AESGCM:
        key = self._services.web_key
        return AESGCM(hmac.digest(key, b"idempotent answer", hashlib.sha256))


@asynccontextmanager
async def idempotent(
    request: Call, services: Services, engine: Engine, operator: str | None = None
) -> AsyncIterator[IdempotentCall]:
    """Open the transaction of a call that was not answered before.

    operator: who makes it, as far as that is proven. Raises: AnsweredBefore, Refused,
    Conflict, Unprocessable.
    """
    key = read_key(request.headers.getall(HEADER, []))
    call = b"" if key is None else _name(request, services.web_key, operator, key)
    async with engine.begin() as connection:
        own = IdempotentCall(request, services, connection, call)
        await own.begin()
        yield own


def read_key(values: list[str]) -> str | None:
    """Return the key, quoted or bare; None where there is none. Raises: Refused."""
    if not values:
        return None
    matched = _KEY.fullmatch(values[0].strip()) if len(values) == 1 else None
    if matched is None:
        raise Refused(refusals.IDEMPOTENCY_KEY_INVALID, pointer=HEADER)
    return matched[1] or matched[2]


def takes_key(base: type[Operation] = Operation) -> type[Operation]:
    """Return the class of an operation that has the header among its parameters."""

    class IdempotentOperation(base):  # type: ignore[misc, valid-type]
        def to_schema(self) -> dict[str, Any]:
            schema: dict[str, Any] = super().to_schema()
            own = {**KEY_PARAMETER.to_schema(), "required": False}
            return {**schema, "parameters": [*schema.get("parameters", ()), own]}

    return IdempotentOperation


def _name(request: Call, web_key: bytes, operator: str | None, key: str) -> bytes:
    """Return the name of the caller's key, which tells neither."""
    caller = operator or network_of(request.scope)
    message = msgspec.msgpack.encode(["idempotent call", bool(operator), caller, key])
    return hmac.digest(web_key, message, hashlib.sha256)


async def _digest(request: Call) -> bytes:
    """Return what two calls have to have in common to be one."""
    scope = request.scope
    path = scope["raw_path"] or scope["path"].encode()
    head = msgspec.msgpack.encode([scope["method"], path, scope["query_string"]])
    return hashlib.sha256(head + await request.body()).digest()


def _open(cipher: AESGCM, sealed: bytes, call: bytes) -> _Answer:
    plain = cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], call)
    return msgspec.msgpack.decode(plain, type=_Answer)


def _response(answer: _Answer) -> Response[Any]:
    return Response(
        answer.body,
        status_code=answer.status,
        headers=answer.headers,
        media_type="application/json",
    )
