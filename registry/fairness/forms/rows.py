"""A report as rows, one a figure: what all its forms but JSON are made from.

A row's path is stable: it names the figure by section, part, dimension, class and
measure, each percent-encoded, because classes and parts may be named by others.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import quote

from registry.fairness.inference.rates import Interval
from registry.fairness.report.estimate import Estimate
from registry.fairness.report.figures import (
    Contradictions,
    Dimension,
    FairnessReport,
    Invariance,
)

Unit = Literal[
    "text",
    "count",
    "number",
    "share",
    "rate",
    "points",
    "percent",
    "ratio",
    "probability",
]
Value = float | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure, and what it is of; None where that does not apply.

    part: of a breakdown, such as ("operator", "acme.example"). kind: a class of sites.
    unit: share and rate (of what is rare) run 0..1, points (a gap of shares) -1..1,
    percent 0..100.
    definition: the name of one under the section `definitions`, or "".
    """

    section: str
    part: tuple[str, ...] = ()
    dimension: str | None = None
    kind: str | None = None
    measure: str | None = None
    figure: str = ""
    unit: Unit = "text"
    value: Value = None
    low: float | None = None
    high: float | None = None
    rankings: int | None = None
    queries: int | None = None
    withheld: str = ""
    definition: str = ""

    @property
    def path(self) -> str:
        places = (self.dimension, self.kind, self.measure)
        named = (self.section, *self.part, *places, self.figure)
        return "/".join(_quote(one) for one in named if one is not None)


@lru_cache(maxsize=1024)
def _quote(name: str) -> str:
    return quote(name, safe="")


# Field of a cell: name of the figure, unit, name of its definition.
_FIGURES: Mapping[str, tuple[str, Unit, str]] = {
    "sites": ("sites", "count", ""),
    "eligible_share": ("eligibleShare", "share", "eligibleShare"),
    "share": ("share", "share", "share"),
    "share_bounds": ("shareBounds", "share", "shareBounds"),
    "gap": ("gap", "points", "gap"),
    "gap_bounds": ("gapBounds", "points", "gapBounds"),
    "reading": ("reading", "text", "reading"),
    "ratio": ("ratio", "ratio", "ratio"),
    "p_value": ("pValue", "probability", "pValue"),
    "total": ("total", "number", "total"),
    "per_site": ("perSite", "number", "perSite"),
    "mean": ("mean", "percent", "meanCommission"),
    "bounds": ("bounds", "percent", "meanCommission"),
    "undeclared_share": ("undeclaredShare", "share", "undeclaredShare"),
    "members": ("members", "count", ""),
    "without": ("without", "count", ""),
    "gini": ("gini", "number", "gini"),
    "hhi": ("hhi", "number", "hhi"),
    "effective_number": ("effectiveNumber", "number", "effectiveNumber"),
    "reached": ("reached", "count", "reach"),
    "others_reached": ("othersReached", "count", "reach"),
    "other_sites": ("otherSites", "count", "reach"),
    "awrf": ("awrf", "number", "awrf"),
    "ndkl": ("ndkl", "number", "ndkl"),
    "exposure_share": ("exposureShare", "share", "share"),
    "merit_share": ("meritShare", "share", "merit"),
    "exposure_to_merit": ("exposureToMerit", "ratio", "exposureToMerit"),
    "treatment": ("treatment", "ratio", "treatment"),
    "inequity": ("inequity", "number", "inequity"),
    "disparity": ("disparity", "number", "disparity"),
    "relevance": ("relevance", "number", "relevance"),
    "loss": ("loss", "number", "loss"),
    "nominal": ("nominal", "share", ""),
    "variance_share": ("varianceShare", "share", "varianceShare"),
    "swap_rate": ("swapRate", "share", "swapRate"),
    "swap_share": ("swapShare", "share", "swapShare"),
    "runs": ("runs", "count", "ties"),
    "distance": ("distance", "number", "ties"),
    "days": ("days", "count", "invariance"),
    "trials": ("trials", "count", "invariance"),
    "violations": ("violations", "count", "invariance"),
    "rate": ("rate", "rate", "violationRate"),
    "registered": ("registered", "count", "contradictions"),
    "stated_twice": ("statedTwice", "count", "statedTwice"),
    "site_share": ("siteShare", "share", "siteShare"),
}


def rows_of(report: FairnessReport) -> Iterator[Row]:
    """Always in the same order."""
    yield from _basis(report)
    for dimension in report.dimensions:
        yield from _compared(Row(section="dimensions"), dimension)
    for mean in report.commission:
        yield from _cell(Row(section="commission", measure=mean.measure), mean)
    for one in report.concentration:
        over = Row(section="concentration", part=(one.over,), measure=one.measure)
        yield from _cell(over, one)
    yield from _of_sites(report)
    yield from _of_scores(report)
    for part in report.breakdowns:
        of = Row(section="breakdowns", part=(part.by, part.value))
        yield replace(of, figure="baseline", value=part.baseline)
        if part.withheld:
            yield replace(
                of,
                figure="dimensions",
                withheld=part.withheld,
                rankings=part.rankings,
                queries=part.queries,
            )
        for dimension in part.dimensions:
            yield from _compared(of, dimension)
    yield from _words(report)


