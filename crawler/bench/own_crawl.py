"""CpuEffort of our crawler for the same documents: the worker, as in production.

Each site is visited for the first time: the URL gate, the look-up, vetting and dialling,
robots.txt, the document it declared, reading it, and writing it into PostgreSQL.
"""

import asyncio
import random
from datetime import timedelta

from typing_extensions import override

from crawler import metrics
from crawler.bench.effort import CpuEffort, Meter
from crawler.bench.loopback import resolve_to_loopback
from crawler.bench.tls_sites import Crowd
from crawler.context import Context
from crawler.http.fetch import Fetcher, FetcherConfig
from crawler.http.resolve import Resolver, ResolverConfig
from crawler.robots.robots_cache import RobotsCache
from crawler.worker import Worker
from registry.bench.synthetic import tables
from registry.db.engine.engines import Engine, Role, engine_at
from registry.garbage_collection import collect_less_often
from registry.observability import configure_logging
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import Policy
from registry.sites.gazetteer import Gazetteer
from registry.sites.hosts_file import Endpoint
from registry.usecases.ids import IdSource
from registry.usecases.sites.list_site import Lister

CONNECTIONS = 8
LEASE = timedelta(minutes=10)
POLL_S = 0.25
USER_AGENT = "FairRegistryBench/1.0 (+https://registry.example/bot)"


class CrowdNotCrawled(Exception):
    """A site was left out, so the figures would be of other work."""


class _Resolver(Resolver):
    """All sites share one port, as only the administrator may use 443."""

    def __init__(self, port: int) -> None:
        super().__init__(ResolverConfig(allow_loopback=True))
        self._sites_port = port

    @override
    async def endpoints(self, host: str, port: int = 443) -> list[Endpoint]:
        endpoints = await super().endpoints(host, port)
        return [Endpoint(e.address, self._sites_port) for e in endpoints]


def run(
    crowd: Crowd, database_url: str, at_once: int, policy: Policy
) -> tuple[CpuEffort, CpuEffort]:
    """Visit all sites of a database, with a crawl due at each, and once more.

    The second time no document has changed. policy: whose encoder takes its part of the CPU.

    Raises: CrowdNotCrawled.
    """
    configure_logging("json")
    resolve_to_loopback()
    return asyncio.run(_run(crowd, database_url, at_once, policy))


async def _run(
    crowd: Crowd, database_url: str, at_once: int, policy: Policy
) -> tuple[CpuEffort, CpuEffort]:
    async with engine_at(database_url, Role.CRAWLER, pool=CONNECTIONS) as engine:
        context = _context(engine, crowd, policy)
        worker = Worker(context, at_once=at_once, lease=LEASE)
        collect_less_often()
        working = asyncio.create_task(worker.run())
        try:
            first = await _visit_all(engine, crowd, working)
            async with engine.begin() as connection:
                await tables.make_crawls_due(connection)
            return first, await _visit_all(engine, crowd, working)
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)


async def _visit_all(
    engine: Engine, crowd: Crowd, working: asyncio.Task[None]
) -> CpuEffort:
    """Wait until each site was visited once more than before. Raises: CrowdNotCrawled."""
    meter, before = Meter(), _ended()
    while _ended() < before + crowd.hosts and not working.done():
        await asyncio.sleep(POLL_S)
    async with engine.connect() as connection:
        visited, documents = await tables.count_crawled(connection)
    effort = meter.stop(documents)
    if not visited == documents == crowd.hosts:
        raise CrowdNotCrawled(f"{documents} documents of {crowd.hosts} sites")
    return effort


def _ended() -> int:
    """Return the count of ended jobs, by the crawler's own metrics."""
    return sum(metrics.total(metrics.JOBS, "end").values())


def _context(engine: Engine, crowd: Crowd, policy: Policy) -> Context:
    fetcher = Fetcher(
        FetcherConfig(
            user_agent=USER_AGENT, resolver=_Resolver(crowd.port), ca_file=crowd.ca_file
        )
    )
    return Context(
        engine=engine,
        fetcher=fetcher,
        robots=RobotsCache(fetcher),
        lister=Lister(
            gazetteer=Gazetteer.load(), encoder=load_encoder(policy), policy=policy
        ),
        ids=IdSource(),
        draw=random.SystemRandom().random,
        test_hosts=True,
    )
