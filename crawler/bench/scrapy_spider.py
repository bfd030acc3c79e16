"""Scrapy on the same documents, without robots.txt and without parsing.

Scrapy is in the dependency group `bench` alone.
"""

from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any

from crawler.bench.documents import url_of
from crawler.bench.effort import CpuEffort, Meter
from crawler.bench.loopback import resolve_to_loopback
from crawler.bench.tls_sites import Crowd


def run(crowd: Crowd, at_once: int) -> CpuEffort:
    """Raises: ImportError where Scrapy is not installed."""
    scrapy: Any = import_module("scrapy")
    process_of: Any = import_module("scrapy.crawler")
    resolve_to_loopback()
    efforts: list[CpuEffort] = []

    class DocumentSpider(scrapy.Spider):  # type: ignore[misc]  # optional, so untyped
        name = "documents"
        fetched = 0

        async def start(self) -> AsyncIterator[Any]:
            self.meter = Meter()
            for number in crowd.numbers:
                yield scrapy.Request(crowd.at_port(url_of(number)), dont_filter=True)

        def parse(self, response: Any) -> None:
            self.fetched += response.status == 200

        def closed(self, _: str) -> None:
            efforts.append(self.meter.stop(self.fetched))

    process = process_of.CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": at_once,
            "LOG_LEVEL": "ERROR",
            "RETRY_ENABLED": False,
            "ROBOTSTXT_OBEY": False,
            "TELNETCONSOLE_ENABLED": False,
            "DOWNLOAD_DELAY": 0,
        }
    )
    process.crawl(DocumentSpider)
    process.start()
    return efforts[0]
