"""CPU time and memory that a process spent on a number of documents."""

import resource
import sys
import time
from dataclasses import dataclass

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuEffort:
    """cpu_s: user and system, of all its threads. rss_mb: the most since it started."""

    documents: int
    cpu_s: float
    wall_s: float
    rss_mb: float

    @property
    def documents_per_cpu_s(self) -> float:
        return self.documents / self.cpu_s


class Meter:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self._began_s = (time.process_time(), time.perf_counter())

    def stop(self, documents: int) -> CpuEffort:
        cpu_s, wall_s = self._began_s
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return CpuEffort(
            documents=documents,
            cpu_s=time.process_time() - cpu_s,
            wall_s=time.perf_counter() - wall_s,
            rss_mb=most * _RSS_UNIT / 1e6,
        )
