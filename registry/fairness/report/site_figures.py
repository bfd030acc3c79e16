"""The figures that need what each site got: concentration, reach, permutation tests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from registry.fairness.arrays import Booleans, Floats, group_sums
from registry.fairness.inference.permutation import permutation_p_values
from registry.fairness.inference.rates import katz_rate_ratio
from registry.fairness.metrics.concentration import (
    effective_number,
    gini,
    herfindahl_hirschman_index,
)
from registry.fairness.report.compare import COMPARED, PValues
from registry.fairness.report.estimate import (
    Estimate,
    baseline_of,
    count_queries,
    round_figure,
)
from registry.fairness.report.figures import Concentration, Measure, Reach
from registry.fairness.report.survey import Surveyed
from registry.fairness.report.wording import explain_withheld
from registry.fairness.window.classes import UNKNOWN, Classes
from registry.fairness.window.tally import Tally, tally_sites


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SiteAmounts:
    """amounts: shape (measures, sites). seen: sites that were eligible, shown or chosen.

    Sites that were eligible and got nothing have a 0; those that were never eligible do
    not count.
    """

    surveyed: Surveyed
    amounts: Floats
    seen: Booleans

    def p_values(self, classes: Classes) -> PValues:
        """Of each class against the other declared ones, by names and measure."""
        told = self.seen.copy()
        if UNKNOWN in classes.names:
            told &= classes.code != classes.names.index(UNKNOWN)
        kinds = [
            members for members in classes.kinds.values() if UNKNOWN not in members
        ]
        groups = [
            np.isin(classes.code[told], [classes.names.index(name) for name in members])
            for members in kinds
        ]
        measures = list(COMPARED)
        excess = [
            self.amounts[measure, told] - self.amounts[baseline_of(measure), told]
            for measure in measures
        ]
        found = permutation_p_values(
            np.stack(excess, axis=1),
            np.stack(groups, axis=1),
            self.surveyed.sites.category[told].astype(np.int64),
            self.surveyed.generator(f"labels of {classes.dimension}"),
        )
        return {
            (members, measure): round_figure(found[row, column])
            for row, members in enumerate(kinds)
            for column, measure in enumerate(measures)
            if groups[row].any() and not groups[row].all()
        }

    def concentrations(self, whole: Tally) -> tuple[Concentration, ...]:
        """Over sites, where as many as the largest eligible set count; over publishers."""
        unseen = np.zeros(max(0, self.surveyed.most_eligible - int(self.seen.sum())))
        publishers, owner = np.unique(
            self.surveyed.sites.publisher[self.seen], return_inverse=True
        )
        cells = []
        for measure, name in COMPARED.items():
            queries = count_queries(whole, measure)
            amounts = self.amounts[measure, self.seen]
            by_publisher = group_sums(amounts, owner, len(publishers))
            by_site = np.append(amounts, unseen)
            cells += [
                self._concentrate(name, "sites", by_site, queries),
                self._concentrate(name, "publishers", by_publisher, queries),
            ]
        return tuple(cells)

    def reach(self, whole: Tally) -> Iterator[Reach]:
        for classes in self.surveyed.declared:
            for name, members in classes.kinds.items():
                for measure in COMPARED:
                    enough = count_queries(whole, measure)
                    yield self._reach(classes, name, members, measure, enough)

    def _concentrate(
        self,
        measure: Measure,
        over: Literal["sites", "publishers"],
        amounts: Floats,
        queries: int,
    ) -> Concentration:
        cell = Concentration(
            measure=measure,
            over=over,
            members=len(amounts),
            without=int((amounts == 0).sum()),
        )
        minimum_cell = self.surveyed.terms.minimum_cell
        if queries < minimum_cell:
            return replace(cell, withheld=explain_withheld(queries, minimum_cell))
        return replace(
            cell,
            gini=round_figure(gini(amounts)),
            hhi=round_figure(herfindahl_hirschman_index(amounts)),
            effective_number=round_figure(effective_number(amounts)),
        )

    def _reach(
        self,
        classes: Classes,
        name: str,
        members: Sequence[str],
        measure: int,
        queries: int,
    ) -> Reach:
        apart = {*members, UNKNOWN}
        others = [other for other in classes.names if other not in apart]
        hits, count = self._count(classes, members, measure)
        other_hits, other_count = self._count(classes, others, measure)
        cell = Reach(
            measure=COMPARED[measure],
            dimension=classes.dimension,
            name=name,
            reached=hits,
            sites=count,
            others_reached=other_hits,
            other_sites=other_count,
        )
        minimum_cell = self.surveyed.terms.minimum_cell
        if queries < minimum_cell:
            return replace(cell, withheld=explain_withheld(queries, minimum_cell))
        if min(count, other_count) < minimum_cell:
            told = (
                f"rests on {min(count, other_count)} sites, fewer than {minimum_cell}"
            )
            return replace(cell, withheld=told)
        found = katz_rate_ratio(hits, count, other_hits, other_count)
        interval = found.interval
        ratio = map(round_figure, (found.ratio, interval.low, interval.high))
        value, low, high = ratio
        return replace(cell, ratio=Estimate(value=value, low=low, high=high))

    def _count(
        self, classes: Classes, names: Sequence[str], measure: int
    ) -> tuple[int, int]:
        """Sites that got some, and sites."""
        codes = [classes.names.index(name) for name in names]
        ours = np.isin(classes.code, codes) & self.seen
        return int((self.amounts[measure, ours] > 0).sum()), int(ours.sum())


def amounts_by_site(surveyed: Surveyed) -> SiteAmounts:
    amounts = tally_sites(surveyed.parts, len(surveyed.sites)) * surveyed.kept
    return SiteAmounts(
        surveyed=surveyed, amounts=amounts, seen=amounts.max(axis=0, initial=0) > 0
    )
