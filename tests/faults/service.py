"""`fair-registry serve` as a process, a small town for it, and what it can't take back."""

import asyncio
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Self

import httpx
import psutil

from registry.calls.api_call import ApiCall, verify_success
from registry.client import ProblemAnswered, RegistryClient
from registry.demo.town.member import CAST
from registry.demo.town.server import Town
from registry.identity.statements.jws import sign_compact
from registry.tlog.checkpoint import Checkpoint, verify_checkpoint
from registry.tlog.merkle import leaf_hash, tree_root
from registry.tlog.note import VerifierKey, parse_vkey
from tests.faults.postgres import postmaster_of
from tests.ports import free_port
from tests.unit.tlog.driven import follow_log
from tests.waiting import PATIENCE_S, until

SITES = (
    "zaytoun-table.test",
    "ceviche-norte.test",
    "radhaus-kreuz.test",
    "almond-door-clinic.test",
    "lingua-ferry.test",
    "paper-otter.test",
)
RETRY_PAUSE_S = 0.2
# Traffic that takes all cores keeps the restarts waiting; callers without pauses are cut off
# in `test_acknowledgement.py` and killed in `test_log_kills.py`.
ASKERS, ASK_PAUSE_S = 4, 0.2
STOPS_WITHIN_S = 60.0
UNANSWERED_AFTER_S = 10.0
UNANSWERED = (httpx.TransportError, httpx.HTTPStatusError, ProblemAnswered)


class Service:
    """A registry on one data folder; `start` may be called again after its end."""

    def __init__(self, data: Path, town: Town, **settings: str) -> None:
        self.data = data
        self._settings = settings
        self.postgres = data / "postgres"
        self.town = town
        self.port = free_port()
        self.origin = f"http://127.0.0.1:{self.port}"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self.data.mkdir(exist_ok=True)
        command = [
            Path(sys.executable).with_name("fair-registry"),
            *("serve", "--port", str(self.port), "--data", self.data),
        ]
        environment = {
            **os.environ,
            "FAIR_REGISTRY_ALLOW_LOOPBACK": "1",
            "FAIR_REGISTRY_HOSTS_FILE": str(self.town.hosts_file),
            "FAIR_REGISTRY_CA_FILE": str(self.town.ca_file),
            "FAIR_REGISTRY_DNS": self.town.dns_address,
            # Ten thousand trials begin after two minutes, and nothing here looks at them.
            "FAIR_REGISTRY_INVARIANCE_TRIALS": "0",
            **self._settings,
        }
        with (self.data / "serve.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command, env=environment, stdout=log, stderr=log
            )
        await self.until_ready()

    async def until_ready(self) -> None:
        async with self.client() as client:
            await until("it is ready", client.is_ready, broken=self._why_it_ended)

    def client(self, timeout_s: float = PATIENCE_S) -> RegistryClient:
        return RegistryClient(self.origin, timeout_s=timeout_s)

    def _why_it_ended(self) -> str:
        assert self._process
        if self._process.returncode is None:
            return ""
        return f"it ended:\n{(self.data / 'serve.log').read_text()}"

    @property
    def process(self) -> psutil.Process:
        assert self._process
        return psutil.Process(self._process.pid)

    def part(self, argument: str) -> psutil.Process:
        """The child of `serve` that was started with the argument."""
        for child in self.process.children():
            with suppress(psutil.NoSuchProcess):
                if argument in child.cmdline():
                    return child
        raise LookupError(argument)

    def web_worker(self) -> psutil.Process:
        """The one that answers: below granian, beside Python's resource tracker."""
        workers = self.part("granian").children()
        return max(workers, key=lambda item: item.memory_info().rss)

    def processes(self) -> list[psutil.Process]:
        """All that serve has started, the database among them."""
        postmaster = postmaster_of(self.postgres)
        mine = self.process.children(recursive=True)
        return [*mine, postmaster, *postmaster.children()]

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """The exit code. Raises: TimeoutError."""
        assert self._process
        self._process.send_signal(number)
        async with asyncio.timeout(STOPS_WITHIN_S):
            return await self._process.wait()

    async def ask(self, times: int = 3) -> list[bytes]:
        """Leaf hashes of answers, in which the listed sites are found."""
        async with self.client() as client:
            answers = [await client.search(q="book a table") for _ in range(times)]
        assert all(answer["results"] for answer in answers)
        return [bytes.fromhex(answer["ranking"]["leafHash"]) for answer in answers]

    async def clean_up(self) -> None:
        """Whatever a failed test has left."""
        assert self._process
        if self._process.returncode is None:
            with suppress(psutil.Error, OSError, ValueError):
                for process in self.processes():
                    process.kill()
            self._process.kill()
            await self._process.wait()


