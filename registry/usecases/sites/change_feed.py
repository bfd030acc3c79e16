"""The change feed: every site with its last change, in the order of the changes.

A reader holds a cursor that names all transactions whose changes it has received. So
none is missed, whatever the order in which they ended, and a reader that returns after a
year receives what differs, once: nothing has to be stored for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import msgspec

from registry.db.engine.engines import Connection
from registry.db.engine.snapshots import Snapshot, ended_between, snapshot_of
from registry.db.sites import listed_sites as sites
from registry.db.sites.profiles import source_of
from registry.db.sites.site_changes import BEGINNING, FeedPosition, changes_in
from registry.errors import Gone
from registry.sites.entry import SiteEntry
from registry.usecases.refusals import FEED_LOST


class FeedCursor(msgspec.Struct, frozen=True, array_like=True):
    """history: of the database. seen: of what ended by then all has been answered.

    until, after: of what ended by then, all up to this change has been too.
    """

    history: str
    seen: Snapshot
    until: Snapshot | None = None
    after: FeedPosition = BEGINNING


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteChange:
    """cursor: behind this change."""

    entry: SiteEntry
    cursor: FeedCursor


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPage:
    """cursor: where the next page begins; the one asked with, if there was nothing."""

    changes: Sequence[SiteChange]
    cursor: FeedCursor
    has_more: bool


async def begin_feed(connection: Connection, *, from_now: bool = False) -> FeedCursor:
    """Return the cursor of a reader that has received nothing, or is up to date."""
    seen = await snapshot_of(connection) if from_now else Snapshot.at(0)
    return FeedCursor(await _history_of(connection), seen)


async def read_feed(connection: Connection, cursor: FeedCursor, most: int) -> FeedPage:
    """Return the next changes, each with the site as it is now.

    A site that changes again meanwhile comes later instead. Raises: Gone if the
    database has another history than the cursor.
    """
    if cursor.history != await _history_of(connection):
        raise Gone(FEED_LOST, pointer="since")
    until = cursor.until or await snapshot_of(connection)
    parts = ended_between(cursor.seen, until)
    after = cursor.after
    rows = await changes_in(connection, parts, after, most + 1) if parts else []
    has_more = len(rows) > most
    entries = await sites.find_sites(connection, [row.site_id for row in rows[:most]])
    changes = [
        SiteChange(
            entry=entries[row.site_id],
            cursor=FeedCursor(cursor.history, cursor.seen, until, row),
        )
        for row in rows[:most]
    ]
    following = changes[-1].cursor if has_more else FeedCursor(cursor.history, until)
    is_idle = not changes and cursor.until is None
    return FeedPage(
        changes=changes, cursor=cursor if is_idle else following, has_more=has_more
    )


async def _history_of(connection: Connection) -> str:
    """Return the database's name: a restored one counts its transactions again."""
    source = await source_of(connection)
    return blake2b(source.encode(), digest_size=8).hexdigest()
