"""The interface of a witness: `POST /add-checkpoint` (C2SP tlog-witness)."""

import asyncio
import time
from http import HTTPStatus
from typing import Any

import msgspec
import structlog
from litestar import Litestar, Request, Response, post

from registry.cli.witness.witness_state import WitnessState
from registry.errors import NotFound, RegistryError
from registry.tlog import refusals
from registry.tlog.add_checkpoint import (
    SizeConflict,
    judge_checkpoint,
    parse_add_checkpoint,
)
from registry.tlog.note import cosign_text, format_note, parse_note
from registry.tlog.witness import SIZE_TYPE

MAX_BODY_BYTES = 64 * 1024
BODY_S = 10.0

_STATUS = {
    refusals.WITNESS_LOG_UNKNOWN.code: HTTPStatus.NOT_FOUND,
    refusals.NOTE_UNSIGNED.code: HTTPStatus.FORBIDDEN,
    refusals.NOTE_SIGNATURE_INVALID.code: HTTPStatus.FORBIDDEN,
    refusals.PROOF_INVALID.code: HTTPStatus.UNPROCESSABLE_ENTITY,
}

logger = structlog.get_logger()


def create_app(state: WitnessState) -> Litestar:
    """state: its logs are all that this witness knows."""

    @post("/add-checkpoint", request_max_body_size=MAX_BODY_BYTES)
    async def add_checkpoint(request: Request[Any, Any, Any]) -> Response[bytes]:
        try:
            async with asyncio.timeout(BODY_S):
                body = await request.body()
        except TimeoutError:
            return _text(HTTPStatus.REQUEST_TIMEOUT, "the body is late")
        return answer(state, body)

    return Litestar([add_checkpoint], openapi_config=None)


def answer(state: WitnessState, body: bytes) -> Response[bytes]:
    """Judge a request and answer it; without an await, so that no other comes between."""
    try:
        return _text(HTTPStatus.OK, _cosign(state, body))
    except SizeConflict as conflict:
        size = f"{conflict.size}\n".encode()
        headers = {"Content-Type": SIZE_TYPE}  # as media_type it would get a charset
        return Response(size, status_code=HTTPStatus.CONFLICT, headers=headers)
    except RegistryError as refused:
        status = _STATUS.get(refused.code, HTTPStatus.BAD_REQUEST)
        return _text(status, f"{refused.code}: {refused.problem.detail}\n")


def _cosign(state: WitnessState, body: bytes) -> str:
    """Return the signature line, once what it cosigns is stored.

    Raises: RegistryError, OSError.
    """
    request = parse_add_checkpoint(body)
    log = state.logs.get(request.origin)
    if log is None:
        raise NotFound(refusals.WITNESS_LOG_UNKNOWN)
    new = judge_checkpoint(request, log.verifier_keys, log.cosigned)
    text = parse_note(request.note).text
    if new != log.cosigned:
        state.save(msgspec.structs.replace(log, note=request.note.decode()))
        logger.info("checkpoint_cosigned", log=new.origin, size=new.size)
    cosignature = cosign_text(text, state.signer, int(time.time()))
    note = format_note(text, [cosignature]).decode()
    return note.removeprefix(f"{text}\n")


def _text(status: HTTPStatus, text: str) -> Response[bytes]:
    return Response(text.encode(), status_code=status, media_type="text/plain")
