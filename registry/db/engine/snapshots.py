"""Snapshots of transaction ids: those that ended between two reads of a database.

A follower asks for the rows of exactly these: rows of one that still runs are not even
looked at, however many it has written, and none is returned twice. So none is missed
whatever the order of commits, and a change is found soon beside a transaction of many.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import text

from registry.db.engine.engines import Connection
from registry.db.engine.prepared import Prepared

_SNAPSHOT_ISOLATION = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


async def fix_snapshot(connection: Connection) -> None:
    """Fix the snapshot, before anything is read in the transaction."""
    await connection.execute(_SNAPSHOT_ISOLATION)


_SNAPSHOT = Prepared(text("SELECT pg_current_snapshot()::text AS snapshot"))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All below oldest had ended, none from following on had begun; running: between."""

    oldest: int
    following: int
    running: frozenset[int] = frozenset()

    @classmethod
    def parse(cls, text: str) -> "Snapshot":
        """Parse PostgreSQL's `pg_snapshot` as text."""
        oldest, following, running = text.split(":")
        ids = frozenset(map(int, running.split(","))) if running else frozenset()
        return cls(int(oldest), int(following), ids)

    @classmethod
    def at(cls, horizon: int) -> "Snapshot":
        """Return the snapshot of which it is known only that all below had ended."""
        return cls(horizon, horizon)


@dataclass(frozen=True, slots=True)
class UnreadRange:
    """Rows that are still to be read: of transactions from `first` on, and before `end`.

    end: a transaction and a site, in this order; that row and all after it are left out.
    """

    first: int
    end: tuple[int, int]


async def snapshot_of(connection: Connection) -> Snapshot:
    """Return what has ended by now; read before the changes.

    A row that changes between the two reads is returned after the next snapshot.
    """
    (row,) = await _SNAPSHOT(connection)
    return Snapshot.parse(row.snapshot)


def ended_between(before: Snapshot, after: Snapshot) -> list[UnreadRange]:
    """The rows of transactions that ended in between, the oldest first."""
    single = ((xid, xid + 1) for xid in sorted(before.running - after.running))
    return [
        UnreadRange(first, (end, 0))
        for first, end in (*single, *_gaps(before.following, after))
        if first < end
    ]


def _gaps(first: int, after: Snapshot) -> Iterator[tuple[int, int]]:
    """Yield the ranges of ids from `first` on that lie between running ones."""
    for running in sorted(xid for xid in after.running if xid >= first):
        yield first, running
        first = running + 1
    yield first, after.following