def _basis(report: FairnessReport) -> Iterator[Row]:
    yield Row(section="version", figure="version", value=report.version)
    terms = report.terms
    for name, at in (("from", terms.window.start_at), ("to", terms.window.end_at)):
        yield Row(section="terms", figure=name, value=spell_instant(at))
    for name, number in (
        ("minimumCell", terms.minimum_cell),
        ("replicates", terms.replicates),
        ("seed", terms.seed),
    ):
        yield Row(section="terms", figure=name, unit="count", value=number)
    yield Row(section="terms", figure="operator", value=terms.operator)
    yield Row(section="terms", figure="category", value=terms.category)
    counts = report.counts
    for name, number in (
        ("rankings", counts.rankings),
        ("emptyRankings", counts.empty_rankings),
        ("queries", counts.queries),
        ("reported", counts.reported),
        ("selections", counts.selections),
        ("sites", counts.sites),
        ("scored", counts.scored),
    ):
        yield Row(section="counts", figure=name, unit="count", value=number)


def _compared(of: Row, dimension: Dimension) -> Iterator[Row]:
    for site_class in dimension.classes:
        place = replace(of, dimension=dimension.name, kind=site_class.name)
        yield replace(place, figure="sites", unit="count", value=site_class.sites)
        for cell in site_class.comparisons:
            yield from _cell(replace(place, measure=cell.measure), cell)


def _of_sites(report: FairnessReport) -> Iterator[Row]:
    for one in report.reach:
        of = Row(section="reach", dimension=one.dimension, kind=one.name)
        yield from _cell(replace(of, measure=one.measure), one)
    for told in report.parity:
        of = Row(section="parity", dimension=told.dimension, measure=told.measure)
        yield from _cell(of, told)


def _of_scores(report: FairnessReport) -> Iterator[Row]:
    for one in report.merit:
        of = Row(section="merit", dimension=one.dimension, kind=one.name)
        yield from _cell(of, one)
    if report.consistency:
        consistent = Row(section="consistency", queries=report.consistency.queries)
        yield from _cell(consistent, report.consistency)
        for dimension, gap in (report.consistency.largest_gaps or {}).items():
            yield replace(
                consistent,
                dimension=dimension,
                figure="largestGap",
                unit="ratio",
                value=gap,
                definition="exposureToMerit",
            )
    for weight in report.effective_weights:
        yield from _cell(Row(section="effectiveWeights", part=(weight.factor,)), weight)
    if report.ties:
        yield from _cell(Row(section="ties"), report.ties)
    if report.invariance:
        yield from _of_trials(report.invariance)
    if report.contradictions:
        yield from _of_contradictions(report.contradictions)


def _of_trials(told: Invariance) -> Iterator[Row]:
    yield from _cell(Row(section="invariance"), told)
    for one in told.perturbations:
        yield from _cell(Row(section="invariance", kind=one.name), one)


def _of_contradictions(told: Contradictions) -> Iterator[Row]:
    of = Row(section="contradictions")
    yield from _cell(of, told)
    for one in told.fields:
        yield from _cell(replace(of, kind=one.name), one)
        for cell in one.comparisons:
            yield from _cell(replace(of, kind=one.name, measure=cell.measure), cell)


def _words(report: FairnessReport) -> Iterator[Row]:
    for model in report.position_models:
        of = Row(section="positionModels", measure=model.measure)
        yield replace(of, figure="formula", value=model.formula)
        for rank, weight in enumerate(model.weights, 1):
            yield replace(of, figure=f"rank{rank}", unit="number", value=weight)
    algorithm = report.algorithm
    for name, told in (
        ("policyDigest", algorithm.policy_digest),
        ("codeDigest", algorithm.code_digest),
        ("sourceUrl", algorithm.source_url),
        ("attestations", " ".join(algorithm.attestations)),
    ):
        yield Row(section="algorithm", figure=name, value=told)
    for number, sentence in enumerate(report.sentences, 1):
        yield Row(section="sentences", figure=str(number), value=sentence)
    for one in report.definitions:
        yield Row(section="definitions", figure=one.figure, value=one.meaning)


def _cell(of: Row, cell: Any) -> Iterator[Row]:
    """cell: one of `figures`. Without a row: what is neither told nor withheld."""
    resting = replace(
        of,
        rankings=getattr(cell, "rankings", None),
        queries=getattr(cell, "queries", None),
    )
    for field in fields(cell):
        if field.name not in _FIGURES:
            continue
        value = getattr(cell, field.name)
        name, unit, definition = _FIGURES[field.name]
        told: dict[str, Any]
        match value:
            case None if cell.withheld:
                told = {"withheld": cell.withheld}
            case None:
                continue
            case Estimate():
                told = {"value": value.value, "low": value.low, "high": value.high}
            case Interval():
                told = {"low": value.low, "high": value.high}
            case _:
                told = {"value": value}
        yield replace(resting, figure=name, unit=unit, definition=definition, **told)


def spell_instant(at: datetime) -> str:
    """RFC 3339 in UTC. at: UTC aware."""
    return at.isoformat().replace("+00:00", "Z")
