"""Estimates: figures of an aggregate with their bootstrap intervals.

Every interval comes from one cluster bootstrap over queries, shared by all figures of a
report, so that the interval of a difference knows how its two sides move together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self, TypeAlias

import numpy as np

from registry.reports.arrays import Booleans, Floats
from registry.reports.inference.bootstrap import (
    few_clusters_factor,
    percentile_interval,
)
from registry.reports.inference.rates import Interval, rule_of_three
from registry.reports.window.aggregate import (
    BY_RANK,
    CHOSEN,
    COMMISSION,
    DECLARED,
    ELIGIBLE,
    ELIGIBLE_THERE,
    LOGARITHMIC,
    SELECTED,
    WHOLE,
    Aggregate,
)

DECIMALS = 6
"""Published figures are rounded, so that another machine's arithmetic agrees."""

_NOTHING = 1e-12

Amount: TypeAlias = float | Floats


def round_figure(value: Amount) -> float:
    """Return a figure as published, without a negative zero."""
    return round(float(value), DECIMALS) + 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Value and its 95% interval."""

    value: float
    low: float
    high: float

    @classmethod
    def rounded(cls, value: Amount, low: Amount, high: Amount) -> Self:
        """Make one of figures as they are published."""
        return cls(
            value=round_figure(value), low=round_figure(low), high=round_figure(high)
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampleEvidence:
    """Aggregate, its sums (measures, columns) and resampled sums (replicates, …)."""

    aggregate: Aggregate
    sums: Floats
    replicates: Floats
    _shares: dict[tuple[int, ...], Floats] = field(default_factory=dict)
    _factors: dict[int, float] = field(default_factory=dict)

    def share(self, measure: int, columns: Sequence[int]) -> Floats:
        """Return the share in each replicate; a figure, its bounds and gaps ask for it."""
        key = (measure, *columns)
        if key not in self._shares:
            self._shares[key] = _share(self.replicates, measure, columns)
        return self._shares[key]

    def interval(self, measure: int, value: float, replicates: Floats) -> Interval:
        """Return the 95% interval of a value, widened where few queries bear on it."""
        if measure not in self._factors:
            weights = self.aggregate.amounts[:, measure, WHOLE]
            self._factors[measure] = few_clusters_factor(weights[weights > 0])
        factor = self._factors[measure]
        middle = percentile_interval(replicates)
        return Interval(
            low=value - factor * (value - middle.low),
            high=value + factor * (middle.high - value),
        )


def resample(aggregate: Aggregate, draws: Floats) -> SampleEvidence:
    """Return the aggregate with its sums in each bootstrap sample.

    draws: of `bootstrap.draw_clusters`, shape (replicates, clusters).
    """
    shape = aggregate.amounts.shape
    amounts = aggregate.amounts.reshape(shape[0], shape[1] * shape[2])
    nonzero = amounts.any(axis=0)
    resampled = np.zeros((len(draws), amounts.shape[1]))
    resampled[:, nonzero] = draws @ amounts[:, nonzero]
    return SampleEvidence(
        aggregate=aggregate,
        sums=aggregate.amounts.sum(axis=0),
        replicates=resampled.reshape(-1, *shape[1:]),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusterSums:
    """Sums over clusters, total (…) and of each bootstrap sample (replicates, …)."""

    total: Floats
    replicates: Floats

    def estimate(self, figure: Callable[[Floats], Floats]) -> Estimate:
        """Return a figure of the sums. figure: over their last axes."""
        return estimate(figure(self.total), figure(self.replicates))


def resample_sums(sums: Floats, draws: Floats) -> ClusterSums:
    """Return the sums resampled. sums: (clusters, …). draws: (replicates, clusters)."""
    return ClusterSums(
        total=sums.sum(axis=0), replicates=np.tensordot(draws, sums, axes=1)
    )


def baseline_of(measure: int) -> int:
    """Return the measure to compare with, over the same rankings."""
    return {SELECTED: ELIGIBLE_THERE, CHOSEN: BY_RANK}.get(measure, ELIGIBLE)


def count_queries(aggregate: Aggregate, measure: int) -> int:
    """Return how many queries have any of the measure."""
    return int(_is_measured(aggregate, measure).sum())


def count_bearing(
    aggregate: Aggregate, measure: int, columns: Sequence[int]
) -> tuple[int, int]:
    """Return (rankings, queries) with the measure and such a site among the eligible."""
    measures = np.array([ELIGIBLE, LOGARITHMIC, SELECTED])
    seen = aggregate.amounts[:, measures[:, None], list(columns)]
    return _count(aggregate, measure, seen.max(axis=(1, 2)) > 0)


def count_declared(aggregate: Aggregate, measure: int) -> tuple[int, int]:
    """Return (rankings, queries) in which a site that got some declares a commission."""
    return _count(aggregate, measure, aggregate.amounts[:, measure, DECLARED] > 0)


def total_of(evidence: SampleEvidence, measure: int, columns: Sequence[int]) -> float:
    """Return the measure's sum, in wholes of one ranking each."""
    return round_figure(evidence.sums[measure, list(columns)].sum())


