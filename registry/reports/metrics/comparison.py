"""Comparisons: the share of each class of site beside its share of the eligible ones.

A difference is read only from intervals, and only if it stands whether or not the sites
of undeclared class belonged to the class in question.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np

from registry.reports.estimate import (
    Estimate,
    SampleEvidence,
    baseline_of,
    count_bearing,
    estimate_gap,
    estimate_ratio,
    estimate_share,
    round_figure,
    total_of,
)
from registry.reports.inference.permutation import (
    merge_publishers,
    permutation_p_values,
)
from registry.reports.inference.rates import Interval
from registry.reports.metric import BarInput, ChartInput, Metric, Panel
from registry.reports.metrics.measures import COMPARED, Measure
from registry.reports.report_survey import Basis, sites_of
from registry.reports.report_terms import Terms
from registry.reports.row_types import (
    Cells,
    Column,
    Key,
    QueryCount,
    RankingCount,
    Row,
)
from registry.reports.window.aggregate import PERSISTENCE
from registry.reports.window.classes import UNKNOWN, Classes
from registry.reports.wording import describe_gap, format_percent

Reading = Literal["more", "less", "noDifferenceShown", "unsettled"]
"""Verdict of the intervals: more or less than the eligible share; no difference shown;
or a difference among the declared that the undeclared could cancel."""


KindReading = Literal["more", "less", "notShown"]
"""Verdict on a kind of site, beyond the sites that happened to be in the window."""

ALARM_RATE = 0.1
"""Share of fair reports with any verdict on a kind, at the most: the level of a single
comparison is this over their number (Bonferroni)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A class of sites in a measure; no figures where `withheld` says why.

    share_bounds: the share if no undeclared site belonged here, and if all did.
    gap: share less eligible share. gap_bounds: the outermost ends of its interval under
    both assignments. total: rankings' worth of attention; per_site: per site of the
    class. ratio: share over eligible share. reading: how these very sites fared.
    p_value: of a permutation of labels over publishers, in categories. kind_reading:
    whether their kind did, which the labels have to show; None without a p-value.
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


_CLASS_NAMES: Mapping[tuple[str, str], str] = {
    ("size", "micro"): "Micro businesses",
    ("size", "small"): "Small businesses",
    ("size", "smallBusiness"): "Micro and small businesses together",
    ("size", "medium"): "Medium businesses",
    ("size", "large"): "Large businesses",
    ("size", "unknown"): "Sites of undeclared size",
    ("independence", "independent"): "Independent sites",
    ("independence", "chain"): "Sites of chains",
    ("independence", "unknown"): "Sites of undeclared independence",
    ("age", "under30Days"): "Sites registered less than 30 days ago",
    ("age", "under90Days"): "Sites registered 30 to 90 days ago",
    ("age", "under1Year"): "Sites registered 90 days to a year ago",
    ("age", "older"): "Sites registered a year ago or earlier",
    ("age", "unknown"): "Sites whose day of registration is not known",
}
_SUMMARISED = frozenset(_CLASS_NAMES) - {
    ("size", "micro"),
    ("size", "small"),
    *(("age", name) for name in ("under90Days", "under1Year", "older", "unknown")),
}
SUMMARISED_MEASURES = frozenset({"logarithmic", "selected"})
CHARTED: Mapping[Measure, str] = {
    "logarithmic": "Attention, falling with the logarithm of the rank",
    "selected": "Selections",
}
_RECEIVED: Mapping[Measure, str] = {
    "logarithmic": "of the attention, if that falls with the logarithm of the rank",
    "rankBiased": f"of the attention, if that falls by a factor of {PERSISTENCE} a rank",
    "topOne": "of the first places",
    "selected": "of the selections",
}
_READINGS: Mapping[Reading, str] = {
    "more": "That is more than their eligible share: {gap}.",
    "less": "That is less than their eligible share: {gap}.",
    "noDifferenceShown": "The gap can be chance, no difference is shown: {gap}.",
    "unsettled": (
        "The declared sites differ from their eligible share, {gap}, "
        "but the undeclared ones could cancel that."
    ),
}


def name_class(dimension: str, name: str) -> str:
    """Return the words for the sites of a class."""
    return _CLASS_NAMES.get((dimension, name)) or f"Sites of the {dimension} {name!r}"


