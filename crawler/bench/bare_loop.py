"""Loop over httpx that fetches the same documents and does nothing else."""

import asyncio
import ssl

import httpx

from crawler.bench.documents import url_of
from crawler.bench.effort import CpuEffort, Meter
from crawler.bench.loopback import resolve_to_loopback
from crawler.bench.tls_sites import Crowd

TIMEOUT_S = 30.0


def run(crowd: Crowd, at_once: int) -> CpuEffort:
    resolve_to_loopback()
    return asyncio.run(_run(crowd, at_once))


async def _run(crowd: Crowd, at_once: int) -> CpuEffort:
    tls = ssl.create_default_context(cafile=str(crowd.ca_file))
    # Nothing is asked twice of a host, so no connection is worth keeping.
    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=0)
    async with httpx.AsyncClient(
        verify=tls, limits=limits, timeout=TIMEOUT_S
    ) as client:
        waiting = iter(crowd.numbers)
        fetched = 0

        async def work_off() -> None:
            nonlocal fetched
            for number in waiting:
                url = crowd.at_port(url_of(number))
                answer = await client.get(url)
                answer.raise_for_status()
                fetched += 1

        meter = Meter()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(at_once):
                tasks.create_task(work_off())
        return meter.stop(fetched)
