"""A made-up registry in a folder: database and keys, as the service finds them."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode

import msgspec

from registry import keyring
from registry.cli.bench.synthetic import CHUNK, Registry, make_registry
from registry.cli.bench.synthetic_entries import Spelling, make_sites
from registry.cli.bench.synthetic_queries import make_requests
from registry.cli.serve import until_ready
from registry.cli.supervise import Supervisor, parts_of_service
from registry.db.crowd import Ranked, analyze_sites, copy_sites, empty_sites
from registry.db.engine import Engine, engine_at
from registry.db.migrate import migrate
from registry.ranking.policy import DEFAULT_POLICY
from registry.settings import Settings, as_environment
from registry.sites.place import Point
from registry.usecases.chance import utc_now

Request = tuple[str, Point | None]
Tell = Callable[[str], None]
PREPARED = "prepared.json"
REQUESTS = 50_000
ASKED_FOR_SITES = 5 * CHUNK
LIMIT = 20


class Prepared(msgspec.Struct, frozen=True):
    """What a folder holds. requests: words, and where they are asked from."""

    sites: int
    policy: str
    requests: list[tuple[str, tuple[float, float] | None]]


class OtherSites(ValueError):
    """The folder holds another registry than the one asked for."""

    def __init__(self, sites: int) -> None:
        self.sites = sites
        super().__init__(f"the folder holds {sites} sites, or those of another policy")


def path_of(words: str, point: tuple[float, float] | None) -> str:
    """Where a request of LIMIT places is asked."""
    asked: dict[str, object] = {"q": words, "limit": LIMIT}
    if point is not None:
        asked |= {"lat": round(point[0], 4), "lon": round(point[1], 4)}
    return f"/v1/search?{urlencode(asked)}"


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[None]:
    """The service without crawlers and reporter: ready, and stopped in the end."""
    parts = parts_of_service(settings.host, settings.port, settings.workers, crawlers=0)
    chosen = [one for one in parts if one.name != "reporter"]
    supervisor = Supervisor(chosen, as_environment(settings))
    running = asyncio.create_task(supervisor.run())
    try:
        await until_ready(settings.origin)
        yield
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def prepare(settings: Settings, sites: int, tell: Tell) -> Prepared:
    """Made, unless the folder holds it already. Raises: OtherSites."""
    marker = settings.data / PREPARED
    async with engine_at(settings.database_url) as owner:
        await migrate(owner)
        found = _read(marker) or await _make(settings, owner, sites, tell)
    if (found.sites, found.policy) != (sites, DEFAULT_POLICY.digest):
        raise OtherSites(found.sites)
    # Only a whole registry is marked: what was begun and broken off is made anew.
    marker.write_bytes(msgspec.json.encode(found))
    return found


async def _make(settings: Settings, owner: Engine, sites: int, tell: Tell) -> Prepared:
    if not settings.keys.exists():
        keyring.create_keyring(settings.keys, settings.log_origin)
    registry = make_registry()
    await _fill(owner, registry, sites, tell)
    return Prepared(sites, DEFAULT_POLICY.digest, _requests(registry, sites))


def _read(marker: Path) -> Prepared | None:
    if not marker.exists():
        return None
    return msgspec.json.decode(marker.read_bytes(), type=Prepared)


async def _fill(owner: Engine, registry: Registry, sites: int, tell: Tell) -> None:
    """A chunk is made while the one before it is written."""
    spelling, started = Spelling(registry.language), time.perf_counter()

    def make(first: int) -> list[Ranked]:
        return list(
            make_sites(registry.chunk(first, min(CHUNK, sites - first)), spelling)
        )

    async with owner.begin() as connection:
        await empty_sites(connection)
    async with owner.connect() as connection:
        making = asyncio.create_task(asyncio.to_thread(make, 0))
        for first in range(0, sites, CHUNK):
            made = await making
            if first + CHUNK < sites:
                making = asyncio.create_task(asyncio.to_thread(make, first + CHUNK))
            await copy_sites(connection, made, utc_now())
            spent = time.perf_counter() - started
            tell(f"{first + len(made)} sites made in {spent:.0f} s")
    async with owner.begin() as connection:
        await analyze_sites(connection)


def _requests(
    registry: Registry, sites: int
) -> list[tuple[str, tuple[float, float] | None]]:
    """In words of some of the sites."""
    rows = registry.rows(0, min(sites, ASKED_FOR_SITES))
    return [
        (words, (point.latitude, point.longitude) if point else None)
        for words, point in make_requests(registry, rows, REQUESTS)
    ]
