"""Estimates: a figure of the tally with what chance could have made of it.

Every interval comes from one cluster bootstrap over queries, shared by all figures of a
report, so that the interval of a difference knows how its two sides move together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from registry.fairness.arrays import Booleans, Floats
from registry.fairness.inference.bootstrap import percentile_interval
from registry.fairness.inference.rates import Interval, rule_of_three
from registry.fairness.window.tally import (
    COMMISSION,
    DECLARED,
    ELIGIBLE,
    ELIGIBLE_THERE,
    LOGARITHMIC,
    SELECTED,
    WHOLE,
    Tally,
)

DECIMALS = 6
"""Published figures are rounded, so that another machine's arithmetic agrees."""

_NOTHING = 1e-12


def round_figure(value: float | Floats) -> float:
    return round(float(value), DECIMALS) + 0.0  # no negative zero


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value and its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """A tally, its sums (measures, columns) and resampled sums (replicates, …)."""

    tally: Tally
    sums: Floats
    replicates: Floats
    _shares: dict[tuple[int, ...], Floats] = field(default_factory=dict)

    def share(self, measure: int, columns: Sequence[int]) -> Floats:
        """Of the replicates, kept: a figure and its bounds and gaps ask for the same."""
        key = (measure, *columns)
        if key not in self._shares:
            self._shares[key] = _share(self.replicates, measure, columns)
        return self._shares[key]


def weigh(tally: Tally, draws: Floats) -> Evidence:
    """draws: of `bootstrap.draw_clusters`, shape (replicates, clusters)."""
    shape = tally.amounts.shape
    amounts = tally.amounts.reshape(shape[0], shape[1] * shape[2])
    dealt = amounts.any(axis=0)
    resampled = np.zeros((len(draws), amounts.shape[1]))
    resampled[:, dealt] = draws @ amounts[:, dealt]
    return Evidence(
        tally=tally,
        sums=tally.amounts.sum(axis=0),
        replicates=resampled.reshape(-1, *shape[1:]),
    )


def baseline_of(measure: int) -> int:
    """The eligible share to set beside a measure: over the same rankings."""
    return ELIGIBLE_THERE if measure == SELECTED else ELIGIBLE


def count_queries(tally: Tally, measure: int) -> int:
    """Queries in which the measure was dealt out at all."""
    return int(_dealt(tally, measure).sum())


def count_bearing(
    tally: Tally, measure: int, columns: Sequence[int]
) -> tuple[int, int]:
    """(rankings, queries) that dealt out the measure and had such a site eligible."""
    measures = np.array([ELIGIBLE, LOGARITHMIC, SELECTED])
    seen = tally.amounts[:, measures[:, None], list(columns)]
    return _count(tally, measure, seen.max(axis=(1, 2)) > 0)


def count_declared(tally: Tally, measure: int) -> tuple[int, int]:
    """(rankings, queries) in which a site that got some had declared a commission."""
    return _count(tally, measure, tally.amounts[:, measure, DECLARED] > 0)


def total_of(evidence: Evidence, measure: int, columns: Sequence[int]) -> float:
    """Rankings' worth of attention."""
    return round_figure(evidence.sums[measure, list(columns)].sum())


def estimate_share(
    evidence: Evidence, measure: int, columns: Sequence[int]
) -> Estimate:
    """columns: the classes whose sites are meant."""
    down, up = _slack(evidence, measure, columns)
    interval = percentile_interval(evidence.share(measure, columns))
    return Estimate(
        value=round_figure(_share(evidence.sums, measure, columns)),
        low=round_figure(max(0.0, interval.low - down)),
        high=round_figure(min(1.0, interval.high + up)),
    )


def estimate_gap(evidence: Evidence, measure: int, columns: Sequence[int]) -> Estimate:
    """Share less eligible share over the same rankings, -1..1."""
    down, up = _slack(evidence, measure, columns)
    eligible_down, eligible_up = _slack(evidence, baseline_of(measure), columns)
    gaps = evidence.share(measure, columns) - evidence.share(
        baseline_of(measure), columns
    )
    interval = percentile_interval(gaps)
    return Estimate(
        value=round_figure(_gap(evidence.sums, measure, columns)),
        low=round_figure(max(-1.0, interval.low - down - eligible_up)),
        high=round_figure(min(1.0, interval.high + up + eligible_down)),
    )


