"""A service over a synthetic registry: its folder, its index, and its processes."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

import click
import msgspec
import psutil

from registry import keyring
from registry.bench.scratch import database_url, scratch_postgres
from registry.bench.synthetic.documented import DocumentWriter
from registry.bench.synthetic.entries import EntryWriter
from registry.bench.synthetic.queries import make_requests
from registry.bench.synthetic.site_rows import CHUNK, Registry, make_registry
from registry.bench.synthetic.tables import (
    SyntheticSite,
    analyze_sites,
    copy_sites,
    empty_sites,
)
from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.ports import verify_port_is_free
from registry.cli.service.serve import until_ready
from registry.cli.service.supervise import Supervisor, parts_of_service
from registry.db.engine.embedded import EmbeddedPostgres
from registry.db.engine.engines import Engine, engine_at
from registry.db.schema.migrate import migrate
from registry.index.building.manifest import read_manifest
from registry.index.building.recovery import is_current_code
from registry.index.segments.array_file import FileDamaged
from registry.observability import configure_logging
from registry.ranking.policy import DEFAULT_POLICY
from registry.settings import Settings, as_environment
from registry.usecases.ids import utc_now
from registry.usecases.sites.list_site import make_lister

Tell = Callable[[str], None]
_PAUSE_S = 0.05
_TIMEOUT_S = 3_600.0
PREPARED = "prepared.json"
REQUESTS = 50_000
REQUEST_SITES = 5 * CHUNK
LIMIT = 20
UNLIMITED = 1e6
"""Times the service's limits: a bench is one client, and measures the service at work."""


class PreparedService(msgspec.Struct, frozen=True):
    """Content of a folder; requests: words, and the point of the user.

    documents: how many different ones the sites have; 0: none has any.
    """

    sites: int
    policy: str
    requests: list[tuple[str, tuple[float, float] | None]]
    documents: int = 0


@contextmanager
def scratch_service(
    folder: Path, *, port: int, workers: int
) -> Iterator[tuple[Settings, EmbeddedPostgres]]:
    """Run the database of a service on this folder; yield the service's settings too.

    Raises: click.ClickException if the port is taken.
    """
    settings = settings_or_exit(
        port=port, data=folder, workers=workers, database_url="", limits=UNLIMITED
    )
    configure_logging("json")
    verify_port_is_free(settings.host, settings.port)
    with scratch_postgres(folder) as server:
        yield replace(settings, database_url=database_url(server)), server


def path_of(words: str, point: tuple[float, float] | None) -> str:
    """Return the path and query of a request for LIMIT results."""
    parameters: dict[str, object] = {"q": words, "limit": LIMIT}
    if point is not None:
        parameters |= {"lat": round(point[0], 4), "lon": round(point[1], 4)}
    return f"/v1/search?{urlencode(parameters)}"


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[None]:
    """Run the service without crawlers and reporter; ready when entered."""
    parts = parts_of_service(settings.host, settings.port, settings.workers, crawlers=0)
    chosen = [part for part in parts if part.name != "reporter"]
    alone = replace(settings, crawlers=0, crawlers_in_all=0)
    supervisor = Supervisor(chosen, as_environment(alone))
    running = asyncio.create_task(supervisor.run())
    try:
        await until_ready(settings.origin)
        yield
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def prepare(
    settings: Settings, sites: int, print_progress: Tell, *, documents: int = 0
) -> PreparedService:
    """Fill the folder, unless it is filled already.

    Raises: click.ClickException if it holds another registry than the one to be measured.
    documents: see `PreparedService`.
    """
    if settings.policy.digest != DEFAULT_POLICY.digest:
        raise click.UsageError(
            "the benchmark's sites have profiles of the default policy: "
            "unset FAIR_REGISTRY_ENCODER"
        )
    marker = settings.data / PREPARED
    async with engine_at(settings.database_url) as owner:
        await migrate(owner)
        prepared = _read(marker) or await _make(
            settings, owner, sites, documents, print_progress
        )
    held = prepared.sites, prepared.policy, prepared.documents
    if held != (sites, DEFAULT_POLICY.digest, documents):
        held_here = f"the folder holds {prepared.sites} sites, or others than these"
        raise click.ClickException(f"{settings.data}: {held_here}")
    # Only a whole registry is marked: one that was broken off is made anew.
    marker.write_bytes(msgspec.json.encode(prepared))
    return prepared


