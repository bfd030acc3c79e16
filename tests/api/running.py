"""The whole registry, running: web processes, crawler and publisher, with a small town.

The web tier is the real one, granian in a process of its own, so that its sockets, its
memory and its log can be looked at. The rest runs on an event loop of a thread, as its
processes would.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from crawler.__main__ import make_context
from crawler.worker import Worker
from registry import keyring
from registry.db.engine.embedded import EmbeddedPostgres
from registry.db.engine.engines import Role, open_engine
from registry.demo.town.member import CAST
from registry.demo.town.server import Town, TownSite
from registry.identity.statements.jws import sign_compact
from registry.index.sources import digest_of_code
from registry.ranking.policy import DEFAULT_POLICY
from registry.settings import Settings, as_environment
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from registry.usecases.ids import IdSource
from registry.usecases.log.commit_ahead import commit_ahead
from registry.usecases.log.sequence import Sequencer
from registry.usecases.search.build_index import IndexBuilder
from registry.web.granian_options import ALLOCATOR, web_arguments
from tests.ports import free_port
from tests.waiting import PATIENCE_S, awaited

Json = dict[str, Any]
T = TypeVar("T")

LISTED = (
    "zaytoun-table.test",  # wab, a restaurant in Amman
    "ceviche-norte.test",  # wab, a restaurant in Lima
    "galata-tables.test",  # webmcp, a restaurant in Istanbul
    "radhaus-kreuz.test",  # wab, bicycles in Berlin
    "almond-door-clinic.test",  # awas, a clinic in Amman
    "pati-lantern.test",  # awp, a veterinarian in Istanbul
    "lingua-ferry.test",  # awp, translation anywhere
    "paper-otter.test",  # abp, documents anywhere
)
UNLISTED = (
    "kule-rooms.test",
    "petale-et-tige.test",
    "maple-spoke.test",
    "wasserwichtel.test",
)
CHANGING_KEYS = ("quiet-needle.test", "kyoto-clay.test")
DISHONEST = ("midnight-latch.test", "lucky-lantern.test")
AUDITOR = Signer(  # whom the registry knows
    name="auditor.test",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(b"a" * 32),
)
LIFETIME_S = 600


class RunningRegistry:
    """http: a client of it. log: what its web process wrote to standard error.

    Sites of LISTED are registered; those of UNLISTED, CHANGING_KEYS and DISHONEST serve,
    and are free to be registered by one test each.
    """

    def __init__(
        self, settings: Settings, town: Town, backstage: "Backstage", web_pid: int
    ) -> None:
        self.settings = settings
        self.town = town
        self.origin = settings.origin
        self.http = httpx.Client(base_url=self.origin, timeout=60)
        self.log = settings.data / "web.log"
        self.web_pid = web_pid
        self._backstage = backstage

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """On the loop of the crawler and the publisher."""
        return self._backstage.run(work)

    def sign(self, site: TownSite, /, **changes: Any) -> str:
        """A statement of the site over a fresh challenge; None leaves a member out."""
        now = int(time.time())
        challenge = self.http.post("/v1/challenges", json={"host": site.host}).json()
        payload = {
            **challenge["payload"],
            **site.declarations,
            "docs": [{"url": url} for url in site.document_urls],
            "iat": now,
            "exp": now + LIFETIME_S,
            **changes,
        }
        members = {name: value for name, value in payload.items() if value is not None}
        return sign_compact(members, site.private_key)

    def submit(self, token: str | bytes) -> httpx.Response:
        headers = {"Content-Type": "application/jose"}
        return self.http.post("/v1/registrations", content=token, headers=headers)

    def decided(self, registration_id: str) -> Json:
        def look() -> Json | None:
            body: Json = self.http.get(f"/v1/registrations/{registration_id}").json()
            return body if body["status"] != "verifying" else None

        return awaited(f"the decision of {registration_id}", look)

    def published(self, ranking_id: str) -> Json:
        """The ranking, once it stands in the log."""

        def look() -> Json | None:
            body: Json = self.http.get(f"/v1/rankings/{ranking_id}").json()
            return body if body["leafIndex"] is not None else None

        return awaited(f"{ranking_id} in the log", look)

    def metrics(self) -> str:
        """What Prometheus would read; the log says where."""
        lines = self.log.read_text().splitlines()
        line = next(line for line in lines if "metrics_served" in line)
        port = json.loads(line)["port"]
        return httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text

    def search(self, q: str = "book a table for two", **given: Any) -> Json:
        answer = self.http.get("/v1/search", params={"q": q, **given})
        assert answer.status_code == 200, answer.text
        body: Json = answer.json()
        return body


class Backstage:
    """An event loop in a thread, and what lives on it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._stack = AsyncExitStack()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    def open_town(self, folder: Path) -> Town:
        hosts = {*LISTED, *UNLISTED, *CHANGING_KEYS, *DISHONEST}
        cast = tuple(member for member in CAST if member.host in hosts)
        town = Town.build(folder, cast)
        return self.run(self._stack.enter_async_context(town.open()))

    def work(self, settings: Settings) -> None:
        """Publish the log, build the index and crawl, until the end."""
        self.run(self._publish(settings))
        self.run(self._index(settings))
        self.run(self._crawl(settings))

    async def _publish(self, settings: Settings) -> None:
        ids = IdSource()
        engine = open_engine(settings.database_url, Role.PUBLISHER)
        self._stack.push_async_callback(engine.dispose)
        await commit_ahead(engine, DEFAULT_POLICY, digest_of_code(), ids)
        signer = keyring.load_signer(settings.keys, keyring.LOG, settings.log_origin)
        self._keep_running(Sequencer(engine, signer, ids.clock).run())

    async def _index(self, settings: Settings) -> None:
        engine = open_engine(settings.database_url, Role.RANKER, pool=1)
        self._stack.push_async_callback(engine.dispose)
        builder = IndexBuilder(engine, settings.index, DEFAULT_POLICY)
        self._keep_running(builder.run())

    async def _crawl(self, settings: Settings) -> None:
        engine = open_engine(settings.database_url, Role.CRAWLER, pool=8)
        self._stack.push_async_callback(engine.dispose)
        context = make_context(settings, engine)
        self._keep_running(Worker(context, at_once=settings.crawl_at_once).run())

    def _keep_running(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)

        async def stop() -> None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

        self._stack.push_async_callback(stop)


