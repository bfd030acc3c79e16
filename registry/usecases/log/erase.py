"""Erasing what a ranking's record discloses: when its asker wants it, or by schedule.

The openings (salt, name and value of each disclosure) are deleted and a record that says
so is handed to the log, in one transaction. The ranking's record and every proof of it
stay as they are: without the salt a digest tells nothing.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

import structlog

from registry.db.engine.advisory_lock import (
    ERASURE_SCHEDULE,
    ERASURE_TURN,
    take_turn,
    try_lock_in_transaction,
)
from registry.db.engine.engines import Connection, Engine, reading
from registry.db.log import entries as log
from registry.db.log import erased_pages, erasures, rankings
from registry.db.log.entries import LoggedRecord
from registry.db.log.erasures import DatedEntry, StoredErasure
from registry.errors import Conflict, Forbidden, NotFound
from registry.records import record as records
from registry.records.disclosure import digest_disclosure
from registry.records.promise import Promise
from registry.records.record import parse_record
from registry.usecases import refusals
from registry.usecases.background import outlasting
from registry.usecases.ids import IdSource
from registry.usecases.log.log_proofs import MERGE_DELAY_S
from registry.usecases.log.promiser import Promiser

BATCH = 1_000
PAUSE_S = 3_600.0
CLEARING_PAUSE_S = 20.0

FindRecord = Callable[[Connection, str], Awaitable[LoggedRecord | None]]
"""Callback that finds a record by its id, wherever the log has it."""

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """leaf_index: of the ranking. body: of the erase record, accepted at `at`."""

    leaf_index: int
    record_id: str
    body: bytes
    leaf_hash: bytes
    at: datetime
    promise: Promise

    @property
    def digests(self) -> tuple[str, ...]:
        fields = parse_record(self.body)["fields"]
        return tuple(map(str, fields)) if isinstance(fields, list) else ()


async def erase_ranking(
    connection: Connection,
    record_id: str,
    *,
    promiser: Promiser,
    ids: IdSource,
    operator: str | None = None,
    find: FindRecord = log.find_record,
) -> Erased:
    """Erase one ranking; of one that is erased already, tell when and by which record.

    connection: of the eraser's role, within a transaction. operator: who wants it, unless
    the ranking's own asker does; it has to be one that it was counted for. find: finds
    the record.
    Raises: NotFound, Forbidden, Unavailable, Conflict while the ranking has no position in
    the log.
    """
    promiser.verify_log_moves()
    logged = await find(connection, record_id)
    if logged is None or logged.record.kind != "ranking":
        raise NotFound(refusals.RANKING_UNKNOWN)
    if operator is not None and parse_record(logged.record.body)["op"] != operator:
        raise Forbidden(refusals.RANKING_NOT_YOURS, pointer="/rankingId")
    if logged.leaf_index is None:
        raise Conflict(refusals.RECORD_PENDING, retry_after_s=MERGE_DELAY_S)
    index = logged.leaf_index
    earlier = await erasures.find_erasure(connection, index)
    if earlier is None:
        await _erase_one(connection, index, record_id, ids)
        earlier = await erasures.find_erasure(connection, index)
    if earlier is None:
        raise LookupError(f"the erasure of {index} was saved and is not there")
    return await _erased_by(connection, index, earlier, promiser)


async def erase_expired(engine: Engine, keep: timedelta, ids: IdSource) -> int:
    """Erase all rankings older than `keep`; how many were given up to now.

    A batch is one transaction and one record, which covers the rankings from the first
    to the last of it. May run in several processes and be killed at any time.
    """
    moment, after_index, erased = ids.clock() - keep, -1, 0
    while True:
        async with engine.begin() as connection:
            if not await try_lock_in_transaction(connection, ERASURE_SCHEDULE):
                return erased
            scheduled = await erasures.last_scheduled_index(connection)
            after_index = max(after_index, scheduled)
            aged = await _aged_entries(connection, after_index, moment)
            if not aged:
                return erased
            expired = [row for row in aged if row.kind == "ranking"]
            if expired:
                erased += await _erase_range(connection, expired, ids)
            after_index = aged[-1].leaf_index


async def clear_pages(engine: Engine) -> int:
    """Overwrite what erasures left in the files. Returns: pages that are done with.

    One process at a time has the turn. What a transaction still sees waits for the next,
    behind the others. Pages lie in the server's memory until they are written out.
    """
    async with take_turn(engine, ERASURE_TURN) as is_ours:
        if not is_ours:
            return 0
        async with reading(engine).connect() as connection:
            noted = await erased_pages.noted_pages(connection, BATCH)
            vacuumed = {
                part: await erased_pages.vacuum(connection, part)
                for part in sorted({page.part for page in noted})
            }
            await connection.invalidate()  # it has no time limit any more
        done: list[int] = []
        undone: list[int] = []
        for page in noted:
            async with engine.connect() as connection:
                is_done = await erased_pages.overwrite(
                    connection, page, is_vacuumed=vacuumed[page.part]
                )
                await connection.rollback()
            (done if is_done else undone).append(page.id)
        async with engine.begin() as connection:
            await erased_pages.forget_pages(connection, done, undone)
        if done:
            await _write_out(engine)
    return len(done)


async def _write_out(engine: Engine) -> None:
    async with reading(engine).connect() as connection:
        if not await erased_pages.write_out(connection):
            logger.warning("erased_pages_wait_for_checkpoint")
        await connection.invalidate()  # it has no time limit any more


@dataclass(frozen=True, slots=True)
class Retention:
    """Erases by schedule, at the start and then each hour, and clears pages within a minute.

    `run` ends when cancelled.
    """

    engine: Engine
    keep: timedelta
    ids: IdSource

    async def run(self) -> None:
        due = time.monotonic()
        while True:
            with outlasting("erasing_interrupted"):
                if self.keep and time.monotonic() >= due:
                    await erase_expired(self.engine, self.keep, self.ids)
                    due = time.monotonic() + PAUSE_S
                await clear_pages(self.engine)
            await asyncio.sleep(CLEARING_PAUSE_S)


async def _aged_entries(
    connection: Connection, after_index: int, moment: datetime
) -> list[DatedEntry]:
    """The next of the log, up to the first that was accepted at the moment or later."""
    entries = await erasures.entries_after(connection, after_index, BATCH)
    return list(takewhile(lambda dated: dated.accepted_at < moment, entries))


async def _erase_one(
    connection: Connection, index: int, record_id: str, ids: IdSource
) -> None:
    """Erase one record; of two at once the second waits, and finds it done."""
    now = ids.clock()
    erase_id = ids.ulid()
    fresh = await erasures.save_erasure(
        connection,
        StoredErasure(
            record_id=erase_id,
            first_index=index,
            last_index=index,
            is_scheduled=False,
            erased_at=now,
        ),
    )
    if not fresh:
        return
    disclosures = await rankings.erase_openings(connection, [record_id])
    record = records.erase_record(
        record_id=erase_id,
        at=now,
        leaf_index=index,
        digests=sorted(map(digest_disclosure, disclosures)),
    )
    await log.accept(connection, record, now)


async def _erase_range(
    connection: Connection, expired: Sequence[DatedEntry], ids: IdSource
) -> int:
    """Erase all rankings of a range. Returns: how many, 0 if all of them were erased before."""
    record_ids = [ranking.record_id for ranking in expired]
    if not await rankings.erase_openings(connection, record_ids):
        return 0
    now = ids.clock()
    first, last = expired[0].leaf_index, expired[-1].leaf_index
    record = records.erase_record(
        record_id=ids.ulid(), at=now, leaf_index=first, last_index=last, digests=()
    )
    await erasures.save_erasure(
        connection,
        StoredErasure(
            record_id=record.id,
            first_index=first,
            last_index=last,
            is_scheduled=True,
            erased_at=now,
        ),
    )
    await log.accept(connection, record, now)
    logger.info("rankings_erased", first=first, last=last, rankings=len(expired))
    return len(expired)


async def _erased_by(
    connection: Connection, index: int, erasure: StoredErasure, promiser: Promiser
) -> Erased:
    logged = await log.find_record(connection, erasure.record_id)
    if logged is None:
        raise LookupError(f"erase record {erasure.record_id} is not in the log")
    record = logged.record
    return Erased(
        leaf_index=index,
        record_id=erasure.record_id,
        body=record.body,
        leaf_hash=record.leaf_hash,
        at=logged.accepted_at,
        promise=promiser.promise(record.leaf_hash, logged.accepted_at),
    )
