"""Keeping a fairness report of every whole month, so that nobody can swap it later.

A month's report is made once, in every form, by the first process to try; its digests go
into the log in the transaction that keeps it, so that there is both or neither.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.db.engine.engines import Engine
from registry.db.log import entries as log
from registry.db.reports import kept_reports
from registry.db.reports.kept_reports import StoredForm
from registry.errors import Conflict
from registry.identity.statements.detached_jws import REPORT_TYP, sign_detached
from registry.ranking.policy import Policy
from registry.records.canonical import digest_of
from registry.records.record import report_record
from registry.reports.model import FairnessReport
from registry.reports.render.report_files import FORMAT
from registry.reports.report_terms import Window
from registry.usecases.ids import IdSource
from registry.usecases.refusals import MONTH_NOT_OVER
from registry.usecases.reports.calendar_months import (
    format_month,
    midnight,
    month_after,
)
from registry.usecases.reports.make_report import make_report

SETTLING = timedelta(minutes=10)
"""Time after a month's end by which answers of its last second are durable."""

logger = structlog.get_logger()


def window_of_month(month: date) -> Window:
    """Return its window in UTC. month: its first day."""
    return Window(start_at=midnight(month), end_at=midnight(month_after(month)))


def is_over(month: date, now: datetime) -> bool:
    return midnight(month_after(month)) + SETTLING <= now


def months_due(
    began_at: datetime, now: datetime, stored_months: Collection[date]
) -> list[date]:
    """Return the whole months, from that in which the log began, that lack a report."""
    due, month = [], began_at.astimezone(UTC).date().replace(day=1)
    while is_over(month, now):
        if month not in stored_months:
            due.append(month)
        month = month_after(month)
    return due


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """Keeper of reports. auditor: reads what one is made of. writer: of the reporter's role.

    key: of the registry's promises, which signs each form.
    """

    auditor: Engine
    writer: Engine
    policy: Policy
    key: Ed25519PrivateKey
    ids: IdSource

    async def keep_missing(self) -> list[date]:
        """Make what is due, the oldest month first; those made here."""
        async with self.auditor.connect() as connection:
            began_at = await kept_reports.log_began_at(connection)
            stored_months = await kept_reports.stored_months(connection)
        if began_at is None:
            return []
        months = []
        for month in months_due(began_at, self.ids.clock(), stored_months):
            if await self.keep(month):
                logger.info("report_kept", month=format_month(month))
                months.append(month)
        return months

    async def keep(self, month: date) -> bool:
        """Return False if somebody else has kept it before. Raises: Conflict before its end."""
        if not is_over(month, self.ids.clock()):
            raise Conflict(MONTH_NOT_OVER, f"{format_month(month)} is not over")
        async with self.auditor.connect() as connection:
            report = await make_report(connection, window_of_month(month), self.policy)
        forms = await asyncio.to_thread(self._formed, report)
        return await self._save(month, forms)

    def _formed(self, report: FairnessReport) -> list[StoredForm]:
        bodies = {form: encode(report) for form, encode in FORMAT.items()}
        return [
            StoredForm(
                form=form,
                body=body,
                signature=sign_detached(body, self.key, typ=REPORT_TYP),
            )
            for form, body in bodies.items()
        ]

    async def _save(self, month: date, forms: list[StoredForm]) -> bool:
        now, window = self.ids.clock(), window_of_month(month)
        record = report_record(
            record_id=self.ids.ulid(),
            at=now,
            start_at=window.start_at,
            end_at=window.end_at,
            forms={form.form: digest_of(form.body) for form in forms},
        )
        async with self.writer.begin() as connection:
            fresh = await kept_reports.save_report(
                connection, month, record.id, now, forms
            )
            if fresh:
                await log.accept(connection, record, now)
        return fresh
