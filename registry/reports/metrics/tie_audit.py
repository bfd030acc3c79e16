"""Tie audit: the order of sites of equal score against that of a fair shuffle.

In a window each tie has other sites. So the positions of each site over its ties are
held against their mean, and the distance of all sites together against that of shuffled
ties.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from registry.ranking.rank_score import RankScale
from registry.reports.arrays import Floats, Integers, Numbers, group_sums
from registry.reports.estimate import round_figure
from registry.reports.metric import Metric
from registry.reports.metrics.kinds import ALARM_RATE, FAMILIES
from registry.reports.report_survey import Basis
from registry.reports.row_types import Column
from registry.reports.window.columns import TIER_UNKNOWN, ScoredColumns

RUNS_MAX = 5_000
_SHUFFLES = 999
SIGNIFICANT = ALARM_RATE / FAMILIES


@dataclass(frozen=True, slots=True, kw_only=True)
class TieAudit:
    """Sites of equal score: their positions against a fair shuffle.

    runs: of two or more tied neighbours. distance: Σ (S - E)² / V over sites, of the sum
    of a site's positions in its runs; p_value: how often shuffled runs are as far.
    """

    runs: Annotated[int, Column("count", "ties")]
    sites: Annotated[int, Column("count")]
    withheld: str = ""
    distance: Annotated[float | None, Column("number", "ties")] = None
    p_value: Annotated[float | None, Column("probability", "pValue")] = None
    sentence: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class TieRuns:
    """Neighbours that only the shuffle separates. sites: one run after the other."""

    sites: Numbers
    lengths: Integers

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def positions(self) -> Integers:
        """Position of each site in its run, 0 up."""
        ends = np.cumsum(self.lengths)
        starts = np.repeat(ends - self.lengths, self.lengths)
        return np.arange(len(self.sites)) - starts


def tied_runs(scored: ScoredColumns, scores: Integers, scale: RankScale) -> TieRuns:
    """Return the runs of two sites or more that nothing else distinguished for the ranker."""
    ranking = np.repeat(np.arange(len(scored)), scored.counts)
    relevance, quality = scored.factors[:, 0], scored.factors[:, 3]
    ranks = scale.rank_score(scores, relevance, quality, np.zeros_like(scores))
    apart = [column[1:] != column[:-1] for column in (ranking, ranks, scored.tiers)]
    starts = np.flatnonzero(np.append(True, np.logical_or.reduce(apart)))
    if not len(ranking):
        return TieRuns(scored.sites, np.zeros(0, np.int64))
    lengths = np.diff(np.append(starts, len(ranking)))
    stated = scored.tiers[starts[: len(lengths)]] != TIER_UNKNOWN
    tied = np.flatnonzero((lengths > 1) & stated)[:RUNS_MAX]
    in_tie = np.isin(np.repeat(np.arange(len(lengths)), lengths), tied)
    return TieRuns(scored.sites[in_tie], lengths[tied])


def distance_from_shuffle(runs: TieRuns, positions: Integers) -> float:
    """Return Σ (S - E)² / V over sites. positions: of each site in its run, 0 up.

    S sums a site's positions over its runs; one in a run of k has mean (k - 1) / 2 and
    variance (k² - 1) / 12.
    """
    return _Expected.of(runs).distance(positions)


@dataclass(frozen=True, slots=True, eq=False)
class _Expected:
    """Moments of a fair shuffle. site: of each item, 0 up. variance: of each site."""

    site: Integers
    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, runs: TieRuns) -> "_Expected":
        length = np.repeat(runs.lengths, runs.lengths)
        _, site = np.unique(runs.sites, return_inverse=True)
        variance = group_sums(
            (np.square(length) - 1) / 12, site, int(site.max(initial=-1)) + 1
        )
        return cls(site=site, mean=(length - 1) / 2, variance=variance)

    def distance(self, positions: Integers) -> float:
        excess = np.bincount(self.site, positions - self.mean)
        return float((np.square(excess) / self.variance).sum())


def shuffle_p_value(runs: TieRuns, rng: np.random.Generator) -> float:
    """Return how often shuffled runs are as far from their mean as these; never 0."""
    expected = _Expected.of(runs)
    observed = expected.distance(runs.positions) * (1 - 1e-12)
    as_far = sum(
        expected.distance(_shuffled_positions(runs, rng)) >= observed
        for _ in range(_SHUFFLES)
    )
    return (1 + as_far) / (1 + _SHUFFLES)


def _shuffled_positions(runs: TieRuns, rng: np.random.Generator) -> Integers:
    """Return redrawn positions: the rank of random numbers within each run."""
    run = np.repeat(np.arange(len(runs)), runs.lengths)
    order = np.argsort(run + rng.random(len(run)))
    positions = np.empty(len(run), np.int64)
    positions[order] = runs.positions
    return positions


def _measure(basis: Basis) -> TieAudit:
    survey = basis.survey
    runs = tied_runs(survey.scored, survey.scores, RankScale.of(survey.policy))
    cell = TieAudit(
        runs=len(runs),
        sites=len(np.unique(runs.sites)),
        withheld=survey.terms.withhold(len(runs), "ties"),
    )
    if not cell.withheld:
        p_value = shuffle_p_value(runs, survey.generator("ties"))
        cell = replace(
            cell,
            distance=round_figure(distance_from_shuffle(runs, runs.positions)),
            p_value=round_figure(p_value),
        )
    return replace(cell, sentence=_describe(cell))


def _is_unfair(cell: TieAudit) -> bool:
    return cell.p_value is not None and cell.p_value <= SIGNIFICANT


def _describe(cell: TieAudit) -> str:
    subject = f"{cell.runs} ties of sites of equal score"
    if cell.p_value is None:
        return f"Places in {subject}: withheld, as it {cell.withheld}."
    verdict = (
        "depart from a fair shuffle further than chance does in one case of forty"
        if _is_unfair(cell)
        else "show no departure from a fair shuffle"
    )
    return f"The places in {subject} {verdict} (p = {cell.p_value:.3f})."


TIES = Metric(
    name="ties",
    title="Sites of equal score",
    measure=_measure,
    sentences=lambda cell: (cell.sentence,),
    findings=lambda cell: (cell.sentence,) if _is_unfair(cell) else (),
    definitions={
        "ties": (
            "Neighbours of equal score, commission tier, and relevance and quality as shown. The distance sums over sites "
            "(S - E)² / V of the places in their ties; the p-value is that of shuffled "
            "ties."
        )
    },
)
