"""Mean commission of §9.7: of what was shown and chosen, beside the undeclared part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from registry.reports.estimate import (
    Estimate,
    bound_commission,
    count_declared,
    count_queries,
    estimate_commission,
    undeclared_share,
)
from registry.reports.inference.rates import Interval
from registry.reports.metric import BarInput, ChartInput, Metric, Panel
from registry.reports.metrics.measures import WEIGHTED, Measure
from registry.reports.report_survey import Basis
from registry.reports.row_types import Column, Key, QueryCount, RankingCount, Row
from registry.reports.wording import format_percent, in_words


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanCommission:
    """Percent, weighted by a measure. rankings, queries: that bear on the mean.

    bounds: if every undeclared commission were 0%, and if every one were 100%.
    """

    measure: Annotated[Measure, Key("measure")]
    rankings: RankingCount
    queries: QueryCount
    withheld: str = ""
    mean: Annotated[Estimate | None, Column("percent", "meanCommission")] = None
    undeclared_share: Annotated[float | None, Column("share", "undeclaredShare")] = None
    bounds: Annotated[Interval | None, Column("percent", "meanCommission")] = None
    sentence: str = ""


_SUBJECTS: dict[Measure, str] = {
    "eligible": "eligible sites",
    "logarithmic": "sites shown (weighted by logarithmic attention)",
    "rankBiased": "sites shown (weighted by rank-biased attention)",
    "topOne": "sites in first place",
    "selected": "selected sites",
}


def _measure(basis: Basis) -> tuple[MeanCommission, ...]:
    cells = (_average(basis, measure) for measure in WEIGHTED)
    return tuple(replace(cell, sentence=_describe(cell)) for cell in cells)


def _average(basis: Basis, measure: int) -> MeanCommission:
    evidence, terms = basis.evidence, basis.terms
    rankings, queries = count_declared(evidence.aggregate, measure)
    cell = MeanCommission(measure=WEIGHTED[measure], rankings=rankings, queries=queries)
    if not terms.withhold(count_queries(evidence.aggregate, measure)):
        cell = replace(cell, undeclared_share=undeclared_share(evidence, measure))
    if withheld := terms.withhold(queries):
        return replace(cell, withheld=withheld)
    return replace(
        cell,
        mean=estimate_commission(evidence, measure),
        bounds=bound_commission(evidence, measure),
    )


def _describe(cell: MeanCommission) -> str:
    subject, undeclared = _SUBJECTS[cell.measure], ""
    if cell.undeclared_share is not None:
        share = format_percent(cell.undeclared_share)
        undeclared = f" {share} of them by weight declared none."
    if not cell.mean:
        return f"Mean commission of {subject}: withheld, as it {cell.withheld}.{undeclared}"
    return (
        f"The mean declared commission of {subject} is {cell.mean.value:.1f}% "
        f"(95% interval {cell.mean.low:.1f}% to {cell.mean.high:.1f}%).{undeclared}"
    )


def _summarise(means: Sequence[MeanCommission]) -> Iterator[str]:
    for cell in means:
        if cell.measure in {"eligible", "selected"}:
            yield cell.sentence


def _panels(means: Sequence[MeanCommission], rows: Sequence[Row]) -> Iterator[Panel]:
    bars = [
        BarInput(label=in_words(cell.measure), estimate=cell.mean)
        for cell in means
        if cell.mean
    ]
    title = "Mean declared commission, by what weighs the sites"
    yield Panel(
        title="Commission",
        charts=[ChartInput(title=title, bars=bars, whole=100.0)],
        tables={"Mean declared commission": rows},
    )


COMMISSION = Metric(
    name="commission",
    measure=_measure,
    sentences=_summarise,
    panels=_panels,
    definitions={
        "meanCommission": (
            "Mean declared commission in percent, weighted by the measure. Its bounds "
            "take every undeclared commission as 0% and as 100%."
        ),
        "undeclaredShare": (
            "The part of the measure that went to sites without a declared commission."
        ),
    },
)
