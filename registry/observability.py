"""Logs and metrics of a running process.

Where SHARED_METRICS names a folder, the processes keep their figures in files there, and
the one that serves the metrics adds up those of all, ended ones included.
"""

import logging
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TextIO
from wsgiref.simple_server import WSGIServer

import psutil
import structlog
from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    start_http_server,
)
from prometheus_client.multiprocess import MultiProcessCollector
from typing_extensions import override

SHARED_METRICS = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client reads it when imported
PORTS_TRIED = 32

logger = structlog.get_logger()

SEARCHES = Counter("fair_registry_searches_total", "Ranked answers given.")
SEARCH_SECONDS = Histogram(
    "fair_registry_search_seconds",
    "From the query to the durable record.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0),
)
BATCH_RECORDS = Histogram(
    "fair_registry_commit_batch_records",
    "Ranking records made durable by one commit.",
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
)
REGISTRATIONS = Counter(
    "fair_registry_registrations_total", "Statements taken for verification.", ["act"]
)
STATEMENT_BYTES = Counter(
    "fair_registry_statement_bytes_total", "Bytes of the statements that were taken."
)
SELECTIONS = Counter("fair_registry_selections_total", "Selections reported.")
PROBLEMS = Counter(
    "fair_registry_problems_total", "Requests refused, by code.", ["code"]
)
LIMITED = Counter(
    "fair_registry_limited_total", "Requests beyond their limit, by kind.", ["kind"]
)
_newest = partial(Gauge, multiprocess_mode="mostrecent")
ANONYMOUS_TURNED_AWAY = _newest(
    "fair_registry_anonymous_turned_away",
    "1 while disk or log run short and only operators' searches are answered.",
)
LOG_STOPPED = _newest(
    "fair_registry_log_stopped",
    "1 while publisher or witnesses know that the database is older than the log.",
)
FREE_BYTES = _newest("fair_registry_free_bytes", "Free bytes where the data folder is.")
INVARIANCE_TRIALS = _newest(
    "fair_registry_invariance_trials", "Trials of invariance in the newest run."
)
INVARIANCE_VIOLATIONS = _newest(
    "fair_registry_invariance_violations",
    "Trials of the newest run in which an input that must not matter moved a ranking.",
)
INVARIANCE_FINISHED = _newest(
    "fair_registry_invariance_finished_timestamp_seconds",
    "When the newest run of trials ended.",
)
REPORT_FINISHED = _newest(
    "fair_registry_report_made_timestamp_seconds",
    "When the newest monthly report was made and kept.",
)


class SharedMetrics(MultiProcessCollector):
    """The figures of all processes that keep theirs in a folder, added up."""

    def __init__(self, folder: Path) -> None:
        super().__init__(None, str(folder))  # type: ignore[no-untyped-call] # it has none
        self._folder = folder

    @override
    def collect(self) -> list[Metric]:
        for file in self._folder.glob("gauge_live*_*.db"):
            # What is under way at a process that has ended is under way no more.
            if not psutil.pid_exists(int(file.stem.rpartition("_")[2])):
                file.unlink(missing_ok=True)
        collected: list[Metric] = super().collect()  # type: ignore[no-untyped-call]
        return collected


@contextmanager
def metrics_served(
    at: tuple[str, int] | None, collected: CollectorRegistry
) -> Iterator[int | None]:
    """Serve metrics on a thread, at the first free port from this one on; gives the port.

    at: address and port, 0 for any; None: they are not served, and so they are where no
    port is free, for figures do not stop what they are about.
    """
    server = None if at is None else _serve_from(*at, collected)
    try:
        yield server.server_port if server else None
    finally:
        if server:
            server.shutdown()
            server.server_close()


def metrics_of_process(own: CollectorRegistry = REGISTRY) -> CollectorRegistry:
    """Return its own, or those of all where it shares a folder with others."""
    folder = os.environ.get(SHARED_METRICS)
    return metrics_in(Path(folder)) if folder else own


def metrics_in(folder: Path) -> CollectorRegistry:
    shared = CollectorRegistry()
    shared.register(SharedMetrics(folder))
    return shared


def _serve_from(
    address: str, port: int, registry: CollectorRegistry
) -> WSGIServer | None:
    detail = ""
    candidates = range(port, min(port + PORTS_TRIED, 65536)) if port else (0,)
    for candidate in candidates:
        try:
            server = start_http_server(candidate, address, registry)[0]
        except OSError as error:
            detail = str(error)
        else:
            logger.info("metrics_served", address=address, port=server.server_port)
            return server
    logger.error("metrics_not_served", address=address, port=port, detail=detail)
    return None


class LossyStream:
    """A stream that drops what can't be written now: a full disk or pipe, a closed end.

    A process must neither end nor wait because nobody takes its log.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._number: int | None = None
        with suppress(OSError, ValueError):  # ValueError: closed; no file at all
            self._number = stream.fileno() if stream else None

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            if self._number is not None:
                self._write_pieces(text.encode(errors="replace"), self._number)
            elif self._stream is not None:
                self._stream.write(text)
        return len(text)

    def _write_pieces(self, line: bytes, number: int) -> None:
        """Write as much as is taken at once: a pipe that is ready takes a whole piece."""
        ready = select.poll()
        ready.register(number, select.POLLOUT)
        for start in range(0, len(line), select.PIPE_BUF):
            if ready.poll(0):
                os.write(number, line[start : start + select.PIPE_BUF])

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            if self._stream is not None:
                self._stream.flush()


def configure_logging(log_format: str, log_level: str = "info") -> None:
    """Log structured lines to standard error. log_format: "text" or "json".

    log_level: the lowest that is logged of our own; libraries log warnings or worse.
    """
    level = logging.getLevelNamesMapping()[log_level.upper()]
    renderer = (
        structlog.processors.JSONRenderer()
        if log_format == "json"
        else structlog.dev.ConsoleRenderer(
            colors=bool(sys.stderr and sys.stderr.isatty())
        )
    )
    stream: Any = LossyStream(sys.stderr)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(stream),
    )
    logging.basicConfig(level=max(level, logging.WARNING), stream=stream, force=True)
