"""Comparisons: what each class of site got, next to what it made of the eligible.

A difference is read only from intervals, and only if it stands whether or not the sites
of undeclared class belonged to the class in question.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from registry.fairness.inference.rates import Interval
from registry.fairness.report.estimate import (
    Estimate,
    Evidence,
    baseline_of,
    count_bearing,
    estimate_gap,
    estimate_ratio,
    estimate_share,
    round_figure,
    total_of,
)
from registry.fairness.report.figures import (
    Comparison,
    Dimension,
    Measure,
    Reading,
    SiteClass,
)
from registry.fairness.report.wording import describe_comparison, explain_withheld
from registry.fairness.window.classes import UNKNOWN, Classes
from registry.fairness.window.tally import LOGARITHMIC, RANK_BIASED, SELECTED, TOP_ONE

COMPARED: Mapping[int, Measure] = {
    LOGARITHMIC: "logarithmic",
    RANK_BIASED: "rankBiased",
    TOP_ONE: "topOne",
    SELECTED: "selected",
}

PValues = Mapping[tuple[tuple[str, ...], int], float]
"""Of the classes with these names against the other declared ones, in a measure."""

NO_P_VALUES: PValues = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparer:
    """What all cells of a table share. p_values: None where they are not to be told."""

    evidence: Evidence
    minimum_cell: int
    measures: Sequence[int] = tuple(COMPARED)
    p_values: Callable[[Classes], PValues] | None = None

    def compare(self, classes: Classes) -> Dimension:
        found = self.p_values(classes) if self.p_values else {}
        return Dimension(
            name=classes.dimension,
            classes=tuple(
                self.compare_kind(classes, name, found) for name in classes.kinds
            ),
        )

    def compare_kind(
        self, classes: Classes, name: str, p_values: PValues = NO_P_VALUES
    ) -> SiteClass:
        """name: of one of the kinds."""
        members = classes.kinds[name]
        tally = self.evidence.tally
        return SiteClass(
            name=name,
            members=members,
            sites=tally.count_sites(classes.dimension, members),
            comparisons=tuple(
                self._compare(classes, name, measure, p_values.get((members, measure)))
                for measure in self.measures
            ),
        )

    def _compare(
        self, classes: Classes, name: str, measure: int, p_value: float | None
    ) -> Comparison:
        members = classes.kinds[name]
        columns = self.evidence.tally.columns_of(classes.dimension, members)
        rankings, queries = count_bearing(self.evidence.tally, measure, columns)
        cell = Comparison(measure=COMPARED[measure], rankings=rankings, queries=queries)
        if queries < self.minimum_cell:
            cell = replace(cell, withheld=explain_withheld(queries, self.minimum_cell))
        else:
            cell = self._fill(replace(cell, p_value=p_value), classes, members, measure)
        sentence = describe_comparison(classes.dimension, name, cell)
        return replace(cell, sentence=sentence)

    def _fill(
        self,
        cell: Comparison,
        classes: Classes,
        members: tuple[str, ...],
        measure: int,
    ) -> Comparison:
        evidence, tally = self.evidence, self.evidence.tally
        columns = tally.columns_of(classes.dimension, members)
        widest = tally.columns_of(classes.dimension, _with_unknown(classes, members))
        share = estimate_share(evidence, measure, columns)
        eligible = estimate_share(evidence, baseline_of(measure), columns)
        gap = estimate_gap(evidence, measure, columns)
        widest_gap = estimate_gap(evidence, measure, widest)
        total = total_of(evidence, measure, columns)
        return replace(
            cell,
            eligible_share=eligible,
            share=share,
            share_bounds=Interval(
                low=share.value, high=estimate_share(evidence, measure, widest).value
            ),
            gap=gap,
            gap_bounds=Interval(
                low=min(gap.low, widest_gap.low), high=max(gap.high, widest_gap.high)
            ),
            total=total,
            per_site=round_figure(
                total / tally.count_sites(classes.dimension, members)
            ),
            reading=read_gap(gap, widest_gap),
            ratio=estimate_ratio(evidence, measure, columns),
        )


def read_gap(gap: Estimate, if_unknown_belonged: Estimate) -> Reading:
    """The gap with the undeclared sites left out, and with all of them counted in."""
    if gap.low <= 0 <= gap.high:
        return "noDifferenceShown"
    if gap.low > 0:
        return "more" if if_unknown_belonged.low > 0 else "unsettled"
    return "less" if if_unknown_belonged.high < 0 else "unsettled"


def _with_unknown(classes: Classes, members: tuple[str, ...]) -> tuple[str, ...]:
    """The members, and those that might be of them."""
    undeclared = UNKNOWN in classes.names and UNKNOWN not in members
    return (*members, UNKNOWN) if undeclared else members
