"""`bench changes`: how soon a change is found, also while a base is made anew.

The real service, but for its crawlers, over a made-up registry. A site's profile is
changed in the database to say a word that no other says, and that word is asked for
over HTTP until the site is the answer. For a new base, one site in seven is withdrawn:
the dead are then more than a base may carry.
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
import msgspec
import psutil

from registry.cli.bench.indexing import make_index, memory_mb
from registry.cli.bench.load import Latencies, drive
from registry.cli.bench.scratch import scratch_folder, scratch_postgres
from registry.cli.bench.search_corpus import (
    OtherSites,
    Prepared,
    path_of,
    prepare,
    serving,
)
from registry.cli.output import json_option, tell, tell_figures
from registry.cli.serve import verify_port_is_free
from registry.cli.settings import settings_or_exit
from registry.client import RegistryClient
from registry.db import crowd, profiles
from registry.db.engine import Engine, engine_at
from registry.index.building.manifest import MANIFEST, Manifest
from registry.observability import configure_logging
from registry.ranking.profile import Profile, encode_profile, parse_profile
from registry.ranking.text import stem
from registry.settings import Settings
from registry.sites.identifier import spell_site_id

PORT = 8192
WITHDRAWN_SHARE = 7
CHANGE_PAUSE_S, ASK_PAUSE_S, WATCH_PAUSE_S = 0.2, 0.01, 0.02
REBUILD_TIMEOUT_S, FOUND_TIMEOUT_S = 1_800.0, 60.0
CHANGED_SITES, ASKED_A_SECOND = 1_000, 1_000
_NOBODYS, _LETTERS = "qzx", "bcdfghjklm"


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
    """From the commit of a change to the answer that holds it, and searches beside.

    rebuild_cpu_s is all that the indexer spent while a base was made, changes too.
    """
    with scratch_folder(data) as folder:
        try:
            found = asyncio.run(_Bench(folder=folder, **given).measure())
        except OtherSites as other:
            told = f"{folder} holds {other.sites} sites"
            raise click.ClickException(told) from other
    tell_figures(found, as_json=as_json)
    if found["failures"]:
        raise SystemExit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    folder: Path
    sites: int
    seconds: float
    rebuilds: int
    port: int

    async def measure(self) -> dict[str, Any]:
        settings = settings_or_exit(port=self.port, data=self.folder, database_url="")
        configure_logging("json")
        verify_port_is_free(settings.host, settings.port)
        with scratch_postgres(self.folder) as server:
            url = server.url().render_as_string(hide_password=False)
            settings = replace(settings, database_url=url, workers=1)
            prepared = await prepare(settings, self.sites, tell)
            indexed = await make_index(settings)
            async with engine_at(url, pool=2) as owner, serving(settings):
                found = await self._measure(settings, owner, prepared)
                return {**found, "index_built": indexed and asdict(indexed)}

    async def _measure(
        self, settings: Settings, owner: Engine, prepared: Prepared
    ) -> dict[str, Any]:
        watched = _Indexer(settings.index)
        paths = [path_of(*request) for request in prepared.requests]
        async with RegistryClient(settings.origin) as client:
            changer = _Changer(client, owner, await _profiles(owner))
            await drive(settings.origin, paths, connections=1, duration_s=2)
            await watched.until_idle(REBUILD_TIMEOUT_S)
            calm = await _beside(changer, settings.origin, paths, self._rest())
            busy = _Found()
            parts = iter(range(WITHDRAWN_SHARE - 1))
            for _ in range(self.rebuilds):
                rebuild = self._rebuild(owner, watched, parts)
                busy.add(await _beside(changer, settings.origin, paths, rebuild))
        return {
            "sites": self.sites,
            "indexer_mb": watched.memory_mb(),
            "indexer_mb_peak": watched.peak_mb,
            **_told("", calm),
            **_told("_during_rebuild", busy),
            "search_ms_p99_before": _ms(calm.answered, 0.99),
            "search_ms_p99_during_rebuild": _ms(busy.answered, 0.99),
            "searches_before": len(calm.answered),
            "searches_during_rebuild": len(busy.answered),
            "rebuild_cpu_s": round(fmean(watched.cpu_s), 1),
            "rebuild_s": round(fmean(watched.took_s), 1),
            "failures": calm.failures + busy.failures,
        }

    async def _rest(self) -> None:
        await asyncio.sleep(self.seconds)

    async def _rebuild(
        self, owner: Engine, watched: "_Indexer", parts: Iterator[int]
    ) -> None:
        """Withdraw so many sites, the next part that is left, that a base is due."""
        gone = 0
        while not gone:
            async with owner.begin() as connection:
                part = next(parts, None)
                if part is None:
                    raise click.ClickException("no sites are left to withdraw")
                gone = await crowd.withdraw_part(connection, part, WITHDRAWN_SHARE)
        tell(f"{gone} sites are withdrawn")
        await watched.until_new_base(REBUILD_TIMEOUT_S)
        tell(f"a new base after {watched.took_s[-1]:.1f} s")


@dataclass(slots=True)
class _Found:
    """Seconds until each change was found, and of each search."""

    changed: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    failures: int = 0

    def add(self, other: "_Found") -> None:
        self.changed += other.changed
        self.answered += other.answered
        self.failures += other.failures


async def _beside(
    changer: "_Changer",
    origin: str,
    paths: Sequence[str],
    work: Coroutine[Any, Any, None],
) -> _Found:
    """Changes and searches, until the work is done."""
    found = _Found()
    working = asyncio.create_task(work)
    changing = asyncio.create_task(changer.run(found))
    turns = itertools.count(0, ASKED_A_SECOND)
    while not working.done():
        first = next(turns) % (len(paths) - ASKED_A_SECOND)
        some = paths[first : first + ASKED_A_SECOND]
        answered = await drive(origin, some, connections=1, duration_s=1)
        found.answered += answered.seconds
        found.failures += answered.failures
    changer.stop()
    await asyncio.gather(working, changing)
    return found


class _Indexer:
    """The indexer's process, and what it puts on the shelf."""

    def __init__(self, folder: Path) -> None:
        self._manifest = folder / MANIFEST
        self.cpu_s: list[float] = []
        self.took_s: list[float] = []
        self.peak_mb = 0

    async def until_idle(self, timeout_s: float) -> None:
        """A kept registry may owe a merge from its last run."""
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
        """Its own and its merge's: without the files that they have mapped."""
        process = self._process()
        own = memory_mb(process)[0]
        for merging in process.children():
            with suppress(psutil.NoSuchProcess):
                own += memory_mb(merging)[0]
        return own

    def _cpu_s(self) -> float:
        """Merges that have ended, too."""
        times = self._process().cpu_times()
        ended = times.children_user + times.children_system
        return float(times.user + times.system + ended)

    def _read_base(self) -> str:
        manifest = msgspec.json.decode(self._manifest.read_bytes(), type=Manifest)
        return manifest.parts[0]

    def _process(self) -> psutil.Process:
        children: list[psutil.Process] = psutil.Process().children(recursive=True)
        return next(one for one in children if "registry.indexer" in one.cmdline())


