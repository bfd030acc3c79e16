"""Kill any process at any instant, or stop it all: nothing acknowledged is lost or doubled.

A part that hangs is named, replaced, and the registry is ready again.

One service serves the whole module; each test leaves it running, whatever the order.
"""

import asyncio
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable

import httpx
import psutil
import pytest

from tests.faults.postgres import kill_postgres
from tests.faults.service import (
    ASKERS,
    SITES,
    Service,
    Traffic,
    ended,
    logged_in_time,
    lost_or_doubled,
    open_service,
    read_log,
    register,
    until_found,
)
from tests.waiting import until

pytestmark = pytest.mark.slow
GONE_S = 30.0
KILLS = (
    "worker",
    "registry.publisher",
    "registry.indexer",
    "granian",
    "postgres",
    "crawler",
)


@pytest.fixture(scope="module")
async def service(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Service]:
    """In the end it is stopped, after all it went through, as an operator would."""
    async with open_service(tmp_path_factory.mktemp("service")) as result:
        yield result
        processes = result.processes()
        assert await result.stop() == 0
        assert await ended(processes) == [], "orphans, the database perhaps"


def kill(service: Service, what: str) -> None:
    """With signal 9, which no process can catch."""
    match what:
        case "worker":
            service.web_worker().kill()
        case "postgres":
            kill_postgres(service.postgres)
        case argument:
            service.part(argument).kill()


async def test_kill_9_of_any_process_loses_no_acknowledged_record(
    service: Service,
) -> None:
    async with Traffic(service) as traffic:
        await traffic.works_again()
        for what in KILLS:
            workers = service.part("granian").children(recursive=True)
            kill(service, what)
            await traffic.works_again()
            if what == "granian":
                assert workers
                assert await ended(workers) == [], "they would listen and answer on"
        assert traffic.unanswered, "the kills were felt"
    log = await logged_in_time(service, traffic.acknowledged)
    assert lost_or_doubled(traffic.acknowledged, log.leaves) == []
    assert len(traffic.acknowledged) > 25 * len(KILLS)
    log.verify_history(traffic.checkpoints)
    await register(service, SITES[-1])  # the crawler works again
    await until_found(service, SITES[-1])  # and what follows the database for the index


async def test_service_ends_whole_and_goes_on_with_its_log(service: Service) -> None:
    """Its end by SIGTERM is seen where the module ends."""
    query = await service.ask()
    before = await logged_in_time(service, query)

    parts = service.process.children(recursive=True)
    await service.stop(signal.SIGKILL)
    assert await ended(parts) == [], "orphans of a kill -9 would hold the port"
    await service.start()
    query += await service.ask()
    await read_log(service, previous=before.head)
    after = await logged_in_time(service, query)
    assert lost_or_doubled(query, after.leaves) == []
    assert after.head.origin == before.head.origin


async def test_database_that_is_gone_for_30_s_is_reported_with_503_and_retry_after(
    service: Service,
) -> None:
    """Not one answer without a record, no other refusal, nobody waits for long."""
    control = service.postgres / "global" / "pg_control"
    hidden = control.with_name("hidden")
    async with Traffic(service) as traffic:
        await traffic.works_again()
    control.rename(hidden)  # it can't be started without
    kill_postgres(service.postgres)
    try:
        statuses = await ask_for(service, GONE_S)
    finally:
        hidden.rename(control)
    assert set(statuses) == {503}, statuses
    await service.until_ready()
    async with Traffic(service) as again:
        await again.works_again()
    requests = [*traffic.acknowledged, *again.acknowledged]
    log = await logged_in_time(service, requests)
    assert lost_or_doubled(requests, log.leaves) == []
    log.verify_history(traffic.checkpoints | again.checkpoints)


async def ask_for(service: Service, seconds: float) -> Counter[int]:
    """The statuses that askers got, each 503 with the time to come back."""
    statuses: Counter[int] = Counter()
    deadline = time.monotonic() + seconds

    async def ask(client: httpx.AsyncClient) -> None:
        while time.monotonic() < deadline:
            answer = await client.get("/v1/search", params={"q": "book a table"})
            statuses[answer.status_code] += 1
            if answer.status_code == 503:
                assert int(answer.headers["Retry-After"]) >= 1
                assert answer.json()["code"]
            await asyncio.sleep(0.2)

    async with httpx.AsyncClient(base_url=service.origin, timeout=60) as client:
        await asyncio.gather(*(ask(client) for _ in range(ASKERS)))
    return statuses


def silent_parts(http: httpx.Client) -> set[str]:
    answer = http.get("/health/ready")
    if answer.status_code == 200:
        return set()
    problem = answer.json()
    assert problem["code"] == "part_silent", problem
    assert answer.headers["Retry-After"]
    return {cause["pointer"] for cause in problem["errors"]}


def is_silent(http: httpx.Client, *parts: str) -> Callable[[], bool]:
    return lambda: silent_parts(http) == set(parts)


async def test_readiness_names_the_parts_that_do_not_work_until_they_do(
    service: Service,
) -> None:
    parts = [service.part(name) for name in ("crawler", "registry.indexer")]
    for process in (service.process, *parts):  # so that nobody replaces them yet
        process.suspend()
    # Between two looks the registry may close a connection that is quiet.
    anew = httpx.Limits(max_keepalive_connections=0)
    with httpx.Client(base_url=service.origin, timeout=60, limits=anew) as http:
        await until("both are missed", is_silent(http, "crawler", "indexer"))
        await service.ask()
        service.process.resume()
        await until("both work again", is_silent(http))


async def test_web_process_that_hangs_is_replaced(service: Service) -> None:
    hanging = service.web_worker()
    hanging.suspend()
    await until("it is gone", lambda: not psutil.pid_exists(hanging.pid))
    await service.until_ready()
    await service.ask()
