"""The fairness report of a window (WAB §9.7), computed from public inputs alone.

Answers the four items of §9.7: traffic by site size, by independence, the commission of
selected sites, and what is known of the selection algorithm. Beside every share stands
the share of the same sites among the eligible ones; beside every figure its 95%
interval; and a difference is called one only where the interval carries it. Ratios under
four fifths, the usual alarm, are never a verdict here: among groups of 30 with a base
rate of 10% they go off in about four of five perfectly fair cases.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from registry.fairness.compare import COMPARED, compare_independence, compare_sizes
from registry.fairness.concentration import (
    effective_number,
    gini,
    herfindahl_hirschman_index,
)
from registry.fairness.estimate import (
    Evidence,
    bound_commission,
    count_declared,
    count_queries,
    estimate_commission,
    round_figure,
    undeclared_share,
    weigh,
)
from registry.fairness.exposure import Floats, group_sums
from registry.fairness.figures import (
    VERSION,
    Algorithm,
    Concentration,
    Counts,
    FairnessReport,
    MeanCommission,
    Measure,
    Terms,
)
from registry.fairness.observation import ObservedRanking, SiteDisclosure
from registry.fairness.tally import ELIGIBLE, Tally, tally
from registry.fairness.wording import (
    DEFINITIONS,
    describe_commission,
    explain_withheld,
    summarise,
)

WEIGHTED: Mapping[int, Measure] = {ELIGIBLE: "eligible", **COMPARED}


def build_report(
    rankings: Sequence[ObservedRanking],
    disclosures: Sequence[SiteDisclosure],
    algorithm: Algorithm,
    terms: Terms,
) -> FairnessReport:
    """rankings: all of the window, in any order. A site without disclosure is unknown.

    The same input gives the same report under one version of NumPy, whose generators
    may change between versions (NEP 19): its intervals then move within their noise.
    """
    labels = {disclosure.site_id: disclosure for disclosure in disclosures}
    shown = [ranking for ranking in rankings if ranking.returned]
    rng = np.random.Generator(np.random.PCG64(terms.seed))
    evidence = weigh(tally(shown, labels), rng, terms.replicates)
    report = FairnessReport(
        version=VERSION,
        terms=terms,
        counts=_count(rankings, evidence.tally),
        algorithm=algorithm,
        dimensions=(
            compare_sizes(evidence, terms.minimum_cell),
            compare_independence(evidence, terms.minimum_cell),
        ),
        commission=tuple(
            _average_commission(evidence, measure, terms.minimum_cell)
            for measure in WEIGHTED
        ),
        concentration=_concentrations(
            shown, labels, evidence.tally, terms.minimum_cell
        ),
        sentences=(),
        definitions=DEFINITIONS,
    )
    return replace(report, sentences=summarise(report))


def _count(rankings: Sequence[ObservedRanking], dealt: Tally) -> Counts:
    shown = len(dealt.clusters)
    choices = [r.selection for r in rankings if r.returned and r.selection]
    return Counts(
        rankings=shown,
        empty_rankings=len(rankings) - shown,
        queries=len(np.unique(dealt.clusters)),
        reported=len(choices),
        selections=sum(choice.site_id is not None for choice in choices),
        sites=len(dealt.site_ids),
    )


def _average_commission(
    evidence: Evidence, measure: int, minimum_cell: int
) -> MeanCommission:
    rankings, queries = count_declared(evidence.tally, measure)
    cell = MeanCommission(measure=WEIGHTED[measure], rankings=rankings, queries=queries)
    if count_queries(evidence.tally, measure) >= minimum_cell:
        cell = replace(cell, undeclared_share=undeclared_share(evidence, measure))
    if queries >= minimum_cell:
        mean = estimate_commission(evidence, measure)
        cell = replace(cell, mean=mean, bounds=bound_commission(evidence, measure))
    else:
        cell = replace(cell, withheld=explain_withheld(queries, minimum_cell))
    return replace(cell, sentence=describe_commission(cell))


def _concentrations(
    shown: Sequence[ObservedRanking],
    labels: Mapping[str, SiteDisclosure],
    dealt: Tally,
    minimum_cell: int,
) -> tuple[Concentration, ...]:
    """Over sites, where as many as the largest eligible set count; over publishers."""
    most_eligible = max((ranking.eligible for ranking in shown), default=0)
    publishers, owner = np.unique(
        [_publisher(site, labels) for site in dealt.site_ids], return_inverse=True
    )
    unseen = np.zeros(max(0, most_eligible - len(dealt.site_ids)))
    cells = []
    for measure, name in COMPARED.items():
        queries = count_queries(dealt, measure)
        by_site = np.append(dealt.per_site[measure], unseen)
        by_publisher = group_sums(dealt.per_site[measure], owner, len(publishers))
        cells += [
            _concentrate(name, "sites", by_site, queries, minimum_cell),
            _concentrate(name, "publishers", by_publisher, queries, minimum_cell),
        ]
    return tuple(cells)


def _publisher(site: str, labels: Mapping[str, SiteDisclosure]) -> str:
    return labels[site].domain or site if site in labels else site


def _concentrate(
    measure: Measure,
    over: Literal["sites", "publishers"],
    amounts: Floats,
    queries: int,
    minimum_cell: int,
) -> Concentration:
    cell = Concentration(
        measure=measure,
        over=over,
        members=len(amounts),
        without=int((amounts == 0).sum()),
    )
    if queries < minimum_cell:
        return replace(cell, withheld=explain_withheld(queries, minimum_cell))
    return replace(
        cell,
        gini=round_figure(gini(amounts)),
        hhi=round_figure(herfindahl_hirschman_index(amounts)),
        effective_number=round_figure(effective_number(amounts)),
    )
