"""Comparisons: the share of each class of site beside its share of the eligible ones.

A difference is read only from intervals, and only if it stands whether or not the sites
of undeclared class belonged to the class in question.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
from registry.reports.inference.rates import Interval
from registry.reports.metric import BarInput, ChartInput, Metric, Panel
from registry.reports.metrics.comparison_cells import (
    Comparison,
    Dimension,
    Reading,
    SiteClass,
)
from registry.reports.metrics.comparison_sentences import (
    describe,
    describe_findings,
    is_finding,
    name_class,
)
from registry.reports.metrics.kinds import (
    NO_TESTS,
    KindTest,
    KindTests,
    judge_kinds,
    measure_gap,
    read_kind,
)
from registry.reports.metrics.measures import JUDGED, Measure
from registry.reports.report_survey import Basis
from registry.reports.report_terms import Terms
from registry.reports.row_types import Row
from registry.reports.window.classes import CATEGORY, UNKNOWN, Classes

_SUMMARISED = {
    *(("size", name) for name in ("smallBusiness", "medium", "large", "unknown")),
    *(("independence", name) for name in ("independent", "chain", "unknown")),
    ("age", "under30Days"),
}
SUMMARISED_MEASURES = frozenset({"logarithmic", "selected", "selectedGivenRank"})
CHARTED: Mapping[Measure, str] = {
    "logarithmic": "The ranking: attention beyond the eligible share",
    "selectedGivenRank": "Agents: selections beyond what the ranks bring",
}


_LEADING = frozenset({"size", "independence"})
_SHOWN = frozenset(
    {
        *("eligibleShare", "share", "gap", "kindReading", "magnitude"),
        *("adjustedPValue", "detectable"),
    }
)


def read_gap(gap: Estimate, if_unknown_belonged: Estimate) -> Reading:
    """Return the verdict on a gap without the undeclared sites and with all of them."""
    if gap.low <= 0 <= gap.high:
        return "noDifferenceShown"
    if gap.low > 0:
        return "more" if if_unknown_belonged.low > 0 else "unsettled"
    return "less" if if_unknown_belonged.high < 0 else "unsettled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparer:
    """Maker of the comparisons that rest on the same evidence.

    judge: None where kinds are not judged. named: the words for the sites of a class,
    from its dimension and name.
    """

    evidence: SampleEvidence
    terms: Terms
    measures: Sequence[int] = tuple(JUDGED)
    judge: Callable[[Classes], KindTests] | None = None
    named: Callable[[str, str], str] = name_class

    def compare(self, classes: Classes) -> Dimension:
        tests = self.judge(classes) if self.judge else NO_TESTS
        return Dimension(
            name=classes.dimension,
            classes=tuple(
                SiteClass(
                    name=name,
                    members=members,
                    sites=self.evidence.aggregate.count_sites(
                        classes.dimension, members
                    ),
                    comparisons=self.compare_class(classes, name, tests),
                )
                for name, members in classes.kinds.items()
            ),
        )

    def compare_class(
        self, classes: Classes, name: str, tests: KindTests = NO_TESTS
    ) -> tuple[Comparison, ...]:
        """Return a comparison for each measure. name: of one of the classes' kinds."""
        subject = self.named(classes.dimension, name)
        members = classes.kinds[name]
        cells = (
            self._compare(classes, members, measure, tests.get((members, measure)))
            for measure in self.measures
        )
        return tuple(replace(cell, sentence=describe(subject, cell)) for cell in cells)

    def _compare(
        self,
        classes: Classes,
        members: tuple[str, ...],
        measure: int,
        kind: KindTest | None,
    ) -> Comparison:
        evidence, aggregate = self.evidence, self.evidence.aggregate
        columns = aggregate.columns_of(classes.dimension, members)
        rankings, queries = count_bearing(aggregate, measure, columns)
        cell = Comparison(
            measure=JUDGED[measure],
            rankings=rankings,
            queries=queries,
            detectable=kind.detectable if kind else None,
        )
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
        expected = estimate_share(evidence, baseline_of(measure), columns)
        reading = read_gap(gap, widest_gap)
        cell = replace(
            cell,
            eligible_share=expected,
            share=share,
            share_bounds=Interval(
                low=share.value, high=estimate_share(evidence, measure, widest).value
            ),
            gap=gap,
            gap_bounds=_join(gap, widest_gap),
            total=total,
            per_site=round_figure(total / sites),
            reading=reading,
            magnitude=measure_gap(gap.value, expected.value),
            ratio=estimate_ratio(evidence, measure, columns),
        )
        return cell if kind is None else _judge(cell, kind, reading, expected.value)


def _join(gap: Estimate, another: Estimate) -> Interval:
    """Return the outermost ends of two intervals."""
    return Interval(low=min(gap.low, another.low), high=max(gap.high, another.high))


def _judge(
    cell: Comparison, kind: KindTest, reading: Reading, expected: float
) -> Comparison:
    return replace(
        cell,
        p_value=kind.p_value,
        adjusted_p_value=kind.adjusted,
        kind_gap=kind.gap,
        kind_reading=read_kind(reading, kind, expected),
        magnitude=measure_gap(kind.gap.value, expected),
    )


def _with_unknown(classes: Classes, members: tuple[str, ...]) -> tuple[str, ...]:
    undeclared = UNKNOWN in classes.names and UNKNOWN not in members
    return (*members, UNKNOWN) if undeclared else members


def _measure(basis: Basis) -> tuple[Dimension, ...]:
    comparer = Comparer(
        evidence=basis.evidence,
        terms=basis.terms,
        judge=lambda classes: (
            NO_TESTS if classes.dimension == CATEGORY else judge_kinds(basis, classes)
        ),
    )
    return tuple(map(comparer.compare, basis.survey.classes))


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
                ChartInput(
                    title=title, bars=list(_bars(dimension, measure)), is_of_gaps=True
                )
                for measure, title in CHARTED.items()
            ],
            tables={
                "": list(_table_rows(own)),
                "Sites that were eligible": [row for row in own if not row.measure],
            },
            leads=dimension.name in _LEADING,
        )


def _table_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Leave out what other forms have, and what would stand alone in a withheld line."""
    withheld = {(row.kind, row.measure) for row in rows if row.withheld}
    for row in rows:
        is_alone = (row.kind, row.measure) in withheld and not row.withheld
        if row.measure and row.figure in _SHOWN and not is_alone:
            yield row


def _bars(dimension: Dimension, measure: Measure) -> Iterator[BarInput]:
    for site_class in dimension.classes:
        for cell in site_class.comparisons:
            if cell.measure == measure and cell.gap:
                yield BarInput(
                    label=name_class(dimension.name, site_class.name),
                    estimate=cell.gap,
                    band=_chance_band(cell.gap, cell.kind_gap),
                    is_finding=is_finding(cell),
                )


def _chance_band(gap: Estimate, kind_gap: Estimate | None) -> Interval | None:
    """Return where 95% of drawn labels would put the gap."""
    if kind_gap is None:
        return None
    expected = gap.value - kind_gap.value
    half = (kind_gap.high - kind_gap.low) / 2
    return Interval(low=expected - half, high=expected + half)


DIMENSIONS = Metric(
    name="dimensions",
    measure=_measure,
    sentences=_summarise,
    findings=describe_findings,
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