async def ended(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those still alive after a while."""
    _, alive = await asyncio.to_thread(psutil.wait_procs, processes, STOPS_WITHIN_S)
    return [item for item in alive if item.status() != psutil.STATUS_ZOMBIE]


@asynccontextmanager
async def open_service(folder: Path) -> AsyncIterator[Service]:
    """Started, with all sites but the last listed and searchable."""
    async with open_town(folder) as town, running(folder, town) as service:
        await asyncio.gather(*(register(service, host) for host in SITES[:-1]))
        await until_found(service, SITES[0])
        yield service


def open_town(folder: Path) -> AbstractAsyncContextManager[Town]:
    cast = tuple(member for member in CAST if member.host in SITES)
    return Town.build(folder / "town", cast).open()


@asynccontextmanager
async def running(folder: Path, town: Town, **settings: str) -> AsyncIterator[Service]:
    """Started, and empty."""
    service = Service(folder / "data", town, **settings)
    try:
        await service.start()
        yield service
    finally:
        await service.clean_up()


async def register(service: Service, host: str) -> None:
    """By the owner's whole path, from the challenge to the decision."""
    site = service.town.site(host)
    async with service.client() as client:
        challenge = await client.challenge(host)
        service.town.publish_keys(host)
        now = int(time.time())
        payload = {**challenge["payload"], **site.declarations}
        payload |= {
            "docs": [{"url": url} for url in site.document_urls],
            "iat": now,
            "exp": now + 600,
        }
        submitted = await client.submit(sign_compact(payload, site.private_key))
        decided = await client.decided(submitted["id"], timeout_s=PATIENCE_S)
    assert decided["status"] == "active", decided


async def until_found(service: Service, host: str) -> None:
    """A search for what the site does returns it."""
    member = next(member for member in CAST if member.host == host)
    wanted = member.actions[0].description
    async with service.client() as client:

        async def is_found() -> bool:
            results = (await client.search(q=wanted))["results"]
            return host in [result["site"]["host"] for result in results]

        await until(f"{host} is found", is_found)


class Traffic:
    """Askers who go on whatever happens, and remember every answer that they got.

    acknowledged: the leaf hash of each. checkpoints: every note that was ever served.
    """

    def __init__(self, service: Service) -> None:
        self.acknowledged: list[bytes] = []
        self.unanswered: Counter[str] = Counter()
        self.checkpoints: set[bytes] = set()
        self._service = service
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        works = [self._ask(number) for number in range(ASKERS)]
        self._tasks = [asyncio.create_task(work) for work in (*works, self._watch())]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        for ended in await asyncio.gather(*self._tasks, return_exceptions=True):
            assert isinstance(ended, asyncio.CancelledError), ended

    async def works_again(self, more: int = 25) -> None:
        """The service answers and publishes as before."""
        enough, seen = len(self.acknowledged) + more, len(self.checkpoints)

        def works() -> bool:
            return len(self.acknowledged) >= enough and len(self.checkpoints) > seen

        await until(f"{more} more are answered and a checkpoint is new", works)

    async def _ask(self, number: int) -> None:
        async with self._service.client(UNANSWERED_AFTER_S) as client:
            while True:
                try:
                    answer = await client.search(q=f"book a table for {number}")
                    leaf = bytes.fromhex(answer["ranking"]["leafHash"])
                    self.acknowledged.append(leaf)
                    await asyncio.sleep(ASK_PAUSE_S)
                except UNANSWERED as error:
                    self.unanswered[type(error).__name__] += 1
                    await asyncio.sleep(RETRY_PAUSE_S)

    async def _watch(self) -> None:
        async with self._service.client(UNANSWERED_AFTER_S) as client:
            while True:
                with suppress(*UNANSWERED):
                    self.checkpoints.add(await fetch(client, "checkpoint") or b"")
                await asyncio.sleep(RETRY_PAUSE_S)


class ReadLog:
    """The whole log as it is served, every hash of it checked."""

    def __init__(self, key: VerifierKey, head: Checkpoint, leaves: list[bytes]) -> None:
        self.head = head
        self.leaves = leaves
        self._key = key

    def verify_history(self, notes: Iterable[bytes]) -> None:
        """Every checkpoint that was ever served signs a beginning of this log."""
        for note in notes:
            seen = verify_checkpoint(note, self._key).checkpoint
            assert seen.size <= self.head.size
            assert seen.root == tree_root(self.leaves[: seen.size]), seen.size


async def fetch(client: RegistryClient, path: str) -> bytes | None:
    """Fetch a file of the log, None if there is none."""
    answer = await client.send(ApiCall(method="GET", path=f"/{path}"))
    if answer.status == 404:
        return None
    verify_success(answer)
    return answer.body


async def read_log(service: Service, previous: Checkpoint | None = None) -> ReadLog:
    leaves: list[bytes] = []

    def visit(_: int, entry: bytes) -> None:
        leaves.append(leaf_hash(entry))

    async with service.client() as client:
        key = parse_vkey((await client.get("/v1/log"))["verifierKey"])
        reading = follow_log(key, previous=previous, visit=visit)
        path = next(reading)
        while True:
            try:
                path = reading.send(await fetch(client, path))
            except StopIteration as ended:
                return ReadLog(key, ended.value.checkpoint, leaves)


async def logged_in_time(service: Service, wanted: Iterable[bytes]) -> ReadLog:
    """The log once it holds all that is wanted, or as it is when patience ends."""
    missing = set(wanted)
    deadline = time.monotonic() + PATIENCE_S
    while True:
        log = await read_log(service)
        if missing <= set(log.leaves) or time.monotonic() > deadline:
            return log
        await asyncio.sleep(0.2)


def lost_or_doubled(acknowledged: Iterable[bytes], log: Iterable[Any]) -> list[bytes]:
    """Acknowledged records that do not stand in the log exactly once."""
    times = Counter(log)
    return [leaf for leaf in acknowledged if times[leaf] != 1]
