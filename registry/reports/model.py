"""Model of a fairness report: its members, of which the metrics make the most.

Shares, gaps and their bounds run from 0 to 1 (-1 to 1), commissions from 0 to 100; what
each figure means is carried in the report itself (`definitions`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, cast

from registry.reports.metric import Metric, Value
from registry.reports.metrics.breakdowns import Breakdown
from registry.reports.metrics.measures import Measure
from registry.reports.metrics.table import FURTHER, ITEMS
from registry.reports.report_terms import Algorithm, Terms
from registry.reports.row_types import Column

VERSION = "fairness-report/3"
_FIRST = ("version", "terms", "counts", "algorithm")
_LAST = ("sentences", "definitions", "position_models", "breakdowns", "findings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Numbers that the report rests on.

    rankings: with results. reported: with a report of the choice, a site or none.
    scored: of which the disclosed scores were read, see the definition of it.
    """

    rankings: Annotated[int, Column("count")]
    empty_rankings: Annotated[int, Column("count")]
    queries: Annotated[int, Column("count")]
    reported: Annotated[int, Column("count")]
    selections: Annotated[int, Column("count")]
    sites: Annotated[int, Column("count")]
    scored: Annotated[int, Column("count")] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """Meaning of a figure, or of a word that figures are named by."""

    figure: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionModel:
    """Model of how attention falls. weights: of the first ten ranks, as they are."""

    measure: Measure
    formula: str
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessReport:
    """Report of a window. values: of each metric, by its name; see `__getitem__`.

    findings: what is amiss, or that nothing is; the head of the report.

    New members are appended, none is renamed or removed within a version.
    """

    version: str
    terms: Terms
    counts: Counts
    algorithm: Algorithm
    sentences: tuple[str, ...]
    definitions: tuple[Definition, ...]
    position_models: tuple[PositionModel, ...]
    breakdowns: tuple[Breakdown, ...]
    values: Mapping[str, Any]
    findings: tuple[str, ...]

    def __getitem__(self, metric: Metric[Value]) -> Value:
        return cast("Value", self.values[metric.name])

    def members(self) -> dict[str, object]:
        """Return the published members, in their order."""
        return {
            **{name: getattr(self, name) for name in _FIRST},
            **{metric.name: self[metric] for metric in ITEMS},
            **{name: getattr(self, name) for name in _LAST},
            **{metric.name: self[metric] for metric in FURTHER},
        }
