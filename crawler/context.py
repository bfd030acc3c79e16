"""What every job of a crawler works with; made once in `crawler.__main__`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from crawler.canaries import Canaries
from crawler.http.fetch import Fetcher
from crawler.ledger import Ledger
from crawler.readings import Readings
from crawler.revisits import Revisits
from crawler.robots_cache import RobotsCache
from registry.db.engine import Engine, reading
from registry.usecases.chance import Chance
from registry.usecases.list_site import Lister


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """engine: of the crawler's role. draw: a number of [0, 1)."""

    engine: Engine
    fetcher: Fetcher
    robots: RobotsCache
    lister: Lister
    chance: Chance
    draw: Callable[[], float]
    revisits: Revisits = field(default_factory=Revisits)
    canaries: Canaries = field(default_factory=Canaries)
    readings: Readings = field(default_factory=Readings)
    test_hosts: bool = False
    probe_interval: timedelta = field(default=timedelta(hours=1))
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ledger", Ledger(self.engine, self.lister))

    @property
    def reader(self) -> Engine:
        """The same engine, for statements that need no transaction."""
        return reading(self.engine)
