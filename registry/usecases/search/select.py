"""Reporting which site of a ranking was chosen: by its asker, once."""

from datetime import timedelta
from typing import Annotated

import msgspec

from registry.db.engine.engines import Connection
from registry.db.log import entries as log
from registry.db.log import rankings
from registry.db.log.rankings import StoredSelection
from registry.db.sites.listed_sites import find_site
from registry.errors import Conflict, Forbidden, NotFound, Refused
from registry.records import record as records
from registry.records.disclosure import seal
from registry.records.record import parse_record
from registry.records.rules.seen_records import SELECTABLE_DAYS
from registry.sites.identifier import format_site_id
from registry.usecases import refusals
from registry.usecases.ids import IdSource
from registry.usecases.log.promiser import Promised, Promiser
from registry.usecases.search.receipts import verify_receipt_id

OUTCOME = r"^[a-z][a-z0-9_-]{0,31}$"


class SelectionRequest(
    msgspec.Struct,
    frozen=True,
    rename="camel",
    kw_only=True,
    forbid_unknown_fields=True,
):
    """rankingId: the whole id of the answer. siteId: or the host; null: none was chosen.

    outcome: one word, such as succeeded or failed.
    """

    ranking_id: Annotated[str, msgspec.Meta(max_length=100)]
    site_id: Annotated[str, msgspec.Meta(max_length=253)] | None
    outcome: Annotated[str, msgspec.Meta(pattern=OUTCOME)] | None = None


async def select_site(
    connection: Connection,
    selection: SelectionRequest,
    *,
    operator: str | None = None,
    web_key: bytes,
    promiser: Promiser,
    ids: IdSource,
) -> Promised:
    """operator: if known. Raises: NotFound, Forbidden, Refused, Conflict, Unavailable."""
    promiser.verify_log_moves()
    record_id = verify_receipt_id(web_key, selection.ranking_id)
    site_id = await _site_id(connection, selection.site_id)
    logged = await log.find_record(connection, record_id)
    if logged is None or logged.record.kind != "ranking":
        raise NotFound(refusals.RANKING_UNKNOWN, pointer="/rankingId")
    members = parse_record(logged.record.body)
    if operator and members["op"] not in {records.ANONYMOUS, operator}:
        raise Forbidden(refusals.RANKING_NOT_YOURS, pointer="/rankingId")
    now = ids.clock()
    number = await _number_in(connection, record_id, site_id)
    if now - logged.accepted_at > timedelta(days=SELECTABLE_DAYS):
        raise Conflict(refusals.SELECTION_LATE, pointer="/rankingId")
    choice = {"choice": records.choice_of(site_id, selection.outcome)}
    sealed = seal(choice, ids.random_bytes, len(choice))
    record = records.selection_record(
        record_id=ids.ulid(),
        at=now,
        operator=operator or records.ANONYMOUS,
        ranking_id=record_id,
        sd_digest=sealed.digests[0],
    )
    stored = StoredSelection(
        ranking_id=record_id,
        record_id=record.id,
        site_id=number,
        choice=sealed.openings[0].disclosure,
        accepted_at=now,
    )
    fresh = await rankings.save_selection(connection, stored)
    if not fresh:
        raise Conflict(refusals.RANKING_HAS_SELECTION, pointer="/rankingId")
    return await promiser.accept(connection, record, now)


async def _site_id(connection: Connection, named: str | None) -> str | None:
    """Return the id of a site that is named by its host, else what was given."""
    if named is None or "." not in named:
        return named
    entry = await find_site(connection, named.lower())
    return format_site_id(entry.site_id) if entry else named


async def _number_in(
    connection: Connection, ranking_id: str, site_id: str | None
) -> int | None:
    """Return the number of a site that the ranking holds. Raises: Refused, Conflict."""
    returned = await rankings.returned_sites(connection, ranking_id)
    if returned is None:
        raise Conflict(refusals.RANKING_ERASED, pointer="/rankingId")
    if site_id is None:
        return None
    numbers = {format_site_id(site): site for site in returned}
    if site_id not in numbers:
        raise Refused(refusals.SITE_NOT_IN_RANKING, pointer="/siteId")
    return numbers[site_id]
