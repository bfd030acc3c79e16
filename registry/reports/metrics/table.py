"""Table of the metrics of a report, in the order of its rows.

A new metric is a line here, at the end of FURTHER, and a file of its own.
"""

from typing import Any

from registry.reports.metric import Metric
from registry.reports.metrics.commission import COMMISSION
from registry.reports.metrics.comparison import DIMENSIONS
from registry.reports.metrics.concentration import CONCENTRATION
from registry.reports.metrics.consistency import CONSISTENCY
from registry.reports.metrics.contradictions import CONTRADICTIONS
from registry.reports.metrics.effective_weights import EFFECTIVE_WEIGHTS
from registry.reports.metrics.merit import MERIT_COMPARISON
from registry.reports.metrics.parity import PARITY
from registry.reports.metrics.reach import REACH
from registry.reports.metrics.tie_audit import TIES
from registry.reports.metrics.trials import INVARIANCE

Metrics = tuple[Metric[Any], ...]

ITEMS: Metrics = (DIMENSIONS, COMMISSION, CONCENTRATION)
"""Metrics of the first reports, whose members stand before the sentences."""

FURTHER: Metrics = (
    REACH,
    PARITY,
    MERIT_COMPARISON,
    CONSISTENCY,
    EFFECTIVE_WEIGHTS,
    TIES,
    INVARIANCE,
    CONTRADICTIONS,
)
METRICS = ITEMS + FURTHER

READ_FIRST: Metrics = tuple(sorted(METRICS, key=lambda metric: metric.panels is None))
"""Metrics as sentences and page have them: those with panels of their own first."""
