"""`bench changes`: the time from a change to the answer, also while a base is built.

The real service, but for its crawlers, over a synthetic registry. A site's profile is
changed in the database to hold words of its own, which are searched for over HTTP until
the site is the answer. For a new base, one site in seven is withdrawn: more rows are
dead then than a base may hold.
"""

import asyncio
import itertools
import time
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import psutil
from msgspec import structs

from registry.bench.figures import tell_figures
from registry.bench.load import Latencies, drive
from registry.bench.scratch import scratch_folder
from registry.bench.service import (
    PreparedService,
    build_index,
    memory_mb,
    path_of,
    prepare,
    scratch_service,
    serving,
)
from registry.bench.synthetic import tables
from registry.client import RegistryClient
from registry.db.engine.engines import Engine, engine_at
from registry.db.sites import profiles
from registry.index.building.manifest import read_manifest
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import Profile, parse_profile
from registry.ranking.terms import stem
from registry.settings import Settings
from registry.sites.identifier import format_site_id
from registry.terminal.output import json_option, print_progress
from registry.usecases.sites.list_site import stored_profiles

PORT = 8192
WITHDRAWN_SHARE = 7
CHANGE_PAUSE_S, ASK_PAUSE_S, WATCH_PAUSE_S = 0.2, 0.01, 0.02
REBUILD_TIMEOUT_S, VISIBLE_TIMEOUT_S = 1_800.0, 60.0
CHANGED_SITES, PATHS_A_SECOND = 1_000, 1_000
_PREFIX, _LETTERS = "qzx", "bcdfghjklm"  # of words that no other site has


@click.command()
@click.option("--sites", type=click.IntRange(min=10_000), default=100_000)
@click.option("--seconds", type=float, default=15.0, show_default=True)
@click.option("--rebuilds", type=click.IntRange(1, WITHDRAWN_SHARE - 1), default=2)
@click.option("--port", type=int, default=PORT, show_default=True)
@click.option(
    *("--keep", "data"),
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to make the registry in; each run withdraws sites of it.",
)
@json_option
def changes(data: Path | None, *, as_json: bool, **given: Any) -> None:
    """Time from the commit of a change to the answer with it, and searches beside.

    rebuild_cpu_s is all CPU of the indexer while a base was built, changes too.
    """
    with scratch_folder(data) as folder:
        figures = asyncio.run(_Bench(folder=folder, **given).measure())
    tell_figures(figures, as_json=as_json)
    if figures["failures"]:
        raise SystemExit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    folder: Path
    sites: int
    seconds: float
    rebuilds: int
    port: int

    async def measure(self) -> dict[str, Any]:
        service = scratch_service(self.folder, port=self.port, workers=1)
        with service as (settings, _):
            prepared = await prepare(settings, self.sites, print_progress)
            indexed = await build_index(settings)
            async with (
                engine_at(settings.database_url, pool=2) as owner,
                serving(settings),
            ):
                figures = await self._measure(settings, owner, prepared)
                return {**figures, "index_built": indexed and asdict(indexed)}

    async def _measure(
        self, settings: Settings, owner: Engine, prepared: PreparedService
    ) -> dict[str, Any]:
        indexer = _Indexer(settings.index)
        paths = [path_of(*request) for request in prepared.requests]
        async with RegistryClient(settings.origin) as client:
            changer = _Changer(client, owner, await _profiles(owner))
            await drive(settings.origin, paths, connections=1, duration_s=2)
            await indexer.until_idle(REBUILD_TIMEOUT_S)
            calm = await _beside(changer, settings.origin, paths, self._rest())
            busy = _Waits()
            parts = iter(range(WITHDRAWN_SHARE - 1))
            for _ in range(self.rebuilds):
                rebuild = self._rebuild(owner, indexer, parts)
                busy.add(await _beside(changer, settings.origin, paths, rebuild))
        return {
            "sites": self.sites,
            "indexer_mb": indexer.memory_mb(),
            "indexer_mb_peak": indexer.peak_mb,
            **_figures("", calm),
            **_figures("_during_rebuild", busy),
            "search_ms_p99_before": _ms(calm.searches, 0.99),
            "search_ms_p99_during_rebuild": _ms(busy.searches, 0.99),
            "searches_before": len(calm.searches),
            "searches_during_rebuild": len(busy.searches),
            "rebuild_cpu_s": round(fmean(indexer.cpu_s), 1),
            "rebuild_s": round(fmean(indexer.took_s), 1),
            "failures": calm.failures + busy.failures,
        }

    async def _rest(self) -> None:
        await asyncio.sleep(self.seconds)

    async def _rebuild(
        self, owner: Engine, indexer: "_Indexer", parts: Iterator[int]
    ) -> None:
        """Withdraw the next part of the sites, so that a new base is due."""
        withdrawn = 0
        while not withdrawn:
            async with owner.begin() as connection:
                part = next(parts, None)
                if part is None:
                    raise click.ClickException("no sites are left to withdraw")
                withdrawn = await tables.withdraw_part(
                    connection, part, WITHDRAWN_SHARE
                )
        print_progress(f"{withdrawn} sites are withdrawn")
        await indexer.until_new_base(REBUILD_TIMEOUT_S)
        print_progress(f"a new base after {indexer.took_s[-1]:.1f} s")


@dataclass(slots=True)
class _Waits:
    """Seconds from each change to the answer with it, and of each search."""

    changes: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    failures: int = 0

    def add(self, other: "_Waits") -> None:
        self.changes += other.changes
        self.searches += other.searches
        self.failures += other.failures


