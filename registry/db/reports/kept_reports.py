"""SQL of reports that are kept: one for each whole month, in each form, never changed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from hashlib import sha256

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine.engines import Connection
from registry.db.engine.insert_new import insert_new
from registry.db.engine.read_row import read_row
from registry.db.schema.report_tables import kept_form, kept_report
from registry.db.schema.tables import entry


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredForm:
    """A form as it is served. signature: a detached JWS over the body."""

    form: str
    body: bytes
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReport:
    """Facts of a kept report without its forms.

    month: its first day. leaf_index: of its record; None until that is sequenced.
    digests, sizes: SHA-256 and bytes of each form.
    """

    month: date
    record_id: str
    made_at: datetime
    leaf_index: int | None
    digests: Mapping[str, bytes]
    sizes: Mapping[str, int]


async def save_report(
    connection: Connection,
    month: date,
    record_id: str,
    made_at: datetime,
    forms: Sequence[StoredForm],
) -> bool:
    """Save a month's report; return False if it has one already."""
    values = {"month": month, "record_id": record_id, "made_at": made_at}
    if not await insert_new(connection, kept_report, values):
        return False
    rows = [
        {
            **asdict(form),
            "month": month,
            "digest": sha256(form.body).digest(),
            "size": len(form.body),
        }
        for form in forms
    ]
    await connection.execute(insert(kept_form), rows)
    return True


async def stored_months(connection: Connection) -> set[date]:
    return set((await connection.execute(select(kept_report.c.month))).scalars())


async def log_began_at(connection: Connection) -> datetime | None:
    """Return the time of the first entry; None where nothing is logged yet."""
    query = select(entry.c.accepted_at).order_by(entry.c.leaf_index).limit(1)
    return (await connection.execute(query)).scalar_one_or_none()


async def list_reports(
    connection: Connection, limit: int, before: date | None = None
) -> list[StoredReport]:
    """The newest first, of months before the given one."""
    query = (
        select(kept_report, entry.c.leaf_index)
        .outerjoin(entry, entry.c.record_id == kept_report.c.record_id)
        .order_by(kept_report.c.month.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(kept_report.c.month < before)
    rows = (await connection.execute(query)).all()
    digests, sizes = await _facts(connection, [row.month for row in rows])
    return [
        read_row(StoredReport, row, digests=digests[row.month], sizes=sizes[row.month])
        for row in rows
    ]


async def _facts(
    connection: Connection, months: Sequence[date]
) -> tuple[dict[date, dict[str, bytes]], dict[date, dict[str, int]]]:
    query = (
        select(
            kept_form.c.month, kept_form.c.form, kept_form.c.digest, kept_form.c.size
        )
        .where(kept_form.c.month.in_(months))
        .order_by(kept_form.c.form)
    )
    digests: dict[date, dict[str, bytes]] = {month: {} for month in months}
    sizes: dict[date, dict[str, int]] = {month: {} for month in months}
    for row in await connection.execute(query):
        digests[row.month][row.form] = row.digest
        sizes[row.month][row.form] = row.size
    return digests, sizes


async def find_form(
    connection: Connection, month: date, form: str
) -> tuple[StoredForm, int | None] | None:
    """Return a form and the leaf of the report's record; None if no such form is kept."""
    query = (
        select(kept_form, entry.c.leaf_index)
        .join(kept_report, kept_report.c.month == kept_form.c.month)
        .outerjoin(entry, entry.c.record_id == kept_report.c.record_id)
        .where(kept_form.c.month == month, kept_form.c.form == form)
    )
    row = (await connection.execute(query)).one_or_none()
    return (read_row(StoredForm, row), row.leaf_index) if row else None
