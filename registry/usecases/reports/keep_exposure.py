"""Keeping the exposure of every day, its digest in the log, so that nobody can swap it."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.db.engine.engines import Engine
from registry.db.engine.snapshots import fix_snapshot
from registry.db.log import entries as log
from registry.db.reports import exposure_days, kept_reports
from registry.db.reports.exposure_days import StoredDay
from registry.identity.statements.detached_jws import EXPOSURE_TYP, sign_detached
from registry.records.canonical import digest_of
from registry.records.record import report_record
from registry.reports.exposure_table import FORM, KEY_BYTES, encode_table, make_table
from registry.usecases.ids import IdSource
from registry.usecases.reports.calendar_months import midnight
from registry.usecases.reports.keep_report import SETTLING

DAY = timedelta(days=1)

logger = structlog.get_logger()


def days_due(began_at: datetime, now: datetime, newest: date | None) -> Iterator[date]:
    """Yield the whole days that lack a table, from that on which the log began.

    newest: of those kept; they are kept in order.
    """
    day = began_at.astimezone(UTC).date() if newest is None else newest + DAY
    while midnight(day + DAY) + SETTLING <= now:
        yield day
        day += DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposureKeeper:
    """auditor: reads the rankings. writer: of the reporter's role.

    key: of the registry's promises, which signs each table.
    """

    auditor: Engine
    writer: Engine
    key: Ed25519PrivateKey
    ids: IdSource

    async def keep_missing(self) -> list[date]:
        """Make what is due, the oldest day first; those made here."""
        async with self.auditor.connect() as connection:
            began_at = await kept_reports.log_began_at(connection)
            newest = await exposure_days.newest_day(connection)
        if began_at is None:
            return []
        due = days_due(began_at, self.ids.clock(), newest)
        return [day for day in due if await self.keep(day)]

    async def keep(self, day: date) -> bool:
        """Keep the table of a day that is over; False if somebody else has kept it before."""
        async with self.auditor.connect() as connection:
            await fix_snapshot(connection)  # else counts and rows are of two
            counts = await exposure_days.count_day(connection, midnight(day))
        key = self.ids.random_bytes(KEY_BYTES)
        table = await asyncio.to_thread(make_table, day, counts, key)
        body = encode_table(table)
        now = self.ids.clock()
        record = report_record(
            record_id=self.ids.ulid(),
            at=now,
            start_at=midnight(day),
            end_at=midnight(day + DAY),
            forms={FORM: digest_of(body)},
        )
        stored = StoredDay(
            day=day,
            record_id=record.id,
            made_at=now,
            body=body,
            signature=sign_detached(body, self.key, typ=EXPOSURE_TYP),
            noise_key=key,
        )
        async with self.writer.begin() as connection:
            fresh = await exposure_days.save_day(connection, stored, counts.sites)
            if fresh:
                await log.accept(connection, record, now)
        logger.info("exposure_kept", day=day.isoformat(), fresh=fresh)
        return fresh