def describe(subject: str, cell: Comparison) -> str:
    """Return the sentence of a comparison. subject: the words for its sites."""
    what = _RECEIVED[cell.measure]
    if not (cell.share and cell.eligible_share and cell.gap and cell.reading):
        return f"{subject}, share {what}: withheld, as it {cell.withheld}."
    return (
        f"{subject} made up {format_percent(cell.eligible_share.value)} of the eligible "
        f"sites and got {format_percent(cell.share.value)} "
        f"(95% interval {format_percent(cell.share.low)} to "
        f"{format_percent(cell.share.high)}) {what}. "
        + _READINGS[cell.reading].format(gap=describe_gap(cell.gap))
        + _describe_kind(cell)
    )


def _describe_kind(cell: Comparison) -> str:
    """Distinguish sites from their kind, where these sites differ at all."""
    if cell.kind_reading is None or cell.reading not in {"more", "less"}:
        return ""
    if cell.kind_reading == "notShown":
        return (
            " That holds of these sites; that their kind is treated otherwise is not "
            f"shown: drawn labels part sites as far in {cell.p_value:.1%} of cases."
        )
    rate = f"{cell.p_value:.2%}"
    return f" Their kind is treated otherwise: drawn labels part so in {rate} of cases."


def read_kind(
    reading: Reading, p_value: float | None, comparisons: int
) -> KindReading | None:
    """Return the verdict on the kind. comparisons: how many of a report are judged."""
    if p_value is None:
        return None
    if reading in {"more", "less"} and p_value <= ALARM_RATE / max(1, comparisons):
        return "more" if reading == "more" else "less"
    return "notShown"


def read_gap(gap: Estimate, if_unknown_belonged: Estimate) -> Reading:
    """Return the verdict on a gap without the undeclared sites and with all of them."""
    if gap.low <= 0 <= gap.high:
        return "noDifferenceShown"
    if gap.low > 0:
        return "more" if if_unknown_belonged.low > 0 else "unsettled"
    return "less" if if_unknown_belonged.high < 0 else "unsettled"


PValues = Mapping[tuple[tuple[str, ...], int], float]
"""By the names that a class joins, and the measure."""

_NO_P_VALUES: PValues = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparer:
    """Maker of the comparisons that rest on the same evidence.

    p_values: None where they are left out. named: the words for the sites of a class,
    from its dimension and name. judged: comparisons of the report that have p-values.
    """

    evidence: SampleEvidence
    terms: Terms
    measures: Sequence[int] = tuple(COMPARED)
    p_values: Callable[[Classes], PValues] | None = None
    named: Callable[[str, str], str] = name_class
    judged: int = 1

    def compare(self, classes: Classes) -> Dimension:
        p_values = self.p_values(classes) if self.p_values else _NO_P_VALUES
        return Dimension(
            name=classes.dimension,
            classes=tuple(
                SiteClass(
                    name=name,
                    members=members,
                    sites=self.evidence.aggregate.count_sites(
                        classes.dimension, members
                    ),
                    comparisons=self.compare_class(classes, name, p_values),
                )
                for name, members in classes.kinds.items()
            ),
        )

    def compare_class(
        self, classes: Classes, name: str, p_values: PValues = _NO_P_VALUES
    ) -> tuple[Comparison, ...]:
        """Return a comparison for each measure. name: of one of the classes' kinds."""
        subject = self.named(classes.dimension, name)
        members = classes.kinds[name]
        cells = (
            self._compare(classes, members, measure, p_values.get((members, measure)))
            for measure in self.measures
        )
        return tuple(replace(cell, sentence=describe(subject, cell)) for cell in cells)

    def _compare(
        self,
        classes: Classes,
        members: tuple[str, ...],
        measure: int,
        p_value: float | None,
    ) -> Comparison:
        evidence, aggregate = self.evidence, self.evidence.aggregate
        columns = aggregate.columns_of(classes.dimension, members)
        rankings, queries = count_bearing(aggregate, measure, columns)
        cell = Comparison(measure=COMPARED[measure], rankings=rankings, queries=queries)
        if withheld := self.terms.withhold(queries):
            return replace(cell, withheld=withheld)
        widest = aggregate.columns_of(
            classes.dimension, _with_unknown(classes, members)
        )
        share = estimate_share(evidence, measure, columns)
        gap = estimate_gap(evidence, measure, columns)
        widest_gap = estimate_gap(evidence, measure, widest)
        total = total_of(evidence, measure, columns)
        sites = aggregate.count_sites(classes.dimension, members)
        reading = read_gap(gap, widest_gap)
        return replace(
            cell,
            eligible_share=estimate_share(evidence, baseline_of(measure), columns),
            share=share,
            share_bounds=Interval(
                low=share.value, high=estimate_share(evidence, measure, widest).value
            ),
            gap=gap,
            gap_bounds=Interval(
                low=min(gap.low, widest_gap.low), high=max(gap.high, widest_gap.high)
            ),
            total=total,
            per_site=round_figure(total / sites),
            reading=reading,
            kind_reading=read_kind(reading, p_value, self.judged),
            ratio=estimate_ratio(evidence, measure, columns),
            p_value=p_value,
        )


