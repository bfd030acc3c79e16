"""Documents a CPU-second: our crawler beside a bare httpx loop and Scrapy.

All fetch the same documents of the same sites in one run, each in a process of its own
whose CPU is counted; the sites and PostgreSQL run in others.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from crawler.bench import bare_loop, own_crawl, scrapy_spider
from crawler.bench.documents import url_of
from crawler.bench.effort import CpuEffort
from crawler.bench.tls_sites import Crowd, crowd_of
from registry.bench.scratch import (
    database_url,
    in_process,
    postgres_cpu_s,
    scratch_folder,
    scratch_postgres,
)
from registry.bench.synthetic import tables
from registry.db.engine.embedded import EmbeddedPostgres
from registry.db.engine.engines import engine_at
from registry.db.schema.migrate import migrate
from registry.ranking.policy import DEFAULT_POLICY, STATIC_POLICY, Policy
from registry.usecases.ids import utc_now

Figures = dict[str, float]


def measure(*, sites: int, at_once: int) -> Figures:
    """Fetch one declared document of each site, so many at once.

    Ours are read and stored too; the others only fetch. Scrapy is left out where it is
    not installed. static: ours by the encoder that is no neural network. unchanged: ours
    at the second visit. postgres_cpu_ms_per_doc: beside our own CPU, of both visits.
    """
    with crowd_of(sites) as crowd:
        bare = in_process(bare_loop.run, crowd, at_once)
        others = {"bare_httpx_docs_per_cpu_s": bare}
        if find_spec("scrapy"):
            others["scrapy_docs_per_cpu_s"] = in_process(
                scrapy_spider.run, crowd, at_once
            )
        static, again, _ = _crawl(crowd, at_once, STATIC_POLICY)
        ours, _, postgres_s = _crawl(crowd, at_once)
    return {
        "docs_per_cpu_s": round(ours.documents_per_cpu_s, 1),
        **{name: round(e.documents_per_cpu_s, 1) for name, e in others.items()},
        "static_docs_per_cpu_s": round(static.documents_per_cpu_s, 1),
        "unchanged_docs_per_cpu_s": round(again.documents_per_cpu_s, 1),
        "docs_over_bare_httpx": _ratio(ours, bare),
        "static_docs_over_bare_httpx": _ratio(static, bare),
        "unchanged_docs_over_bare_httpx": _ratio(again, bare),
        "postgres_cpu_ms_per_doc": round(1000 * postgres_s / sites, 2),
        "documents": ours.documents,
    }


def crawl_cold(*, sites: int, at_once: int) -> Figures:
    """Visit all sites in one run; rss_mb: the peak of our process."""
    with crowd_of(sites) as crowd:
        ours, *_ = _crawl(crowd, at_once)
    return {
        "cold_sites": ours.documents,
        "cold_docs_per_cpu_s": round(ours.documents_per_cpu_s, 1),
        "cold_wall_s": round(ours.wall_s, 1),
        "rss_mb": round(ours.rss_mb),
    }


def _crawl(
    crowd: Crowd, at_once: int, policy: Policy = DEFAULT_POLICY
) -> tuple[CpuEffort, CpuEffort, float]:
    """Return the efforts of both visits, and the CPU seconds of PostgreSQL beside them."""
    with _database_of(crowd) as server:
        before_s = postgres_cpu_s(server)
        first, again = in_process(
            own_crawl.run, crowd, database_url(server), at_once, policy
        )
        return first, again, postgres_cpu_s(server) - before_s


def _ratio(ours: CpuEffort, other: CpuEffort) -> float:
    return round(ours.documents_per_cpu_s / other.documents_per_cpu_s, 2)


@contextmanager
def _database_of(crowd: Crowd) -> Iterator[EmbeddedPostgres]:
    """Run a database of the sites, none of which was visited yet."""
    with scratch_folder() as folder, scratch_postgres(folder) as server:
        asyncio.run(_fill(database_url(server), crowd))
        yield server


async def _fill(database_url: str, crowd: Crowd) -> None:
    urls = [url_of(n) for n in crowd.numbers]
    async with engine_at(database_url) as engine:
        await migrate(engine)
        async with engine.begin() as connection:
            await tables.insert_declaring_sites(connection, urls=urls, now=utc_now())
