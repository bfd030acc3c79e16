"""Context of every job of a crawler; built once in `crawler.__main__`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from crawler.canaries import Canaries
from crawler.discovery.batch_parser import BatchParser
from crawler.frontier.crawl_store import CrawlStore
from crawler.frontier.revisits import Revisits
from crawler.http.fetch import Fetcher
from crawler.robots.robots_cache import RobotsCache
from registry.db.engine.engines import Engine, reading
from registry.usecases.ids import Clock, IdSource
from registry.usecases.sites.list_site import Lister


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """engine: of the crawler's role. draw: a number of [0, 1)."""

    engine: Engine
    fetcher: Fetcher
    robots: RobotsCache
    lister: Lister
    ids: IdSource
    draw: Callable[[], float]
    revisits: Revisits = field(default_factory=Revisits)
    canaries: Canaries = field(default_factory=Canaries)
    batch_parser: BatchParser = field(default_factory=BatchParser)
    test_hosts: bool = False
    probe_interval: timedelta = field(default=timedelta(hours=1))
    crawl_store: CrawlStore = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "crawl_store", CrawlStore(self.engine, self.lister))

    @property
    def clock(self) -> Clock:
        return self.ids.clock

    @property
    def reader(self) -> Engine:
        """The same engine, for statements that need no transaction."""
        return reading(self.engine)
