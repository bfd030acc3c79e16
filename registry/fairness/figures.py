"""The published figures: the typed form of a fairness report.

Only shapes; what each figure means is carried in the report itself (`definitions`).
Shares, gaps and their bounds run from 0 to 1 (-1 to 1), commissions from 0 to 100.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from registry.fairness.estimate import Estimate
from registry.fairness.inference import MINIMUM_REPLICATES, Interval

VERSION = "fairness-report/1"
MINIMUM_CELL = 30

Measure = Literal["eligible", "logarithmic", "rankBiased", "topOne", "selected"]

Reading = Literal["more", "less", "noDifferenceShown", "unsettled"]
"""What the intervals carry: more or less than the eligible share; no difference shown;
or a difference among the declared that the undeclared could cancel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """From start_at up to, not including, end_at."""

    start_at: datetime
    end_at: datetime

    def __post_init__(self) -> None:
        if self.start_at.tzinfo is None or self.end_at.tzinfo is None:
            raise ValueError("the instants of a window are UTC aware")
        if self.start_at >= self.end_at:
            raise ValueError("a window starts before it ends")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is fixed before the figures are known.

    minimum_cell: queries below which a figure is withheld, 1 or more.
    replicates: of the bootstrap. seed: of the generator behind it, so that everybody
    gets the same intervals.
    """

    window: Window
    minimum_cell: int = MINIMUM_CELL
    replicates: int = MINIMUM_REPLICATES
    seed: int = 0

    def __post_init__(self) -> None:
        if self.minimum_cell < 1:
            raise ValueError("a cell needs at least one query")


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """What orders the sites, and who examined it (§9.7, last item).

    policy_digest: of the weights and constants. code_digest: of the running code.
    source_url: where that code is public. attestations: addresses of audits.
    """

    policy_digest: str
    code_digest: str
    source_url: str = ""
    attestations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """rankings: with results. reported: with a report of the choice, a site or none."""

    rankings: int
    empty_rankings: int
    queries: int
    reported: int
    selections: int
    sites: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One kind of site in one measure; no figures where `withheld` says why.

    share_bounds: the share if no undeclared site belonged here, and if all did.
    gap: share less eligible share. gap_bounds: the outermost ends of its interval under
    both assignments. total: rankings' worth of attention; per_site: per site of the kind.
    """

    measure: Measure
    rankings: int
    queries: int
    withheld: str = ""
    eligible_share: Estimate | None = None
    share: Estimate | None = None
    share_bounds: Interval | None = None
    gap: Estimate | None = None
    gap_bounds: Interval | None = None
    total: float | None = None
    per_site: float | None = None
    reading: Reading | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteClass:
    """A kind of site. members: the declared labels that it joins."""

    name: str
    members: tuple[str, ...]
    sites: int
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    name: str
    classes: tuple[SiteClass, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanCommission:
    """Percent, weighted by a measure. rankings, queries: that bear on the mean.

    bounds: if every undeclared commission were 0%, and if every one were 100%.
    """

    measure: Measure
    rankings: int
    queries: int
    withheld: str = ""
    mean: Estimate | None = None
    undeclared_share: float | None = None
    bounds: Interval | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentration:
    """Of a measure over sites or over publishers (registrable domains).

    members: eligible ones, those that got nothing (`without`) among them.
    """

    measure: Measure
    over: Literal["sites", "publishers"]
    members: int
    without: int
    withheld: str = ""
    gini: float | None = None
    hhi: float | None = None
    effective_number: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    figure: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessReport:
    """New fields are appended, none is renamed or removed within a version."""

    version: str
    terms: Terms
    counts: Counts
    algorithm: Algorithm
    dimensions: tuple[Dimension, ...]
    commission: tuple[MeanCommission, ...]
    concentration: tuple[Concentration, ...]
    sentences: tuple[str, ...]
    definitions: tuple[Definition, ...]