async def _make(
    settings: Settings, owner: Engine, sites: int, documents: int, print_progress: Tell
) -> PreparedService:
    if not settings.keys.exists():
        keyring.create_keyring(settings.keys, settings.log_origin)
    registry, written = make_registry(), None
    if documents:
        written = DocumentWriter(make_lister(DEFAULT_POLICY), documents)
    await _fill(owner, registry, sites, written, print_progress)
    requests = _requests(registry, sites)
    return PreparedService(sites, DEFAULT_POLICY.digest, requests, documents)


def _read(marker: Path) -> PreparedService | None:
    if not marker.exists():
        return None
    return msgspec.json.decode(marker.read_bytes(), type=PreparedService)


async def _fill(
    owner: Engine,
    registry: Registry,
    sites: int,
    documents: DocumentWriter | None,
    print_progress: Tell,
) -> None:
    """Make a chunk while the one before it is written."""
    writer, started = EntryWriter(registry.language), time.perf_counter()

    def make(first: int) -> list[SyntheticSite]:
        plain = writer.sites(registry.chunk(first, min(CHUNK, sites - first)))
        return list(documents.sites(plain) if documents else plain)

    async with owner.begin() as connection:
        await empty_sites(connection)
    async with owner.connect() as connection:
        making = asyncio.create_task(asyncio.to_thread(make, 0))
        for first in range(0, sites, CHUNK):
            stored = await making
            if first + CHUNK < sites:
                making = asyncio.create_task(asyncio.to_thread(make, first + CHUNK))
            await copy_sites(connection, stored, utc_now())
            spent = time.perf_counter() - started
            print_progress(f"{first + len(stored)} sites made in {spent:.0f} s")
    async with owner.begin() as connection:
        await analyze_sites(connection)


def _requests(
    registry: Registry, sites: int
) -> list[tuple[str, tuple[float, float] | None]]:
    """Draw requests in words of some of the sites."""
    rows = registry.rows(0, min(sites, REQUEST_SITES))
    return [
        (words, (point.latitude, point.longitude) if point else None)
        for words, point in make_requests(registry, rows, REQUESTS)
    ]


# ---- the index ----


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEffort:
    """Effort of building the whole index; peaks of memory in MB.

    own_mb: neither shared nor of files. mapped_mb: pages of files.
    """

    seconds: float
    cpu_s: float
    own_mb: int
    mapped_mb: int


async def build_index(settings: Settings) -> IndexEffort | None:
    """Build it from the database, unless the folder has one of this code."""
    if _has_index(settings):
        return None
    started, own_mb, mapped_mb = time.perf_counter(), 0, 0
    command = [sys.executable, "-m", "registry.indexer"]
    environment = {**os.environ, **as_environment(settings)}
    indexer = subprocess.Popen(command, env=environment)  # noqa: ASYNC220, S603 — our own
    try:
        process = psutil.Process(indexer.pid)
        async with asyncio.timeout(_TIMEOUT_S):
            while not _has_index(settings):
                own, mapped = memory_mb(process)
                own_mb, mapped_mb = max(own_mb, own), max(mapped_mb, mapped)
                await asyncio.sleep(_PAUSE_S)
        spent = process.cpu_times()
    finally:
        indexer.terminate()
        await asyncio.to_thread(indexer.wait)
    return IndexEffort(
        seconds=round(time.perf_counter() - started, 1),
        cpu_s=round(spent.user + spent.system, 1),
        own_mb=own_mb,
        mapped_mb=mapped_mb,
    )


def memory_mb(process: psutil.Process) -> tuple[int, int]:
    """Return its own memory, and that of mapped files, in MB."""
    memory = process.memory_info()
    return (memory.rss - memory.shared) >> 20, memory.shared >> 20


def _has_index(settings: Settings) -> bool:
    try:
        manifest = read_manifest(settings.index)
    except FileDamaged:
        return False
    return manifest is not None and is_current_code(manifest, DEFAULT_POLICY)
