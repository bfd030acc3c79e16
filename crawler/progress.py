"""Progress of a crawler, as one JSON object a second; for `fair-registry crawl`."""

import asyncio
import json
import math
import time
from typing import Any, TextIO

from crawler import metrics

PAUSE_S = 1.0
SURVEY_S = 5.0
"""Pause between two looks at what waits, where somebody watches."""


async def write(out: TextIO) -> None:
    """Run until cancelled. Writes off the event loop: the reader may be slow."""
    fetched, at_s = _fetched(), time.monotonic()
    while True:
        await asyncio.sleep(PAUSE_S)
        before, before_s = fetched, at_s
        fetched, at_s = _fetched(), time.monotonic()
        line = json.dumps(figures(per_s=(fetched - before) / (at_s - before_s)))
        await asyncio.to_thread(_write, out, line)


def figures(*, per_s: float) -> dict[str, Any]:
    """Return the figures of now. per_s: requests. freshness: None until it was estimated."""
    freshness = metrics.value(metrics.FRESHNESS)
    return {
        "event": "progress",
        "due": metrics.total(metrics.DUE, "kind"),
        "lag_s": round(metrics.value(metrics.LAG)),
        "under_way": metrics.total(metrics.UNDER_WAY, "of"),
        "leased": metrics.total(metrics.LEASES, "of"),
        "ended": metrics.total(metrics.JOBS, "end"),
        "visits": metrics.total(metrics.VISITS, "outcome"),
        "probes": metrics.total(metrics.PROBES, "outcome"),
        "proofs": metrics.total(metrics.PROOFS, "outcome"),
        "requests": _fetched(),
        "requests_per_s": round(per_s, 1),
        "circuits": metrics.total(metrics.CIRCUITS, "state"),
        "freshness": None if math.isnan(freshness) else round(freshness, 4),
    }


def _fetched() -> int:
    return sum(metrics.total(metrics.FETCHES, "outcome").values())


def _write(out: TextIO, line: str) -> None:
    out.write(line + "\n")
    out.flush()
