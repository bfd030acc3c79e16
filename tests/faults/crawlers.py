"""Crawlers as processes, hosts that answer them slowly, and a ledger of their leases."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import psutil
from sqlalchemy import text

from registry.db.engine.engines import Engine
from tests.crawler.net import Page, read_request
from tests.db.scene import wab
from tests.faults.nest import Nest

ROBOTS = Page(b"", "text/plain")
DOCUMENT = Page(json.dumps(wab()).encode(), headers={"ETag": '"1"'})


@dataclass(frozen=True, slots=True)
class Request:
    """A request. at_s: of the monotonic clock."""

    crawler: str
    host: str
    at_s: float


@dataclass
class SlowHosts:
    """Any number of hosts, which take their time."""

    delay_s: float
    requests: list[Request] = field(default_factory=list)
    under_way: dict[str, Counter[str]] = field(default_factory=dict)
    answered: dict[str, asyncio.Event] = field(default_factory=dict)
    """By crawler, where it waits until the event is set: to be seen waiting."""

    async def __call__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        request = await read_request(reader)
        host, crawler = request.headers["host"], _name(request.headers["user-agent"])
        self.requests.append(Request(crawler, host, time.monotonic()))
        hosts = self.under_way.setdefault(crawler, Counter())
        hosts[host] += 1
        await asyncio.sleep(self.delay_s)
        if crawler in self.answered:
            await self.answered[crawler].wait()
        hosts[host] -= 1
        page = ROBOTS if request.path == "/robots.txt" else DOCUMENT
        writer.write(page.encode())
        await writer.drain()

    def asked_by(self, crawler: str) -> list[Request]:
        return [request for request in self.requests if request.crawler == crawler]

    def asked_since(self, at_s: float) -> set[str]:
        return {request.host for request in self.requests if request.at_s > at_s}

    def waited_for_by(self, crawler: str) -> set[str]:
        """Hosts that have not answered this crawler yet."""
        return {
            host for host, count in self.under_way.get(crawler, {}).items() if count
        }


def _name(user_agent: str) -> str:
    """From the address of the page about the bot, which here is each crawler's own."""
    return user_agent.partition("+http://")[2].partition(".test/bot")[0]


class Crawlers:
    """Starts them and sends them signals. settings: of all of them, as of `Settings`."""

    def __init__(self, nest: Nest, **settings: object) -> None:
        self.until = nest.until
        self._nest = nest
        self._settings = settings
        self._alive: dict[str, psutil.Process] = {}

    @property
    def names(self) -> Iterator[str]:
        """The longest alive first."""
        yield from self._alive

    async def start(
        self, name: str, *, unfenced: bool = False, **settings: object
    ) -> None:
        given = {
            **self._settings,
            **settings,
            "public_url": f"http://{name}.test",
        }
        environment = {f"FAIR_REGISTRY_{k.upper()}": str(v) for k, v in given.items()}
        self._alive[name] = await self._nest.hatch(environment, unfenced=unfenced)

    def pause(self, name: str) -> None:
        self._alive[name].suspend()

    def go_on(self, name: str) -> None:
        self._alive[name].resume()

    def kill(self, name: str) -> None:
        """With signal 9, which no process can catch."""
        with suppress(psutil.NoSuchProcess):
            self._alive.pop(name).kill()

    def kill_all(self) -> None:
        for name in list(self.names):
            self.kill(name)


RECORDING = (
    """
    CREATE TABLE public.change (at timestamptz DEFAULT clock_timestamp(),
        site_id bigint, kind text, fence bigint, is_lease boolean,
        ready_at timestamptz, held_until timestamptz)
    """,
    """
    CREATE FUNCTION public.record() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql
    AS $$ BEGIN
        INSERT INTO public.change VALUES (clock_timestamp(), NEW.site_id, NEW.kind,
            NEW.fence, NEW.fence > OLD.fence, greatest(OLD.due_at, OLD.leased_until),
            OLD.leased_until);
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER record AFTER UPDATE ON registry.task FOR EACH ROW
        WHEN (session_user = 'registry_crawler') EXECUTE FUNCTION public.record()
    """,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a crawler did to a task, by the clock of the database: lease or complete it.

    ready_at: since when it could be leased. held_until: the end of the lease before,
    where that was never completed.
    """

    at: datetime
    site_id: int
    kind: str
    fence: int
    is_lease: bool
    ready_at: datetime
    held_until: datetime | None


class Ledger:
    """Everything that crawlers do to tasks, recorded by the database itself."""

    def __init__(self, owner: Engine) -> None:
        self._owner = owner

    @classmethod
    async def open(cls, owner: Engine) -> "Ledger":
        async with owner.begin() as connection:
            for statement in RECORDING:
                await connection.execute(text(statement))
        return cls(owner)

    async def changes(self) -> list[Change]:
        async with self._owner.connect() as connection:
            rows = await connection.execute(text("SELECT * FROM public.change"))
            return [Change(**row._mapping) for row in rows]

    async def leases(self) -> list[Change]:
        return [change for change in await self.changes() if change.is_lease]

    async def completions(self) -> list[Change]:
        return [change for change in await self.changes() if not change.is_lease]

    async def clear(self) -> None:
        async with self._owner.begin() as connection:
            await connection.execute(text("DELETE FROM public.change"))


def overtaken(leases: list[Change], *, by: timedelta) -> list[Change]:
    """Those that came after a lease of a task that was ready so much later."""
    result, latest = [], datetime.min.replace(tzinfo=UTC)
    for task in sorted(leases, key=lambda lease: lease.at):
        if task.ready_at + by < latest:
            result.append(task)
        latest = max(latest, task.ready_at)
    return result


def completed_twice(changes: list[Change]) -> list[tuple[int, str, int]]:
    """Leases under which more than one result was written: one of them was stale."""
    written = Counter(
        (change.site_id, change.kind, change.fence)
        for change in changes
        if not change.is_lease
    )
    return [lease for lease, times in written.items() if times > 1]