def estimate_ratio(
    evidence: Evidence, measure: int, columns: Sequence[int]
) -> Estimate | None:
    """Share over eligible share; None if no such site was eligible in the samples.

    Where the share is 0 or 1 its interval is as wide as that of the share.
    """
    baseline = baseline_of(measure)
    expected = _share(evidence.sums, baseline, columns)
    if not expected > 0:
        return None
    down, up = _slack(evidence, measure, columns)
    resampled = divide_sums(
        evidence.share(measure, columns), evidence.share(baseline, columns)
    )
    interval = percentile_interval(resampled[np.isfinite(resampled)])
    return Estimate(
        value=round_figure(_share(evidence.sums, measure, columns) / expected),
        low=round_figure(max(0.0, float(interval.low - down / expected))),
        high=round_figure(interval.high + up / expected),
    )


def estimate_commission(evidence: Evidence, measure: int) -> Estimate:
    """Mean of the declared commissions in percent, weighted by the measure."""
    return estimate(
        _commission(evidence.sums, measure), _commission(evidence.replicates, measure)
    )


def estimate(value: float | Floats, replicates: Floats) -> Estimate:
    """A figure and the same figure of each bootstrap sample, as published."""
    interval = percentile_interval(replicates)
    return Estimate(
        value=round_figure(value),
        low=round_figure(interval.low),
        high=round_figure(interval.high),
    )


def undeclared_share(evidence: Evidence, measure: int) -> float:
    """0..1, weighted by the measure."""
    return round_figure(1 - _share(evidence.sums, measure, [DECLARED]))


def bound_commission(evidence: Evidence, measure: int) -> Interval:
    """The mean if all undeclared commissions were 0%, and if all were 100%."""
    sums = evidence.sums[measure]
    undeclared = sums[WHOLE] - sums[DECLARED]
    return Interval(
        low=round_figure(sums[COMMISSION] / sums[WHOLE]),
        high=round_figure((sums[COMMISSION] + 100 * undeclared) / sums[WHOLE]),
    )


def divide_sums(parts: Floats, wholes: Floats) -> Floats:
    """NaN, or an infinity, for a replicate that dealt out nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: Floats = parts / wholes
    return ratios


def _dealt(tally: Tally, measure: int) -> Booleans:
    """Per query."""
    dealt: Booleans = tally.amounts[:, measure, WHOLE] > 0
    return dealt


def _count(tally: Tally, measure: int, queries: Booleans) -> tuple[int, int]:
    """Rankings, each of which dealt out one whole, and queries."""
    bearing = _dealt(tally, measure) & queries
    rankings = tally.amounts[bearing, measure, WHOLE].sum()
    return round(float(rankings)), int(bearing.sum())


def _share(sums: Floats, measure: int, columns: Sequence[int]) -> Floats:
    dealt = sums[..., measure, :]
    return divide_sums(dealt[..., list(columns)].sum(axis=-1), dealt[..., WHOLE])


def _gap(sums: Floats, measure: int, columns: Sequence[int]) -> Floats:
    return _share(sums, measure, columns) - _share(sums, baseline_of(measure), columns)


def _commission(sums: Floats, measure: int) -> Floats:
    return divide_sums(sums[..., measure, COMMISSION], sums[..., measure, DECLARED])


def _slack(
    evidence: Evidence, measure: int, columns: Sequence[int]
) -> tuple[float, float]:
    """What to add below and above an interval that resampling can't widen.

    If no query spoke for a class of site (or none against it), every resample says the
    same; the rule of three says how often the unseen may still happen.
    """
    bound = rule_of_three(count_queries(evidence.tally, measure))
    share = _share(evidence.sums, measure, columns)
    return (
        bound if share > 1 - _NOTHING else 0.0,
        bound if share < _NOTHING else 0.0,
    )
