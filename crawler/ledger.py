"""What crawls read of their sites, and write: of many sites in one transaction.

Each visit's writes count all together or not at all, and only under its own fence; where
a transaction of several fails, each is tried in one of its own (`crawler.group`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from crawler.group import Group
from registry.db import documents, sites, tasks
from registry.db.documents import StoredDocument
from registry.db.engine import Engine, reading
from registry.db.notices import Notice
from registry.db.sites import StoredKey
from registry.db.tasks import Completion
from registry.sites.entry import SiteEntry
from registry.usecases.list_site import Found, Lister
from registry.usecases.understand import Understood

AT_ONCE = 32
"""Sites whose documents are held, and whose rows are locked, at a time."""

LINGER_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What is known of a site. declared: of its registration."""

    entry: SiteEntry
    declared: Mapping[str, Any]
    documents: list[StoredDocument]
    keys: Sequence[StoredKey]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A visit that brought documents. complete: its task, given the site as it is now."""

    host: str
    understood: Understood
    declared: Mapping[str, Any]
    notices: Sequence[Notice]
    now: datetime
    complete: Callable[[SiteEntry], Completion]


class Ledger:
    """One for the process."""

    def __init__(self, engine: Engine, lister: Lister) -> None:
        self._engine = engine
        self._lister = lister
        self._reads = Group(self._read, most=AT_ONCE)
        self._writes = Group(self._write, most=AT_ONCE, linger_s=LINGER_S)

    @contextmanager
    def visit(self) -> Iterator[None]:
        """Around each: who writes waits a little for the others."""
        with self._writes.expecting():
            yield

    async def read(self, host: str) -> Stored | None:
        """None of a site that is not there any more."""
        return await self._reads.do(host)

    async def write(self, finished: Finished) -> None:
        """Without effect where the site has gone or the lease was lost."""
        await self._writes.do(finished)

    async def _read(self, hosts: Sequence[str]) -> list[Stored | None]:
        async with reading(self._engine).connect() as connection:
            declared = await sites.find_declared(connection, hosts)
            there = {
                host: entry
                for host, (entry, _) in declared.items()
                if entry.status != "withdrawn"
            }
            site_ids = [entry.site_id for entry in there.values()]
            held = await documents.documents_of_sites(connection, site_ids)
            keys = await sites.keys_of_sites(connection, site_ids)
        found = {
            host: Stored(
                entry=entry,
                declared=declared[host][1],
                documents=held[entry.site_id],
                keys=keys[entry.site_id],
            )
            for host, entry in there.items()
        }
        return [found.get(host) for host in hosts]

    async def _write(self, several: Sequence[Finished]) -> list[None]:
        async with self._engine.begin() as connection:
            # The hosts are held before their tasks, as everywhere, and in one order:
            # nobody waits in a circle.
            current = await sites.lock_sites(connection, [one.host for one in several])
            ended = [
                (one, entry, one.complete(entry))
                for one in several
                if (entry := current.get(one.host)) and entry.status != "withdrawn"
            ]
            held = await tasks.complete_all(connection, [done for *_, done in ended])
            found = [
                Found(
                    entry=entry,
                    understood=one.understood,
                    declarations=dict(one.declared),
                    notices=one.notices,
                    now=one.now,
                )
                for one, entry, done in ended
                if done.task.lease in held
            ]
            await self._lister.list_sites(connection, found)
        return [None] * len(several)
