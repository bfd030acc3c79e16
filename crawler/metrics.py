"""Counters of a crawler, for Prometheus.

No label names a host, an address or anything else of which there is no end.
"""

from functools import cache
from typing import Literal, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
)

Labelled = TypeVar("Labelled", Counter, Gauge)

REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
_PREFIX = "fair_registry_crawler"


def _counter(name: str, doc: str, *labels: str) -> Counter:
    return Counter(f"{_PREFIX}_{name}", doc, labels, registry=REGISTRY)


def _gauge(
    name: str,
    doc: str,
    *labels: str,
    mode: Literal["livesum", "livemostrecent"] = "livesum",
) -> Gauge:
    """mode: how those of several crawlers become one; of the living alone."""
    return Gauge(
        f"{_PREFIX}_{name}", doc, labels, registry=REGISTRY, multiprocess_mode=mode
    )


@cache
def labelled(metric: Labelled, *labels: str) -> Labelled:
    """Return a row of the metric; the metric's own look-up takes several times as long."""
    return metric.labels(*labels)


# of: registration, crawl, probe, prove
LEASES = _counter("leases_total", "Leases taken.", "of")
JOBS = _counter(
    "jobs_total", "Jobs ended: done, failed (a bug), given_back.", "of", "end"
)
UNDER_WAY = _gauge("jobs_under_way", "Jobs that are worked on.", "of")
OUTLIVED = _counter(
    "leases_outlived_total",
    "Jobs longer than their lease: where another took it over, the result was dropped.",
    "of",
)

VISITS = _counter(
    "visits_total", "Visits: fetched, unchanged, nothing, outage.", "outcome"
)
PROBES = _counter("probes_total", "Quality probes, by what they found.", "outcome")
PROOFS = _counter("proofs_total", "Looks for keys: keys, none, unread.", "outcome")

FETCHES = _counter(
    "fetches_total", "Requests: ok, not_modified, status_Nxx or a code.", "outcome"
)
FETCH_SECONDS = Histogram(
    f"{_PREFIX}_fetch_seconds",
    "Of a request with its redirects, whatever came of it; our own waiting not.",
    buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
    registry=REGISTRY,
)
BYTES = _counter("fetched_bytes_total", "Bytes of taken bodies, decompressed.")

REQUESTS = _gauge("requests_under_way", "Requests under way or waiting for their turn.")
CIRCUITS = _gauge(
    "circuits",
    "Circuits of hosts, domains and networks that failed, by state.",
    "level",
    "state",
)
OPENED = _counter("circuits_opened_total", "Circuits opened.", "level")
HELD_BACK = _counter(
    "held_back_total", "Requests refused by our own restraint.", "code"
)

# Of the whole registry: each crawler tells the same.
DUE = _gauge(
    "due_tasks", "Tasks that wait for a crawler.", "kind", mode="livemostrecent"
)
LAG = _gauge(
    "lag_seconds",
    "How long the task has waited that waits longest.",
    mode="livemostrecent",
)
FRESHNESS = _gauge(
    "freshness_ratio",
    "The share of stored sites that are as they were last seen, by their change rates.",
    mode="livemostrecent",
)
FRESHNESS.set(float("nan"))


def total(counter: Counter | Gauge, label: str) -> dict[str, int]:
    """Return sums over all other labels, by the values of this label."""
    sums: dict[str, int] = {}
    for metric in counter.collect():
        for sample in metric.samples:
            if label in sample.labels and not sample.name.endswith("_created"):
                value = sample.labels[label]
                sums[value] = sums.get(value, 0) + int(sample.value)
    return sums


def value(gauge: Gauge) -> float:
    """Return the value of a metric without labels."""
    return next(iter(gauge.collect())).samples[0].value
