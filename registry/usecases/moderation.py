"""Moderation: a site taken out of all answers, or let in again, on public record.

The act and its record commit together, and what follows the database sees neither before;
so no site vanishes from answers without a record that tells since when and why.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from registry.db import moderation
from registry.db.engine.engines import Connection
from registry.db.log import entries as log
from registry.db.sites import listed_sites as sites
from registry.db.sites import notices
from registry.errors import Conflict, NotFound
from registry.records.record import Record, moderation_record
from registry.records.record_fields import ModerationAct
from registry.sites.entry import Moderated, SiteEntry
from registry.sites.identifier import format_site_id
from registry.sites.lookalikes import find_lookalikes
from registry.usecases.ids import IdSource
from registry.usecases.refusals import MODERATION_POINTLESS, SITE_UNKNOWN
from registry.usecases.sites.notices import make_notice

_FROM: Mapping[ModerationAct, Collection[Moderated | None]] = {
    "quarantine": (None,),
    "delist": (None, "quarantined"),
    "release": ("quarantined", "delisted"),
    "appeal-upheld": ("quarantined", "delisted"),
    "appeal-denied": ("quarantined", "delisted"),
}
"""Standings of a site in which each act is possible."""

_EFFECT = {
    "quarantine": "The site is in no answer while it is looked at.",
    "delist": "The site is in no answer any more.",
    "release": "The site may be in answers again.",
    "appeal-upheld": "The appeal is upheld, and the site may be in answers again.",
    "appeal-denied": "The appeal is denied, and the site stays out of answers.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeratedSite:
    """A site after an act. moderated: None: it is as if nothing had been."""

    host: str
    site_id: str
    moderated: Moderated | None
    record: Record


async def moderate(
    connection: Connection, host: str, act: ModerationAct, reason: str, ids: IdSource
) -> ModeratedSite:
    """host: an A-label. reason: its category, one word, which is public for ever.

    connection: of the moderator's role, within a transaction.
    Raises: NotFound, Conflict, Refused if the reason is not one word.
    """
    now = ids.clock()
    entry = await sites.lock_site(connection, host)
    if entry is None:
        raise NotFound(SITE_UNKNOWN, pointer="host")
    if entry.moderated not in _FROM[act]:
        stands = entry.moderated or "not moderated"
        raise Conflict(MODERATION_POINTLESS, f"{act} of a site that is {stands}")
    record = moderation_record(
        record_id=ids.ulid(),
        at=now,
        site_id=format_site_id(entry.site_id),
        act=act,
        reason=reason,
    )
    await log.accept(connection, record, now)
    after = await _take_effect(connection, entry, act, now)
    notice = make_notice("moderated", f"{_EFFECT[act]} Reason: {reason}.")
    await notices.save_notices(connection, entry.site_id, [notice], now)
    return ModeratedSite(
        host=host, site_id=format_site_id(entry.site_id), moderated=after, record=record
    )


async def _take_effect(
    connection: Connection, entry: SiteEntry, act: ModerationAct, now: datetime
) -> Moderated | None:
    match act:
        case "quarantine" | "delist":
            after: Moderated = "quarantined" if act == "quarantine" else "delisted"
            await moderation.hold(connection, entry.site_id, after, now)
            return after
        case "release" | "appeal-upheld":
            await moderation.release(connection, entry, now)
            return None
        case "appeal-denied":
            return entry.moderated


async def lookalikes(connection: Connection) -> list[tuple[str, ...]]:
    """Registrable domains that look like each other, those that came first before.

    connection: of the moderator's role.
    """
    return find_lookalikes(await moderation.domains_by_age(connection))
