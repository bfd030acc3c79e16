"""Asking the witnesses, round by round, for their cosignatures of the log's checkpoints.

In a round all witnesses are asked for the same checkpoint, the newest, so that a quorum
can come together on it. The round is over once there is a quorum or everybody has
answered; a witness that is slow sits out the rounds until it has.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog

from crawler.http.body import BodyLimits
from crawler.http.connection import reusing_connections
from crawler.http.fetch import Fetcher
from registry.db.engine.advisory_lock import COSIGNER_TURN, take_turn
from registry.db.engine.engines import Connection, DatabaseError, Engine, reading
from registry.db.log import cosignatures
from registry.db.log import entries as log
from registry.db.log.cosignatures import StoredCosignature
from registry.db.log.entries import StoredCheckpoint
from registry.errors import RegistryError
from registry.tlog.proof import consistency_runs, prove_consistency
from registry.tlog.witness import (
    MAX_ANSWER_BYTES,
    Cosigned,
    Declined,
    OtherSize,
    Witness,
    WitnessAnswer,
    format_add_checkpoint,
    is_fork,
    parse_witness_answer,
)
from registry.usecases.background import outlasting
from registry.usecases.log.filed_log import FiledLog, read_runs

PAUSE_S = 0.5
ROUND_S = 5.0
MAX_REST_S = 60.0
TAKE_OVER_PAUSE_S = 2.0
CONTENT_TYPE = "text/plain; charset=utf-8"
LIMITS = BodyLimits(wire_bytes=MAX_ANSWER_BYTES, decoded_bytes=MAX_ANSWER_BYTES)

logger = structlog.get_logger()


@dataclass(slots=True)
class _WitnessState:
    """State of a witness.

    cosigned_size: of its last cosignature here. known_size: what it says that it
    cosigned last, from where the proof begins. task: under way. rests: after a failure,
    for rest_s.
    """

    witness: Witness
    cosigned_size: int = 0
    known_size: int = 0
    rest_s: float = 0.0
    task: asyncio.Task[bool] | None = None
    rests: asyncio.Task[None] | None = field(default=None)

    @property
    def is_free(self) -> bool:
        busy = self.task is not None and not self.task.done()
        resting = self.rests is not None and not self.rests.done()
        return not busy and not resting


class Cosigning:
    """engine: of the cosigner's role. quorum: 0 waits for everybody, for a while.

    filed: the published files, which have the hashes that the tables have no more.
    """

    def __init__(
        self,
        engine: Engine,
        fetcher: Fetcher,
        witnesses: Sequence[Witness],
        *,
        quorum: int = 0,
        filed: FiledLog | None = None,
        pause_s: float = PAUSE_S,
        round_s: float = ROUND_S,
    ) -> None:
        self._engine = engine
        self._fetcher = fetcher
        self._states = [_WitnessState(witness) for witness in witnesses]
        self._quorum = quorum or len(witnesses)
        self._filed = filed
        self._pause_s = pause_s
        self._round_s = round_s

    async def run(self) -> None:
        """Run until cancelled; wait while another process does it."""
        try:
            while True:
                with outlasting("cosigning_interrupted"):
                    async with take_turn(self._engine, COSIGNER_TURN) as connection:
                        if connection is not None:
                            await self._work(connection)
                await asyncio.sleep(TAKE_OVER_PAUSE_S)
        finally:
            for state in self._states:
                for task in filter(None, (state.task, state.rests)):
                    task.cancel()

    async def _work(self, connection: Connection) -> None:
        for state in self._states:
            size = await cosignatures.last_cosigned_size(connection, state.witness.id)
            state.known_size = state.cosigned_size = size
        with reusing_connections():
            while True:
                newest = await log.latest_checkpoint(connection)
                if newest is not None:
                    unheard = await cosignatures.list_evidence(connection)
                    await self.hold_round(newest, unheard)
                await asyncio.sleep(self._pause_s)

    async def hold_round(
        self, newest: StoredCheckpoint, unheard: Collection[str] = ()
    ) -> None:
        """Ask those who are free and have not cosigned it, or are asked whether they did."""
        free = [
            state
            for state in self._states
            if state.is_free
            and (state.cosigned_size != newest.size or state.witness.id in unheard)
        ]
        for state in free:
            state.task = asyncio.create_task(self._request_cosignature(state, newest))
        missing = self._quorum - sum(
            state.cosigned_size == newest.size for state in self._states
        )
        waiting = {state.task for state in free if state.task}
        try:
            async with asyncio.timeout(self._round_s):
                while waiting and missing > 0:
                    done, waiting = await asyncio.wait(
                        waiting, return_when=asyncio.FIRST_COMPLETED
                    )
                    missing -= sum(task.result() for task in done)
        except TimeoutError:
            logger.warning("witnesses_late", size=newest.size, missing=missing)

    async def _request_cosignature(
        self, state: _WitnessState, newest: StoredCheckpoint
    ) -> bool:
        """Return whether it cosigned."""
        try:
            answer = await self._exchange(state, newest)
            if isinstance(answer, OtherSize):
                state.known_size = answer.size
                answer = await self._exchange(state, newest)
        except RegistryError as error:
            return self._give_rest(state, error.code, error.problem.detail)
        except (DatabaseError, OSError) as error:
            return self._give_rest(state, "database", type(error).__name__)
        match answer:
            case Cosigned():
                state.known_size = state.cosigned_size = newest.size
                state.rest_s = 0.0
                return True
            case OtherSize(size=size):
                state.known_size = 0  # it is asked again
                detail = f"it cosigned size {size}, the log has {newest.size}"
                return self._give_rest(state, "other_size", detail)
            case Declined(status=status, reason=reason):
                return self._give_rest(state, f"status_{status}", reason)

    async def _exchange(
        self, state: _WitnessState, newest: StoredCheckpoint
    ) -> WitnessAnswer:
        """Raises: Refused, TooLarge, DatabaseError, OSError."""
        name, size = state.witness.id, state.known_size
        if size > newest.size:
            detail = f"{name} cosigned {size} entries, the database has {newest.size}"
            async with self._engine.begin() as connection:
                await cosignatures.save_evidence(connection, name, detail, size)
            return OtherSize(size=size)
        proof = await self._prove(state.known_size, newest.size)
        note = newest.note.encode()
        answer = await self._fetcher.post(
            state.witness.url,
            format_add_checkpoint(state.known_size, proof, note),
            content_type=CONTENT_TYPE,
            limits=LIMITS,
        )
        verdict = parse_witness_answer(
            state.witness,
            note,
            status=answer.status,
            content_type=answer.content_type,
            body=answer.body,
        )
        if isinstance(verdict, Cosigned):
            await self._save(state.witness, newest, verdict)
        elif is_fork(verdict, size, newest.size):
            detail = f"{name} cosigned another history of {size} entries"
            async with self._engine.begin() as connection:
                await cosignatures.save_evidence(connection, name, detail)
        return verdict

    async def _prove(self, old_size: int, new_size: int) -> tuple[bytes, ...]:
        if old_size in (0, new_size):
            return ()
        runs = consistency_runs(old_size, new_size)
        async with reading(self._engine).connect() as connection:
            read = await read_runs(connection, runs, self._filed)
        return prove_consistency(old_size, new_size, read)

    async def _save(
        self, witness: Witness, newest: StoredCheckpoint, cosigned: Cosigned
    ) -> None:
        cosignature = StoredCosignature(
            size=newest.size,
            witness=witness.id,
            line=cosigned.line,
            cosigned_at=datetime.fromtimestamp(cosigned.unix_s, UTC),
        )
        async with self._engine.begin() as connection:
            await cosignatures.save_cosignature(connection, cosignature)
            await cosignatures.save_evidence(connection, witness.id, "")

    def _give_rest(self, state: _WitnessState, code: str, detail: str) -> bool:
        """Pause the witness, each time twice as long."""
        state.rest_s = min(MAX_REST_S, max(2 * state.rest_s, 2 * self._pause_s))
        state.rests = asyncio.create_task(asyncio.sleep(state.rest_s))
        logger.warning(
            "witness_did_not_cosign",
            witness=state.witness.id,
            code=code,
            detail=detail,
            rest_s=state.rest_s,
        )
        return False