def estimate_share(
    evidence: SampleEvidence, measure: int, columns: Sequence[int]
) -> Estimate:
    """Return the share of some classes, 0..1. columns: those of the classes."""
    down, up = _slack(evidence, measure, columns)
    share = float(_share(evidence.sums, measure, columns))
    interval = evidence.interval(measure, share, evidence.share(measure, columns))
    return Estimate.rounded(
        share, max(0.0, interval.low - down), min(1.0, interval.high + up)
    )


def estimate_gap(
    evidence: SampleEvidence, measure: int, columns: Sequence[int]
) -> Estimate:
    """Return share less that of the baseline over the same rankings, -1..1."""
    down, up = _slack(evidence, measure, columns)
    eligible_down, eligible_up = _slack(evidence, baseline_of(measure), columns)
    gaps = evidence.share(measure, columns) - evidence.share(
        baseline_of(measure), columns
    )
    gap = float(_gap(evidence.sums, measure, columns))
    interval = evidence.interval(measure, gap, gaps)
    return Estimate.rounded(
        gap,
        max(-1.0, interval.low - down - eligible_up),
        min(1.0, interval.high + up + eligible_down),
    )


def estimate_ratio(
    evidence: SampleEvidence, measure: int, columns: Sequence[int]
) -> Estimate | None:
    """Return share over eligible share; None if the samples held no such site.

    A share of 0 or 1 gives the ratio an interval as wide as its own.
    """
    baseline = baseline_of(measure)
    expected = _share(evidence.sums, baseline, columns)
    if not expected > 0:
        return None
    down, up = _slack(evidence, measure, columns)
    resampled = divide_sums(
        evidence.share(measure, columns), evidence.share(baseline, columns)
    )
    ratio = float(_share(evidence.sums, measure, columns) / expected)
    interval = evidence.interval(measure, ratio, resampled[np.isfinite(resampled)])
    return Estimate.rounded(
        ratio,
        max(0.0, float(interval.low - down / expected)),
        interval.high + up / expected,
    )


def estimate_commission(evidence: SampleEvidence, measure: int) -> Estimate:
    """Return the mean declared commission in percent, weighted by the measure."""
    mean = float(_commission(evidence.sums, measure))
    interval = evidence.interval(
        measure, mean, _commission(evidence.replicates, measure)
    )
    return Estimate.rounded(mean, max(0.0, interval.low), min(100.0, interval.high))


def estimate(value: float | Floats, replicates: Floats) -> Estimate:
    """Return a figure as published. replicates: the same of each bootstrap sample."""
    interval = percentile_interval(replicates)
    return Estimate.rounded(value, interval.low, interval.high)


def undeclared_share(evidence: SampleEvidence, measure: int) -> float:
    """Return the share of sites without a declared commission, 0..1."""
    return round_figure(1 - _share(evidence.sums, measure, [DECLARED]))


def bound_commission(evidence: SampleEvidence, measure: int) -> Interval:
    """Return the mean if all undeclared commissions were 0%, and if all were 100%."""
    sums = evidence.sums[measure]
    undeclared = sums[WHOLE] - sums[DECLARED]
    return Interval(
        low=round_figure(sums[COMMISSION] / sums[WHOLE]),
        high=round_figure((sums[COMMISSION] + 100 * undeclared) / sums[WHOLE]),
    )


def divide_sums(parts: Floats, wholes: Floats) -> Floats:
    """Return the ratios; NaN, or an infinity, where the whole is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: Floats = parts / wholes
    return ratios


def share_of_sums(sums: Floats, columns: Sequence[int]) -> Floats:
    """Return the part of some columns in all of them. sums: (…, columns)."""
    return divide_sums(sums[..., list(columns)].sum(axis=-1), sums.sum(axis=-1))


def _is_measured(aggregate: Aggregate, measure: int) -> Booleans:
    measured: Booleans = aggregate.amounts[:, measure, WHOLE] > 0
    return measured


def _count(aggregate: Aggregate, measure: int, queries: Booleans) -> tuple[int, int]:
    bearing = _is_measured(aggregate, measure) & queries
    rankings = aggregate.amounts[bearing, measure, WHOLE].sum()
    return round(float(rankings)), int(bearing.sum())


def _share(sums: Floats, measure: int, columns: Sequence[int]) -> Floats:
    exposure = sums[..., measure, :]
    return divide_sums(exposure[..., list(columns)].sum(axis=-1), exposure[..., WHOLE])


def _gap(sums: Floats, measure: int, columns: Sequence[int]) -> Floats:
    return _share(sums, measure, columns) - _share(sums, baseline_of(measure), columns)


def _commission(sums: Floats, measure: int) -> Floats:
    return divide_sums(sums[..., measure, COMMISSION], sums[..., measure, DECLARED])


def _slack(
    evidence: SampleEvidence, measure: int, columns: Sequence[int]
) -> tuple[float, float]:
    """Return what to add below and above an interval that resampling can't widen.

    If no query spoke for a class of site (or none against it), all resamples agree;
    the rule of three says how often the unseen may still happen.
    """
    bound = rule_of_three(count_queries(evidence.aggregate, measure))
    share = _share(evidence.sums, measure, columns)
    return (bound if share > 1 - _NOTHING else 0.0, bound if share < _NOTHING else 0.0)
