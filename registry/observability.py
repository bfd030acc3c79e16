"""Logs and metrics of a running process."""

import logging
import sys
from contextlib import suppress
from typing import Any, TextIO

import structlog
from prometheus_client import Counter, Gauge, Histogram

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
ANONYMOUS_TURNED_AWAY = Gauge(
    "fair_registry_anonymous_turned_away",
    "1 while disk or log run short and only operators' searches are answered.",
)
FREE_BYTES = Gauge("fair_registry_free_bytes", "Free bytes where the data folder is.")

INVARIANCE_TRIALS = Gauge(
    "fair_registry_invariance_trials", "Trials of invariance in the newest run."
)
INVARIANCE_VIOLATIONS = Gauge(
    "fair_registry_invariance_violations",
    "Trials of the newest run in which an input that must not matter moved a ranking.",
)
INVARIANCE_FINISHED = Gauge(
    "fair_registry_invariance_finished_timestamp_seconds",
    "When the newest run of trials ended.",
)
REPORT_FINISHED = Gauge(
    "fair_registry_report_made_timestamp_seconds",
    "When the newest monthly report was made and kept.",
)


class LossyStream:
    """A stream that drops what can't be written: a full disk, a reader that has gone.

    A process must not end because nobody takes its log.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):  # ValueError: closed
            if self._stream is not None:
                self._stream.write(text)
        return len(text)

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
