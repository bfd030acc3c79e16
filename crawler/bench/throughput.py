"""Documents a CPU-second: our crawler beside a bare httpx loop and Scrapy.

All fetch the same documents of the same crowd of sites in one run, each in a process of
its own whose CPU is counted; the sites and PostgreSQL run in others.
"""

import asyncio
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crawler.bench import bare_loop, own_crawl, scrapy_spider
from crawler.bench.documents import url_of
from crawler.bench.effort import Effort
from crawler.bench.tls_sites import Crowd, crowd_of
from registry.db import crowd as crowd_in_db
from registry.db.embedded import EmbeddedPostgres, start_embedded
from registry.db.engine import engine_at
from registry.db.migrate import migrate
from registry.usecases.chance import Chance

Figures = dict[str, float]


def measure(*, sites: int, at_once: int) -> Figures:
    """sites: each with one document that it declared. at_once: sites or requests.

    Scrapy is left out where it is not installed.

    docs_per_cpu_s: documents that were fetched, understood and stored; those of the
    others were only fetched. postgres_cpu_ms_per_doc: beside our own.
    """
    with crowd_of(sites) as crowd:
        bare = _in_process(bare_loop.run, crowd, at_once)
        others = {"bare_httpx_docs_per_cpu_s": bare}
        if find_spec("scrapy"):
            others["scrapy_docs_per_cpu_s"] = _in_process(
                scrapy_spider.run, crowd, at_once
            )
        with _database_of(crowd) as server:
            ours, postgres_s = _crawl(crowd, server, at_once)
    return {
        "docs_per_cpu_s": round(ours.documents_per_cpu_s, 1),
        **{name: round(one.documents_per_cpu_s, 1) for name, one in others.items()},
        "docs_over_bare_httpx": _ratio(ours, others["bare_httpx_docs_per_cpu_s"]),
        "postgres_cpu_ms_per_doc": round(1000 * postgres_s / sites, 2),
        "documents": ours.documents,
    }


def crawl_cold(*, sites: int, at_once: int) -> Figures:
    """All of them in one run. rss_mb: the most that our process took."""
    with crowd_of(sites) as crowd, _database_of(crowd) as server:
        ours, _ = _crawl(crowd, server, at_once)
    return {
        "cold_sites": ours.documents,
        "cold_docs_per_cpu_s": round(ours.documents_per_cpu_s, 1),
        "cold_wall_s": round(ours.wall_s, 1),
        "rss_mb": round(ours.rss_mb),
    }


def _crawl(
    crowd: Crowd, server: EmbeddedPostgres, at_once: int
) -> tuple[Effort, float]:
    """And the CPU seconds of PostgreSQL beside it."""
    before_s = server.cpu_s()
    ours = _in_process(own_crawl.run, crowd, _spell(server), at_once)
    return ours, server.cpu_s() - before_s


def _ratio(one: Effort, other: Effort) -> float:
    return round(one.documents_per_cpu_s / other.documents_per_cpu_s, 2)


def _in_process(run: Callable[..., Effort], *arguments: Any) -> Effort:
    spawning = multiprocessing.get_context("spawn")
    # A pool that is terminated waits for ever for Scrapy, which keeps SIGTERM to itself.
    with ProcessPoolExecutor(1, mp_context=spawning) as process:
        return process.submit(run, *arguments).result()


@contextmanager
def _database_of(crowd: Crowd) -> Iterator[EmbeddedPostgres]:
    """With the crowd's sites, of which none was visited yet."""
    with tempfile.TemporaryDirectory(prefix="fair-registry-bench-") as folder:
        server = start_embedded(Path(folder))
        try:
            server.create_database()
            asyncio.run(_fill(_spell(server), crowd))
            yield server
        finally:
            server.close()


def _spell(server: EmbeddedPostgres) -> str:
    url: str = server.url().render_as_string(hide_password=False)
    return url


async def _fill(database_url: str, crowd: Crowd) -> None:
    urls = [url_of(n) for n in crowd.numbers]
    async with engine_at(database_url) as engine:
        await migrate(engine)
        async with engine.begin() as connection:
            await crowd_in_db.make_declaring_crowd(
                connection, urls=urls, now=Chance().now()
            )