async def _beside(
    changer: "_Changer",
    origin: str,
    paths: Sequence[str],
    work: Coroutine[Any, Any, None],
) -> _Waits:
    """Change and search until the work is done."""
    waits = _Waits()
    working = asyncio.create_task(work)
    changing = asyncio.create_task(changer.run(waits))
    turns = itertools.count(0, PATHS_A_SECOND)
    while not working.done():
        first = next(turns) % (len(paths) - PATHS_A_SECOND)
        part = paths[first : first + PATHS_A_SECOND]
        latencies = await drive(origin, part, connections=1, duration_s=1)
        waits.searches += latencies.seconds
        waits.failures += latencies.failures
    changer.stop()
    await asyncio.gather(working, changing)
    return waits


class _Indexer:
    """The indexer's process, and its newest base."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.cpu_s: list[float] = []
        self.took_s: list[float] = []
        self.peak_mb = 0

    async def until_idle(self, timeout_s: float) -> None:
        """Wait for the merge that a kept registry may owe from its last run."""
        async with asyncio.timeout(timeout_s):
            while self._process().children():
                await asyncio.sleep(WATCH_PAUSE_S)

    async def until_new_base(self, timeout_s: float) -> None:
        started, spent = time.perf_counter(), self._cpu_s()
        base = self._read_base()
        async with asyncio.timeout(timeout_s):
            while self._read_base() == base:
                await asyncio.sleep(WATCH_PAUSE_S)
                self.peak_mb = max(self.peak_mb, self.memory_mb())
        self.cpu_s.append(self._cpu_s() - spent)
        self.took_s.append(time.perf_counter() - started)

    def memory_mb(self) -> int:
        """Return the memory of indexer and merge, without mapped files."""
        process = self._process()
        own = memory_mb(process)[0]
        for merging in process.children():
            with suppress(psutil.NoSuchProcess):
                own += memory_mb(merging)[0]
        return own

    def _cpu_s(self) -> float:
        """Return its CPU seconds, with those of merges that have ended."""
        times = self._process().cpu_times()
        ended = times.children_user + times.children_system
        return float(times.user + times.system + ended)

    def _read_base(self) -> str:
        manifest = read_manifest(self._folder)
        return manifest.parts[0] if manifest else ""

    def _process(self) -> psutil.Process:
        children: list[psutil.Process] = psutil.Process().children(recursive=True)
        return next(c for c in children if "registry.indexer" in c.cmdline())


class _Changer:
    """Changes one site after the other, and waits for each in an answer."""

    def __init__(
        self, client: RegistryClient, owner: Engine, bodies: Sequence[tuple[int, bytes]]
    ) -> None:
        self._client = client
        self._owner = owner
        self._bodies = itertools.cycle(bodies)
        # Numbers by the clock, since a kept registry has the words of earlier runs.
        self._words = map(_unique_words, itertools.count(time.time_ns() // 1_000_000))
        self._is_stopping = False

    async def run(self, waits: _Waits) -> None:
        """Change sites until stopped."""
        self._is_stopping = False
        while not self._is_stopping:
            waits.changes.append(await self._change())
            await asyncio.sleep(CHANGE_PAUSE_S)

    def stop(self) -> None:
        self._is_stopping = True

    async def _change(self) -> float:
        """Change a site; return the seconds from the commit to the answer."""
        site_id, body = next(self._bodies)
        words = next(self._words)
        profile = _with_words(parse_profile(body), words)
        (stored,) = stored_profiles([profile], DEFAULT_POLICY)
        async with self._owner.begin() as connection:
            await profiles.change_profile(connection, site_id, stored)
        committed = time.perf_counter()
        async with asyncio.timeout(VISIBLE_TIMEOUT_S):
            while not await self._is_visible(words, format_site_id(site_id)):
                await asyncio.sleep(ASK_PAUSE_S)
        return time.perf_counter() - committed

    async def _is_visible(self, words: Sequence[str], site_id: str) -> bool:
        answer = await self._client.search(q=" ".join(words), limit=5)
        return any(r["site"]["id"] == site_id for r in answer["results"])


async def _profiles(owner: Engine) -> list[tuple[int, bytes]]:
    """Return profiles of sites that are never withdrawn here."""
    async with owner.connect() as connection:
        return await tables.profiles_of_part(
            connection, WITHDRAWN_SHARE - 1, WITHDRAWN_SHARE, limit=CHANGED_SITES
        )


def _unique_words(number: int) -> tuple[str, str]:
    """Return two words, since one alone would not make a site eligible."""
    letters = "".join(_LETTERS[int(digit)] for digit in str(number))
    return f"{_PREFIX}{letters}f", f"{_PREFIX}{letters}g"


def _with_words(profile: Profile, words: Sequence[str]) -> Profile:
    """Put the words into all fields, in place of those of an earlier change."""
    terms = tuple(map(stem, words))
    first, *others = profile.actions
    named = structs.replace(
        first,
        name_terms=_own(first.name_terms) + terms,
        description_terms=_own(first.description_terms) + terms,
        parameter_terms=_own(first.parameter_terms) + terms,
    )
    return replace(
        profile,
        site_terms=_own(profile.site_terms) + terms,
        actions=(named, *others),
    )


def _own(terms: Sequence[str]) -> tuple[str, ...]:
    return tuple(term for term in terms if not term.startswith(_PREFIX))


def _figures(when: str, waits: _Waits) -> dict[str, Any]:
    return {
        f"changes{when}": len(waits.changes),
        f"change_visible{when}_ms_p50": _ms(waits.changes, 0.5),
        f"change_visible{when}_ms_p99": _ms(waits.changes, 0.99),
    }


def _ms(seconds: list[float], share: float) -> float:
    return round(Latencies(seconds).percentile_ms(share), 1)
