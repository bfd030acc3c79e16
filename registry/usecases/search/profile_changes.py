"""Profiles that have changed and that a follower has not taken in yet.

Of a transaction that changed many sites some are read at a time, so that nobody's change
waits for another's.
"""

from collections.abc import Sequence

from registry.db.engine.engines import Connection
from registry.db.engine.snapshots import (
    Snapshot,
    UnreadRange,
    ended_between,
    snapshot_of,
)
from registry.db.sites.profiles import read_changes
from registry.index.building.manifest import Since

READ_AT_ONCE = 1_000
"""Changed sites that are read of a transaction before it is looked for newer ones."""

FEW = 50
"""So many new ones go ahead of those that wait, alone: they are put out in no time."""


class ProfileChanges:
    """pending: by site the transaction that changed it."""

    def __init__(self, source: str, horizon: int) -> None:
        """source: the database. horizon: all below it is taken in."""
        self._source = source
        self._settled = horizon
        self._seen = Snapshot.at(horizon)
        self._unread: list[UnreadRange] = []
        self._ahead: Sequence[int] = ()
        self._went_ahead = False
        self.pending: dict[int, int] = {}

    def __bool__(self) -> bool:
        """Return whether there is more to take in, as far as it is known."""
        return bool(self.pending or self._unread)

    def since(self, taken: int) -> Since:
        """Return what an index holds with so many of those pending."""
        is_all = taken == len(self.pending) and not self._unread
        return Since(self._source, self._seen.oldest if is_all else self._settled)

    async def look(self, connection: Connection) -> None:
        """Find what has ended since the last look, and some of what is unread."""
        seen = await snapshot_of(connection)
        new = ended_between(self._seen, seen)
        old = self._unread[:1] if len(self.pending) < READ_AT_ONCE else []
        if new or old:
            changed = await read_changes(connection, [*old, *new], READ_AT_ONCE)
            self.pending |= changed.sites
            self._unread = [*self._unread[len(old) :], *changed.unread]
            self._ahead = _few(new, changed.sites)
        self._seen = seen
        self._settle()

    def some(self, most: int) -> Sequence[int]:
        """Return at most `most` sites: half the newest, and half those longest due.

        Every other time, if a few are new, these alone: so they need not wait until
        many are put out, nor the many for them.
        """
        ahead, self._ahead = self._ahead, ()
        self._went_ahead = 0 < len(ahead) <= most and not self._went_ahead
        if self._went_ahead:
            return ahead
        in_order = sorted(self.pending, key=self.pending.__getitem__)
        newest, longest = in_order[-(most - most // 2) :], in_order[: most // 2]
        return list(dict.fromkeys([*newest, *longest]))

    def done(self, site_ids: Sequence[int]) -> None:
        for site_id in site_ids:
            del self.pending[site_id]
        self._settle()

    def _settle(self) -> None:
        if not self:
            self._settled = self._seen.oldest


def _few(
    parts: Sequence[UnreadRange], changed: Sequence[tuple[int, int]]
) -> Sequence[int]:
    """Return the changed sites of parts that have only a few. changed: with transactions."""
    site_ids: list[int] = []
    for part in parts:
        own = [site for site, xid in changed if part.first <= xid < part.end[0]]
        site_ids += own if len(own) <= FEW else []
    return site_ids
