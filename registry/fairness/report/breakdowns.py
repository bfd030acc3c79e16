"""Breakdowns: the comparisons of §9.7 over parts of a window."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from registry.fairness.report.compare import Comparer
from registry.fairness.report.estimate import count_queries, weigh
from registry.fairness.report.figures import Breakdown
from registry.fairness.report.scored import BAND_NAMES, ScoredWindow
from registry.fairness.report.survey import Surveyed
from registry.fairness.report.wording import explain_withheld
from registry.fairness.window.classes import (
    OTHER_CATEGORIES,
    Classes,
    by_category,
    fold_names,
)
from registry.fairness.window.cuts import (
    cut_by_item,
    cut_by_operator,
    cut_by_requested_category,
    cut_by_site,
)
from registry.fairness.window.tally import (
    ELIGIBLE,
    LOGARITHMIC,
    SELECTED,
    WHOLE,
    Tally,
    tally,
)

CELLS_MAX = 20
"""Of one breakdown: those of most rankings."""

_MEASURES = (ELIGIBLE, LOGARITHMIC, SELECTED)

By = Literal["operator", "requestedCategory", "siteCategory", "distanceBand"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Told:
    """How one breakdown becomes figures."""

    surveyed: Surveyed
    by: By
    baseline: Literal["eligible", "returned"] = "eligible"
    measures: Sequence[int] = (LOGARITHMIC, SELECTED)

    def tell(self, name: str, cell: Tally) -> Breakdown:
        minimum_cell = self.surveyed.terms.minimum_cell
        queries = count_queries(cell, LOGARITHMIC)
        told = Breakdown(
            by=self.by,
            value=name,
            baseline=self.baseline,
            rankings=round(float(cell.amounts[:, LOGARITHMIC, WHOLE].sum())),
            queries=queries,
        )
        if queries < minimum_cell:
            return replace(told, withheld=explain_withheld(queries, minimum_cell))
        comparer = Comparer(
            evidence=weigh(cell, self.surveyed.draws),
            minimum_cell=minimum_cell,
            measures=self.measures,
        )
        return replace(
            told, dimensions=tuple(map(comparer.compare, self.surveyed.declared))
        )


def break_down(surveyed: Surveyed, scored: ScoredWindow) -> Iterator[Breakdown]:
    """Withheld, like every figure, where too few queries bear on a part.

    A category that too few queries name is left out, with its name.
    """
    yield from _by_ranking(surveyed, "operator")
    # What few have asked for is in their own words, and a report may be kept for good.
    asked = _by_ranking(surveyed, "requestedCategory")
    yield from (one for one in asked if not one.withheld)
    if not surveyed.terms.category:
        yield from _by_site_category(surveyed)
    yield from _by_distance(surveyed, scored)


def _by_ranking(
    surveyed: Surveyed, by: Literal["operator", "requestedCategory"]
) -> Iterator[Breakdown]:
    counted = surveyed.operators if by == "operator" else surveyed.requested
    counts = {name: count for name, count in counted.items() if name and count}
    names = fold_names(list(counts), list(counts.values()), CELLS_MAX)[0]
    names = tuple(name for name in names if name in counts)
    make_cut = cut_by_operator if by == "operator" else cut_by_requested_category
    cells = tally(
        surveyed.parts,
        surveyed.sites,
        surveyed.declared,
        surveyed.clusters,
        cut=make_cut(names, surveyed.kept if surveyed.terms.category else None),
        cells=len(names),
        measures=_MEASURES,
        commissions=False,
    )
    yield from map(_Told(surveyed=surveyed, by=by).tell, names, cells)


def _by_site_category(surveyed: Surveyed) -> Iterator[Breakdown]:
    categories: Classes = by_category(surveyed.sites)
    names = [name for name in categories.names if name != OTHER_CATEGORIES]
    cells = tally(
        surveyed.parts,
        surveyed.sites,
        surveyed.declared,
        surveyed.clusters,
        cut=cut_by_site(np.where(categories.code < len(names), categories.code, -1)),
        cells=len(names),
        measures=_MEASURES,
        commissions=False,
    )
    yield from map(_Told(surveyed=surveyed, by="siteCategory").tell, names, cells)


def _by_distance(surveyed: Surveyed, scored: ScoredWindow) -> Iterator[Breakdown]:
    rankings, bands = scored.by_distance()
    cells = tally(
        [rankings],
        surveyed.sites,
        surveyed.declared,
        surveyed.clusters,
        cut=cut_by_item(bands),
        cells=len(BAND_NAMES),
        measures=(ELIGIBLE, LOGARITHMIC),
        commissions=False,
    )
    told = _Told(
        surveyed=surveyed,
        by="distanceBand",
        baseline="returned",
        measures=(LOGARITHMIC,),
    )
    yield from map(told.tell, BAND_NAMES, cells)
