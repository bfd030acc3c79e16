"""Reporting which site of a ranking was chosen: by its asker, once."""

from dataclasses import dataclass

from registry.db.engine.engines import Connection
from registry.db.log import entries as log
from registry.db.log import rankings
from registry.db.sites.listed_sites import find_site
from registry.errors import Conflict, Forbidden, NotFound, Refused
from registry.records import record as records
from registry.records.record import parse_record
from registry.sites.identifier import format_site_id, parse_site_id
from registry.usecases.ids import IdSource
from registry.usecases.log.promiser import Promised, Promiser
from registry.usecases.refusals import (
    RANKING_HAS_SELECTION,
    RANKING_NOT_YOURS,
    RANKING_UNKNOWN,
    SITE_NOT_IN_RANKING,
)
from registry.usecases.search.receipts import verify_asker


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """site_id: or a host; None: none was chosen. operator: who tells it, if that is known.

    ranking_id: the whole of it, which only its asker has.
    """

    ranking_id: str
    site_id: str | None
    outcome: str | None = None
    operator: str | None = None


async def select_site(
    connection: Connection,
    selection: Selection,
    *,
    web_key: bytes,
    promiser: Promiser,
    ids: IdSource,
) -> Promised:
    """Raises: NotFound, Forbidden, Refused, Conflict, Unavailable."""
    promiser.verify_log_moves()
    record_id = verify_asker(web_key, selection.ranking_id)
    site_id = await _site_id(connection, selection.site_id)
    operator = selection.operator
    logged = await log.find_record(connection, record_id)
    if logged is None or logged.record.kind != "ranking":
        raise NotFound(RANKING_UNKNOWN, pointer="/rankingId")
    members = parse_record(logged.record.body)
    if operator and members["op"] not in {records.ANONYMOUS, operator}:
        raise Forbidden(RANKING_NOT_YOURS, pointer="/rankingId")
    if site_id is not None and site_id not in list(_sequence(members["order"])):
        raise Refused(SITE_NOT_IN_RANKING, pointer="/siteId")
    now = ids.clock()
    record = records.selection_record(
        record_id=ids.ulid(),
        at=now,
        operator=operator or records.ANONYMOUS,
        ranking_id=record_id,
        site_id=site_id,
        outcome=selection.outcome,
    )
    number = None if site_id is None else parse_site_id(site_id)
    fresh = await rankings.save_selection(connection, record_id, record.id, number, now)
    if not fresh:
        raise Conflict(RANKING_HAS_SELECTION, pointer="/rankingId")
    return await promiser.accept(connection, record, now)


async def _site_id(connection: Connection, named: str | None) -> str | None:
    """Return the id of a site that is named by its host, else what was given."""
    if named is None or "." not in named:
        return named
    entry = await find_site(connection, named.lower())
    return format_site_id(entry.site_id) if entry else named


def _sequence(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()
