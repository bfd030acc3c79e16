"""A made-up registry in a folder: database, keys and index, as the service finds them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import msgspec

from registry import keyring
from registry.cli.bench.synthetic import CHUNK, Registry, make_registry
from registry.cli.bench.synthetic_entries import Spelling, make_sites
from registry.cli.bench.synthetic_queries import make_requests
from registry.cli.serve import until_ready
from registry.cli.supervise import Supervisor, parts_of_service
from registry.db.crowd import analyze_sites, copy_sites
from registry.db.engine import Engine, open_engine
from registry.db.migrate import migrate
from registry.index.builder import Builder
from registry.index.rows import Bodies, Rows, join
from registry.index.shelf import ShelfWriter
from registry.ranking.policy import DEFAULT_POLICY
from registry.settings import Settings, as_environment
from registry.sites.place import Point
from registry.usecases.chance import utc_now

Request = tuple[str, Point | None]
Tell = Callable[[str], None]
PREPARED = "prepared.json"
REQUESTS = 50_000
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
async def serving(settings: Settings, *, indexer: bool) -> AsyncIterator[None]:
    """The service without crawlers and reporter: ready, and stopped in the end."""
    parts = parts_of_service(settings.host, settings.port, settings.workers, crawlers=0)
    left_out = {"reporter"} if indexer else {"reporter", "indexer"}
    chosen = [one for one in parts if one.name not in left_out]
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
    if found := _read(marker):
        if (found.sites, found.policy) != (sites, DEFAULT_POLICY.digest):
            raise OtherSites(found.sites)
        return found
    owner = open_engine(settings.database_url)
    try:
        await migrate(owner)
        keyring.create_keyring(settings.keys, settings.log_origin)
        registry = make_registry()
        rows = await _fill(owner, registry, sites, tell)
    finally:
        await owner.dispose()
    shelf = ShelfWriter(settings.index)
    shelf.put(Builder.of_rows(rows, {}, DEFAULT_POLICY))
    shelf.close()
    made = Prepared(sites, DEFAULT_POLICY.digest, _requests(registry, rows))
    marker.write_bytes(msgspec.json.encode(made))
    return made


def _read(marker: Path) -> Prepared | None:
    if not marker.exists():
        return None
    return msgspec.json.decode(marker.read_bytes(), type=Prepared)


async def _fill(owner: Engine, registry: Registry, sites: int, tell: Tell) -> Rows:
    """The rows of all sites, which stand in the database then."""
    spelling = Spelling(registry.language)
    parts = []
    for first in range(0, sites, CHUNK):
        chunk = registry.chunk(first, min(CHUNK, sites - first))
        made = list(make_sites(chunk, spelling))
        async with owner.connect() as connection:
            await copy_sites(connection, made, utc_now())
        bodies = Bodies.of(one.profile for one in made)
        parts.append(replace(chunk.rows, bodies=bodies))
        tell(f"{first + len(made)} sites made")
    async with owner.begin() as connection:
        await analyze_sites(connection)
    return join(parts)


def _requests(
    registry: Registry, rows: Rows
) -> list[tuple[str, tuple[float, float] | None]]:
    return [
        (words, (point.latitude, point.longitude) if point else None)
        for words, point in make_requests(registry, rows, REQUESTS)
    ]
