"""Cells of a comparison: one class of site in one measure, beside its expected share."""

from dataclasses import dataclass
from typing import Annotated, Literal

from registry.reports.estimate import Estimate
from registry.reports.inference.rates import Interval
from registry.reports.metrics.kinds import KindReading, Magnitude
from registry.reports.metrics.measures import Measure
from registry.reports.row_types import Cells, Column, Key, QueryCount, RankingCount

Reading = Literal["more", "less", "noDifferenceShown", "unsettled"]
"""Verdict of the intervals: more or less than the eligible share; no difference shown;
or a difference among the declared that the undeclared could cancel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A class of sites in a measure; no figures where `withheld` says why.

    share_bounds: the share if no undeclared site belonged here, and if all did.
    gap: share less eligible share. gap_bounds: the outermost ends of its interval under
    both assignments. total: rankings' worth of attention; per_site: per site of the
    class. ratio: share over eligible share. reading: how these very sites fared.
    eligible_share: of what the ranks shown would bring, in `selectedGivenRank`. The
    rest is of the kind, see `kinds`; None where no labels could be shuffled.
    """

    measure: Annotated[Measure, Key("measure")]
    rankings: RankingCount
    queries: QueryCount
    withheld: str = ""
    eligible_share: Annotated[Estimate | None, Column("share", "eligibleShare")] = None
    share: Annotated[Estimate | None, Column("share", "share")] = None
    share_bounds: Annotated[Interval | None, Column("share", "shareBounds")] = None
    gap: Annotated[Estimate | None, Column("points", "gap")] = None
    gap_bounds: Annotated[Interval | None, Column("points", "gapBounds")] = None
    total: Annotated[float | None, Column("number", "total")] = None
    per_site: Annotated[float | None, Column("number", "perSite")] = None
    reading: Annotated[Reading | None, Column("text", "reading")] = None
    sentence: str = ""
    ratio: Annotated[Estimate | None, Column("ratio", "ratio")] = None
    p_value: Annotated[float | None, Column("probability", "pValue")] = None
    kind_reading: Annotated[KindReading | None, Column("text", "kindReading")] = None
    kind_gap: Annotated[Estimate | None, Column("points", "kindGap")] = None
    adjusted_p_value: Annotated[
        float | None, Column("probability", "adjustedPValue")
    ] = None
    detectable: Annotated[float | None, Column("points", "detectable")] = None
    magnitude: Annotated[Magnitude | None, Column("text", "magnitude")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteClass:
    """Class of sites. members: the declared labels that it joins."""

    name: Annotated[str, Key("kind")]
    members: tuple[str, ...]
    sites: Annotated[int, Column("count")]
    comparisons: Annotated[tuple[Comparison, ...], Cells()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """Classes that sites are put into by one of their labels."""

    name: Annotated[str, Key("dimension")]
    classes: Annotated[tuple[SiteClass, ...], Cells()]
