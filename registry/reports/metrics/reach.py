"""Reach: how many eligible sites of a class got anything at all, beside the others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from registry.reports.estimate import Estimate, count_queries
from registry.reports.inference.rates import katz_rate_ratio
from registry.reports.metric import Metric
from registry.reports.metrics.measures import COMPARED, Measure
from registry.reports.report_survey import Basis, sites_of
from registry.reports.row_types import Column, Key
from registry.reports.window.classes import UNKNOWN, Classes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Sites of a class, and of the other declared ones, with any of the measure.

    ratio: of the two rates, with the interval of Katz; sites of unknown class stand
    apart from both.
    """

    measure: Annotated[Measure, Key("measure")]
    dimension: Annotated[str, Key("dimension")]
    name: Annotated[str, Key("kind")]
    reached: Annotated[int, Column("count", "reach")]
    sites: Annotated[int, Column("count")]
    others_reached: Annotated[int, Column("count", "reach")]
    other_sites: Annotated[int, Column("count", "reach")]
    withheld: str = ""
    ratio: Annotated[Estimate | None, Column("ratio", "ratio")] = None


def _cells(basis: Basis) -> Iterator[Reach]:
    for classes in basis.survey.declared:
        for name, members in classes.kinds.items():
            others = [n for n in classes.names if n not in {*members, UNKNOWN}]
            for measure, measure_name in COMPARED.items():
                reached, sites = _count(basis, classes, members, measure)
                others_reached, other_sites = _count(basis, classes, others, measure)
                cell = Reach(
                    measure=measure_name,
                    dimension=classes.dimension,
                    name=name,
                    reached=reached,
                    sites=sites,
                    others_reached=others_reached,
                    other_sites=other_sites,
                )
                queries = count_queries(basis.evidence.aggregate, measure)
                yield _compare(cell, basis, queries)


def _count(
    basis: Basis, classes: Classes, names: Sequence[str], measure: int
) -> tuple[int, int]:
    """Return how many sites of the classes got some, and how many there are."""
    ours = sites_of(classes, names) & basis.seen
    return int((basis.amounts[measure, ours] > 0).sum()), int(ours.sum())


def _compare(cell: Reach, basis: Basis, queries: int) -> Reach:
    fewest = min(cell.sites, cell.other_sites)
    withheld = basis.terms.withhold(queries) or basis.terms.withhold(fewest, "sites")
    if withheld:
        return replace(cell, withheld=withheld)
    ratio, interval = katz_rate_ratio(
        cell.reached, cell.sites, cell.others_reached, cell.other_sites
    )
    rounded = Estimate.rounded(ratio, interval.low, interval.high)
    return replace(cell, ratio=rounded)


REACH = Metric(
    name="reach",
    title="Sites that got anything at all",
    measure=lambda basis: tuple(_cells(basis)),
    of=tuple[Reach, ...],
    definitions={
        "reach": (
            "Eligible sites of a class that got any of the measure, over those of the "
            "other declared classes: ratio of the rates with the interval of Katz. It "
            "counts sites, each once."
        )
    },
)