def _with_unknown(classes: Classes, members: tuple[str, ...]) -> tuple[str, ...]:
    undeclared = UNKNOWN in classes.names and UNKNOWN not in members
    return (*members, UNKNOWN) if undeclared else members


def _measure(basis: Basis) -> tuple[Dimension, ...]:
    comparer = Comparer(
        evidence=basis.evidence,
        terms=basis.terms,
        p_values=lambda classes: _p_values(basis, classes),
        judged=len(COMPARED) * sum(len(own.kinds) for own in basis.survey.classes),
    )
    return tuple(map(comparer.compare, basis.survey.classes))


def _p_values(basis: Basis, classes: Classes) -> PValues:
    """Return the p-value of each class against the other declared ones."""
    declared = basis.seen.copy()
    if UNKNOWN in classes.names:
        declared &= classes.code != classes.names.index(UNKNOWN)
    kinds = [members for members in classes.kinds.values() if UNKNOWN not in members]
    groups = [sites_of(classes, members)[declared] for members in kinds]
    excess = [
        basis.amounts[measure, declared] - basis.amounts[baseline_of(measure), declared]
        for measure in COMPARED
    ]
    sites = basis.survey.sites
    p_values = permutation_p_values(
        *merge_publishers(
            np.stack(excess, axis=1),
            np.stack(groups, axis=1),
            sites.category[declared].astype(np.int64),
            sites.publisher[declared],
        ),
        basis.survey.generator(f"labels of {classes.dimension}"),
    )
    return {
        (members, measure): round_figure(p_values[row, column])
        for row, members in enumerate(kinds)
        for column, measure in enumerate(COMPARED)
        if groups[row].any() and not groups[row].all()
    }


def _summarise(dimensions: Sequence[Dimension]) -> Iterator[str]:
    for dimension in dimensions:
        for site_class in dimension.classes:
            if (dimension.name, site_class.name) in _SUMMARISED:
                for cell in site_class.comparisons:
                    if cell.measure in SUMMARISED_MEASURES:
                        yield cell.sentence


def _comparisons(dimensions: Sequence[Dimension]) -> Iterator[Comparison]:
    for dimension in dimensions:
        for site_class in dimension.classes:
            yield from site_class.comparisons


def _panels(dimensions: Sequence[Dimension], rows: Sequence[Row]) -> Iterator[Panel]:
    for dimension in dimensions:
        own = [row for row in rows if row.dimension == dimension.name]
        yield Panel(
            title=f"By {dimension.name}",
            charts=[
                ChartInput(title=title, bars=list(_bars(dimension, measure)))
                for measure, title in CHARTED.items()
            ],
            tables={
                "": [row for row in own if row.measure is not None],
                "Sites that were eligible": [row for row in own if not row.measure],
            },
        )


def _bars(dimension: Dimension, measure: Measure) -> Iterator[BarInput]:
    for site_class in dimension.classes:
        for cell in site_class.comparisons:
            if cell.measure == measure and cell.share and cell.eligible_share:
                yield BarInput(
                    label=name_class(dimension.name, site_class.name),
                    estimate=cell.share,
                    expected=cell.eligible_share.value,
                )


DIMENSIONS = Metric(
    name="dimensions",
    measure=_measure,
    sentences=_summarise,
    comparisons=_comparisons,
    panels=_panels,
    definitions={
        "shareBounds": (
            "The share if no undeclared site were of the kind, and if all were."
        ),
        "gapBounds": (
            "The outermost ends of the gap's interval in these two cases together."
        ),
        "smallBusiness": (
            "Micro and small businesses together, the small ones of WAB 9.7; sizes are "
            "as labelled, in the bands of EU Recommendation 2003/361/EC."
        ),
        "total": "What a kind of site got, in wholes of one ranking each.",
        "perSite": "The total over the number of sites of the kind seen eligible.",
    },
)
