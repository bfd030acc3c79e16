"""A part that hangs: the registry says so, replaces it, and is ready again.

One service serves both tests; each leaves it running, whatever the order.
"""

from collections.abc import AsyncIterator, Callable

import httpx
import psutil
import pytest

from tests.faults.service import SITES, Service, open_service
from tests.waiting import until

pytestmark = pytest.mark.slow
STALL_S = 10.0  # instead of thirty, of which `serve` spends each waiting


@pytest.fixture(scope="module")
async def service(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    async with open_service(folder, stall_s=STALL_S, hosts=SITES[:1]) as result:
        yield result


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