class _Changer:
    """Changes one site after the other, and waits until each is found."""

    def __init__(
        self, client: RegistryClient, owner: Engine, bodies: Sequence[tuple[int, bytes]]
    ) -> None:
        self._client = client
        self._owner = owner
        self._bodies = itertools.cycle(bodies)
        # A kept registry says those of earlier runs.
        self._words = map(_nobodys_words, itertools.count(time.time_ns() // 1_000_000))
        self._is_stopping = False

    async def run(self, found: _Found) -> None:
        """Until stopped."""
        self._is_stopping = False
        while not self._is_stopping:
            found.changed.append(await self._change())
            await asyncio.sleep(CHANGE_PAUSE_S)

    def stop(self) -> None:
        self._is_stopping = True

    async def _change(self) -> float:
        """Seconds from the commit to the answer."""
        site_id, body = next(self._bodies)
        words = next(self._words)
        said = _saying(parse_profile(body), words)
        async with self._owner.begin() as connection:
            await profiles.change_profile(connection, site_id, encode_profile(said))
        committed = time.perf_counter()
        async with asyncio.timeout(FOUND_TIMEOUT_S):
            while not await self._is_found(words, spell_site_id(site_id)):
                await asyncio.sleep(ASK_PAUSE_S)
        return time.perf_counter() - committed

    async def _is_found(self, words: Sequence[str], site_id: str) -> bool:
        answer = await self._client.search(q=" ".join(words), limit=5)
        return any(one["site"]["id"] == site_id for one in answer["results"])


async def _profiles(owner: Engine) -> list[tuple[int, bytes]]:
    """Of sites that are never withdrawn here."""
    async with owner.connect() as connection:
        return await crowd.profiles_of_part(
            connection, WITHDRAWN_SHARE - 1, WITHDRAWN_SHARE, limit=CHANGED_SITES
        )


def _nobodys_words(number: int) -> tuple[str, str]:
    """And of no other number; one alone would not make a site eligible."""
    spelled = "".join(_LETTERS[int(digit)] for digit in str(number))
    return f"{_NOBODYS}{spelled}f", f"{_NOBODYS}{spelled}g"


def _saying(profile: Profile, words: Sequence[str]) -> Profile:
    """As if they stood everywhere, in place of those of an earlier change."""
    terms = tuple(map(stem, words))
    first, *others = profile.actions
    named = replace(
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
    return tuple(one for one in terms if not one.startswith(_NOBODYS))


def _told(when: str, found: _Found) -> dict[str, Any]:
    return {
        f"changes{when}": len(found.changed),
        f"change_visible{when}_ms_p50": _ms(found.changed, 0.5),
        f"change_visible{when}_ms_p99": _ms(found.changed, 0.99),
    }


def _ms(seconds: list[float], share: float) -> float:
    return round(Latencies(seconds).percentile_ms(share), 1)
