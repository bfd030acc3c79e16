"""Store of crawls: sites are read and written, many of them in one transaction.

Each visit's writes count all together or not at all, and only under its own fence; where
a transaction of several fails, each is tried in one of its own (`crawler.group`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from crawler.group import Group, JobsUnderWay
from registry.db.engine.engines import Engine, reading
from registry.db.engine.prepared import Gathered
from registry.db.frontier import tasks
from registry.db.frontier.tasks import Completion
from registry.db.sites import documents
from registry.db.sites import listed_sites as sites
from registry.db.sites.listed_sites import StoredKey
from registry.db.sites.notices import Notice, gather_notices
from registry.formats.document import StoredDocument
from registry.sites.entry import SiteEntry
from registry.usecases.sites.list_site import Lister, SiteUpdate
from registry.usecases.sites.parse_site import ParsedSite

AT_ONCE = 32
"""Sites whose documents are held, and whose rows are locked, at a time."""

LINGER_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSite:
    """Stored state of a site. declared: of its registration."""

    entry: SiteEntry
    declared: Mapping[str, Any]
    documents: list[StoredDocument]
    keys: Sequence[StoredKey]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedVisit:
    """A visit that brought documents. complete: its task, given the site as it is now."""

    host: str
    understood: ParsedSite
    declared: Mapping[str, Any]
    notices: Sequence[Notice]
    now: datetime
    complete: Callable[[SiteEntry], Completion]


_EndedVisit = tuple[Completion, Sequence[Notice], datetime, Sequence[str]]


class CrawlStore:
    """Store of the process. visits: writers wait a little for the others under way."""

    def __init__(self, engine: Engine, lister: Lister) -> None:
        self._engine = engine
        self._lister = lister
        visits = self.visits = JobsUnderWay()
        self._reads = Group(self._read, most=AT_ONCE, jobs=JobsUnderWay())
        self._writes = Group(self._write, most=AT_ONCE, linger_s=LINGER_S, jobs=visits)
        self._ends = Group(self._end, most=AT_ONCE, linger_s=LINGER_S, jobs=visits)

    async def read(self, host: str) -> StoredSite | None:
        """Return the site's state; None where the site has gone."""
        return await self._reads.do(host)

    async def write(self, finished: FinishedVisit) -> None:
        """Write the visit; without effect where the site has gone or the lease was lost."""
        await self._writes.do(finished)

    async def end(
        self,
        done: Completion,
        notices: Sequence[Notice],
        now: datetime,
        unchanged: Sequence[str] = (),
    ) -> None:
        """Write a visit that brought nothing; without effect where the lease was lost.

        unchanged: URLs of documents that were confirmed.
        """
        await self._ends.do((done, notices, now, unchanged))

    async def _read(self, hosts: Sequence[str]) -> list[StoredSite | None]:
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
        stored = {
            host: StoredSite(
                entry=entry,
                declared=declared[host][1],
                documents=held[entry.site_id],
                keys=keys[entry.site_id],
            )
            for host, entry in there.items()
        }
        return [stored.get(host) for host in hosts]

    async def _write(self, several: Sequence[FinishedVisit]) -> list[None]:
        async with self._engine.begin() as connection:
            # The hosts are held before their tasks, as everywhere, and in one order:
            # nobody waits in a circle.
            current = await sites.lock_sites(
                connection, [visit.host for visit in several]
            )
            ended = [
                (visit, entry, visit.complete(entry))
                for visit in several
                if (entry := current.get(visit.host)) and entry.status != "withdrawn"
            ]
            held = await tasks.complete_all(connection, [done for *_, done in ended])
            updates = [
                SiteUpdate(
                    entry=entry,
                    understood=visit.understood,
                    declarations=dict(visit.declared),
                    notices=visit.notices,
                    now=visit.now,
                )
                for visit, entry, done in ended
                if done.task.lease in held
            ]
            await self._lister.list_sites(connection, updates)
        return [None] * len(several)

    async def _end(self, several: Sequence[_EndedVisit]) -> list[None]:
        writes = Gathered()
        async with self._engine.begin() as connection:
            held = await tasks.complete_all(connection, [done for done, *_ in several])
            for done, notices, now, unchanged in several:
                site_id = done.task.site_id
                if done.task.lease in held:
                    if unchanged:
                        await documents.confirm_documents(
                            writes, site_id, unchanged, now
                        )
                    await gather_notices(writes, site_id, notices, now)
            await writes.carry_out(connection)
        return [None] * len(several)