@contextlib.contextmanager
def web_process(
    settings: Settings, log: str = "web.log"
) -> Iterator[subprocess.Popen[bytes]]:
    """granian, as `fair-registry serve` starts it; its words go to `log`."""
    arguments = web_arguments(settings.host, settings.port, 1)
    environment = {**ALLOCATOR, **os.environ, **as_environment(settings)}
    with (settings.data / log).open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            env=environment,
            stdout=written,
            stderr=written,
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def signing_web(registry: RunningRegistry) -> AbstractContextManager[httpx.Client]:
    """A second web process beside, whose registry signs what it sends: it has webhooks."""
    return public_web(registry, bot_auth=True)


@contextlib.contextmanager
def public_web(registry: RunningRegistry, **changes: Any) -> Iterator[httpx.Client]:
    """A second web process beside, whose registry has a name. changes: of its settings."""
    port = free_port()
    settings = replace(
        registry.settings,
        port=port,
        public_url="https://registry.example",
        log_name=registry.settings.log_origin,
        **changes,
    )
    address = f"http://{settings.host}:{port}"
    with web_process(settings, "public.log"):
        until_ready(address)
        with httpx.Client(base_url=address, timeout=60) as client:
            yield client


def until_ready(origin: str) -> None:
    def is_ready() -> bool:
        with contextlib.suppress(httpx.TransportError):
            return client.get("/health/ready").status_code == 200
        return False

    with httpx.Client(base_url=origin) as client:
        awaited(f"{origin} to be ready", is_ready)


def settle(registry: RunningRegistry) -> None:
    """Register what is to be listed, and wait until a search finds it."""
    sites = [registry.town.site(host) for host in LISTED]
    tokens = []
    for site in sites:
        registry.town.publish_keys(site.host)
        tokens.append(registry.sign(site))
    submitted = [registry.submit(token).json()["id"] for token in tokens]
    for registration_id in submitted:
        decided = registry.decided(registration_id)
        assert decided["status"] == "active", decided
    awaited(
        "the index to follow",
        lambda: _eligible(registry) >= 3,
    )


def _eligible(registry: RunningRegistry) -> int:
    """0, too, while a busy machine lets the log stand still: then nothing is promised."""
    answer = registry.http.get("/v1/search", params={"q": "book a table for two"})
    return answer.json()["ranking"]["eligible"] if answer.is_success else 0


@contextlib.contextmanager
def run_registry(postgres: EmbeddedPostgres, data: Path) -> Iterator[RunningRegistry]:
    """postgres: holds the migrated template."""
    database = f"running_{data.name.replace('-', '_')}"
    postgres.create_database(database, "template_migrated")
    settings = Settings(
        data=data,
        database_url=postgres.url(database).render_as_string(hide_password=False),
        port=free_port(),
        metrics="127.0.0.1:0",
        allow_loopback=True,
        log_format="json",
        auditors=format_vkey(AUDITOR.verifier_key),
    )
    keyring.create_keyring(settings.keys, settings.log_origin)
    with Backstage() as backstage, web_process(settings) as web:
        town = backstage.open_town(data / "town")
        settings = replace(
            settings,
            hosts_file=town.hosts_file,
            ca_file=town.ca_file,
            dns=town.dns_address,
        )
        backstage.work(settings)
        until_ready(settings.origin)
        running = RunningRegistry(settings, town, backstage, web.pid)
        settle(running)
        yield running
        running.http.close()
