"""`registry.client` against registries that lie, trickle or fall silent."""

import asyncio
import gzip
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.client import (
    AnswerInvalid,
    AsyncClient,
    CallFailed,
    ProofFailed,
    RegistryUnreachable,
    RetryRule,
    TooManyCalls,
)
from registry.records.promise import format_promise, sign_promise
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from tests.waiting import PATIENCE_S

Answering = Callable[[asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
PAGE = b'{"ranking":{"id":"R.s"},"results":[]}'
QUICK = RetryRule(most=2, first_pause_s=0.01)
SIGNER = Signer(
    name="registry.test",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(b"p" * 32),
)
VKEY = format_vkey(SIGNER.verifier_key)


def whole(body: bytes, head: bytes = OK) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


@asynccontextmanager
async def served(*answers: Answering | bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that gives the answers in turn, then the last one. Yields its requests."""
    requests: list[bytes] = []
    turns = itertools.chain(answers, itertools.repeat(answers[-1]))
    tasks: set[asyncio.Task[None] | None] = set()

    async def connected(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        tasks.add(asyncio.current_task())
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].split(b"\r")[0]
            requests.append(head + await reader.readexactly(int(length or 0)))
            answer = next(turns)
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}", requests
    finally:
        server.close()
        for task in filter(None, tasks):
            task.cancel()


async def trickling_head(writer: asyncio.StreamWriter) -> None:
    writer.write(OK)
    for number in itertools.count():
        writer.write(b"X-%d: x\r\n" % number)
        await writer.drain()
        await asyncio.sleep(0.05)


async def trickling_body(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"Content-Length: 100000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


async def endless_body(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"\r\n[")
    while True:
        writer.write(b"0," * 32_768)
        await writer.drain()


async def bomb(writer: asyncio.StreamWriter) -> None:
    body = gzip.compress(b" " * 50_000_000)
    writer.write(whole(body, OK + b"Content-Encoding: gzip\r\n"))
    await writer.drain()


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3_600)


UNENDING = (silence, trickling_head, trickling_body)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        pytest.param(silence, RegistryUnreachable, id="silent"),
        pytest.param(trickling_head, RegistryUnreachable, id="a head without end"),
        pytest.param(trickling_body, RegistryUnreachable, id="a byte at a time"),
        pytest.param(endless_body, AnswerInvalid, id="a body without end"),
        pytest.param(bomb, AnswerInvalid, id="a bomb"),
        pytest.param(b"", RegistryUnreachable, id="closed at once"),
        pytest.param(b"SSH-2.0-x\r\n\r\n", RegistryUnreachable, id="another protocol"),
        pytest.param(
            OK + b"Content-Length: 99\r\n\r\n{", RegistryUnreachable, id="cut off"
        ),
        pytest.param(whole(b"<html>"), AnswerInvalid, id="a page"),
        pytest.param(whole(b'{"ranking":1}'), AnswerInvalid, id="another shape"),
        pytest.param(whole(b"[" * 1_000_000), AnswerInvalid, id="deep"),
        pytest.param(
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
            b"Content-Length: 0\r\n\r\n",
            AnswerInvalid,
            id="led elsewhere",
        ),
        pytest.param(
            whole(b"no", b"HTTP/1.1 500 X\r\n"), CallFailed, id="a fault without words"
        ),
    ],
)
async def test_a_lying_registry_ends_in_an_error_and_in_time(
    answer: Answering | bytes, kind: type[CallFailed]
) -> None:
    timeout_s = 1.0 if answer in UNENDING else PATIENCE_S
    async with served(answer) as (origin, _):
        rule = RetryRule(most=0)
        async with AsyncClient(origin, timeout_s=timeout_s, retries=rule) as client:
            begun = time.monotonic()
            with pytest.raises(CallFailed) as failed:
                await client.search("book a table")
            assert isinstance(failed.value, kind)
            assert time.monotonic() - begun < 30  # generous: the machine is shared


async def test_it_waits_as_long_as_it_is_told_and_then_asks_again() -> None:
    busy = whole(b'{"code":"rate_limited"}', b"HTTP/1.1 429 X\r\nRetry-After: 0\r\n")
    async with served(busy, busy, whole(PAGE)) as (origin, requests):
        async with AsyncClient(origin, retries=QUICK) as client:
            assert (await client.search("x")).ranking.id == "R.s"
        assert len(requests) == 3


async def test_it_does_not_wait_for_ever() -> None:
    busy = whole(
        b'{"code":"rate_limited"}', b"HTTP/1.1 429 X\r\nRetry-After: 999999\r\n"
    )
    async with served(busy) as (origin, requests):
        async with AsyncClient(origin) as client:
            with pytest.raises(TooManyCalls) as refused:
                await client.search("x")
        assert refused.value.retry_after_s == 999_999
        assert len(requests) == 1


async def test_a_selection_that_may_have_arrived_is_sent_again_under_one_key() -> None:
    receipt = json.dumps(promised()).encode()
    keys = whole(json.dumps({"verifierKey": VKEY, "promiseKey": VKEY}).encode())
    async with served(whole(PAGE), b"", b"", whole(receipt), keys) as (origin, heads):
        client = AsyncClient(origin, retries=QUICK)
        async with client:
            answer = await client.search("x")
            await client.select(answer, "shop.example")
    sent = [head for head in heads if head.startswith(b"POST /v1/selections")]
    named = {head.lower().partition(b"idempotency-key: ")[2][:38] for head in sent}
    assert (len(sent), len(named)) == (3, 1)
    assert b"" not in named


async def test_a_statement_that_may_have_arrived_is_not_sent_again() -> None:
    challenge = whole(b'{"nonce":"n","payload":{"seq":1}}')
    async with served(challenge, b"") as (origin, requests):
        client = AsyncClient(origin, retries=QUICK)
        async with client:
            with pytest.raises(RegistryUnreachable):
                await client.register("shop.test", SIGNER.private)
    assert len(requests) == 2


def promised(leaf: bytes = b"l" * 32, **changes: object) -> dict[str, object]:
    promise = sign_promise(leaf, datetime(2026, 11, 24, tzinfo=UTC), SIGNER.private)
    return {
        "id": "R",
        "leafHash": leaf.hex(),
        "promise": format_promise(promise),
        **changes,
    }


@pytest.mark.parametrize(
    "ranking",
    [
        promised(leafHash=(b"m" * 32).hex()),
        promised(leafHash="zz"),
        promised(leafHash=""),
        promised(promise={"time": "x", "keyId": "x", "signature": "x"}),
        promised(promise={"time": "", "keyId": "", "signature": "\u0000"}),
    ],
)
async def test_a_promise_that_does_not_hold_is_no_promise(
    ranking: dict[str, object],
) -> None:
    page = json.dumps({"ranking": ranking, "results": []}).encode()
    async with served(whole(page)) as (origin, _):
        client = AsyncClient(origin, log_key=VKEY, promise_key=VKEY)
        async with client:
            with pytest.raises(ProofFailed):
                await client.search("x", detail="full")


@pytest.mark.parametrize(
    "proof", ["", "c2sp.org/tlog-proof@v1\nindex 0\n\nx\n", "\n\n"]
)
async def test_a_proof_that_is_none_proves_nothing(proof: str) -> None:
    proven = {"leafIndex": 0, "treeSize": 1, "leafHash": "00" * 32, "proof": proof}
    page = whole(PAGE)
    async with served(page, whole(json.dumps(proven).encode())) as (origin, _):
        client = AsyncClient(origin, log_key=VKEY, promise_key=VKEY)
        async with client:
            answer = await client.search("x")
            with pytest.raises(ProofFailed):
                await client.verify(answer.ranking)
