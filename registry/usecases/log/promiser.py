"""Promises that a record will be logged, given only while the log keeps up.

Who holds a promise that was not kept holds the proof of an omission. So while records
wait too long for their position, or would stand there out of time, nothing new is
promised, and nothing new is put on record.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.db.engine.engines import Connection, Engine, reading
from registry.db.log import entries as log
from registry.db.log.cosignatures import PUBLISHER, list_evidence
from registry.errors import Unavailable
from registry.records.promise import Promise, sign_promise
from registry.records.record import Record
from registry.usecases.background import follow
from registry.usecases.ids import Clock
from registry.usecases.refusals import CLOCK_APART, LOG_STANDS_STILL

PAUSE_S = 0.5
STANDSTILL = timedelta(seconds=10)
"""Another sequencer takes over from one that stands still within four."""
RETRY_AFTER_S = 5
BEGINNING = datetime.min.replace(tzinfo=UTC)
CLOCK_TOLERANCE = timedelta(seconds=30)
"""The database has the same, and refuses records of another time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promised:
    """A record handed to the log; the promise counts once the transaction has committed."""

    record: Record
    promise: Promise


@dataclass(slots=True)
class Promiser:
    """engine: of the API's role. private: the key of promises; `run` must be running.

    refusal: why nothing is promised, "" before the first look; None where it is.
    """

    engine: Engine
    private: Ed25519PrivateKey
    clock: Clock
    refusal: str | None = ""
    _newest: datetime = BEGINNING
    _is_ahead: bool = False

    async def run(self) -> None:
        """Watch the log until cancelled."""
        await follow(self.look, pause_s=PAUSE_S, lost="log_not_watched")

    async def look(self) -> None:
        async with reading(self.engine).connect() as connection:
            times = await log.read_times(connection)
            evidence = await list_evidence(connection)
        now = self.clock()
        is_late = now - (times.oldest_pending or now) > STANDSTILL
        self.refusal = evidence.get(PUBLISHER, "" if is_late else None)
        self._newest = times.newest or self._newest
        self._is_ahead = now - times.now > CLOCK_TOLERANCE

    def verify_log_moves(self) -> None:
        """Refuse to put anything on record that the log would not take in time.

        Raises: Unavailable.
        """
        if self._is_ahead or self._newest - self.clock() > CLOCK_TOLERANCE:
            raise Unavailable(CLOCK_APART, retry_after_s=RETRY_AFTER_S)
        if self.refusal is not None:
            raise Unavailable(
                LOG_STANDS_STILL, self.refusal, retry_after_s=RETRY_AFTER_S
            )

    async def accept(
        self, connection: Connection, record: Record, at: datetime
    ) -> Promised:
        """Hand it to the log; within the transaction of what it records."""
        await log.accept(connection, record, at)
        return Promised(record=record, promise=self.promise(record.leaf_hash, at))

    def promise(self, leaf_hash: bytes, at: datetime) -> Promise:
        """Sign a promise. at: when the record was accepted."""
        return sign_promise(leaf_hash, at, self.private)
