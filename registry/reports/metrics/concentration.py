"""Concentration: how few take how much.

Amounts are exposures or selections, one per eligible site; a site that got nothing is a
0 in the list, not absent from it, or the Gini coefficient flatters.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np

from registry.reports.arrays import Floats, group_sums, shares
from registry.reports.estimate import count_queries, round_figure
from registry.reports.metric import Metric
from registry.reports.metrics.measures import COMPARED, Measure
from registry.reports.report_survey import Basis
from registry.reports.row_types import Column, Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentration:
    """Concentration of a measure over sites or over publishers (registrable domains).

    members: eligible ones, those that got nothing (`without`) among them.
    """

    measure: Annotated[Measure, Key("measure")]
    over: Annotated[Literal["sites", "publishers"], Key("part")]
    members: Annotated[int, Column("count")]
    without: Annotated[int, Column("count")]
    withheld: str = ""
    gini: Annotated[float | None, Column("number", "gini")] = None
    hhi: Annotated[float | None, Column("number", "hhi")] = None
    effective_number: Annotated[float | None, Column("number", "effectiveNumber")] = (
        None
    )


def gini(amounts: Floats) -> float:
    """Return 0 where all have the same, (n - 1) / n where one has all.

    Raises: ValueError for a negative amount or a sum of 0.
    """
    parts = np.sort(shares(amounts))
    count = len(parts)
    ranks = np.arange(1, count + 1)
    return float((2 * ranks - count - 1) @ parts / count)


def herfindahl_hirschman_index(amounts: Floats) -> float:
    """Return the sum of squared shares: from 1 / n (even) to 1 (one has all)."""
    parts = shares(amounts)
    return float(parts @ parts)


def effective_number(amounts: Floats) -> float:
    """Return how many equal sites would be as concentrated: 1 / HHI."""
    return 1 / herfindahl_hirschman_index(amounts)


def _cells(basis: Basis) -> Iterator[Concentration]:
    """Yield cells over sites, as many as the largest eligible set, and publishers."""
    unseen = np.zeros(max(0, basis.survey.most_eligible - int(basis.seen.sum())))
    publishers, owner = np.unique(
        basis.survey.sites.publisher[basis.seen], return_inverse=True
    )
    for measure, name in COMPARED.items():
        withheld = basis.terms.withhold(
            count_queries(basis.evidence.aggregate, measure)
        )
        amounts = basis.amounts[measure, basis.seen]
        by_publisher = group_sums(amounts, owner, len(publishers))
        yield _concentrate(name, "sites", np.append(amounts, unseen), withheld)
        yield _concentrate(name, "publishers", by_publisher, withheld)


def _concentrate(
    measure: Measure,
    over: Literal["sites", "publishers"],
    amounts: Floats,
    withheld: str,
) -> Concentration:
    cell = Concentration(
        measure=measure,
        over=over,
        members=len(amounts),
        without=int((amounts == 0).sum()),
        withheld=withheld,
    )
    if withheld:
        return cell
    return replace(
        cell,
        gini=round_figure(gini(amounts)),
        hhi=round_figure(herfindahl_hirschman_index(amounts)),
        effective_number=round_figure(effective_number(amounts)),
    )


CONCENTRATION = Metric(
    name="concentration",
    title="Concentration over all eligible sites",
    measure=lambda basis: tuple(_cells(basis)),
    of=tuple[Concentration, ...],
    definitions={
        "gini": (
            "Inequality between eligible sites, those that got nothing among them: "
            "0 where all got the same, near 1 where one got all. At least as many "
            "sites count as were eligible in the largest ranking."
        ),
        "hhi": "Sum of the squared shares of single sites; 1 where one got all.",
        "effectiveNumber": (
            "How many equal sites would be as concentrated: 1 over the former."
        ),
        "publishers": (
            "Sites of one registrable domain, counted as one; only domains that were "
            "seen eligible count."
        ),
    },
)
