"""Estimates: a figure of the tally with what chance could have made of it.

Every interval comes from one cluster bootstrap over queries, shared by all figures of a
report, so that the interval of a difference knows how its two sides move together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from registry.fairness.exposure import Floats
from registry.fairness.inference import (
    Interval,
    percentile_interval,
    resample_sums,
    rule_of_three,
)
from registry.fairness.tally import (
    COMMISSION,
    DECLARED,
    ELIGIBLE,
    ELIGIBLE_THERE,
    LOGARITHMIC,
    SELECTED,
    SIZE_COLUMNS,
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
    """A tally, its sums (measures, attributes) and resampled sums (replicates, …)."""

    tally: Tally
    sums: Floats
    replicates: Floats


def weigh(tally: Tally, rng: np.random.Generator, replicates: int) -> Evidence:
    shape = tally.amounts.shape
    rows = tally.amounts.reshape(shape[0], shape[1] * shape[2])
    resampled = (
        resample_sums(rows, tally.clusters, rng, replicates) if len(rows) else rows
    )
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
    return _count(tally, _dealt(tally, measure))[1]


def count_bearing(
    tally: Tally, measure: int, columns: Sequence[int]
) -> tuple[int, int]:
    """(rankings, queries) that dealt out the measure and had such a site eligible."""
    seen = tally.amounts[:, (ELIGIBLE, LOGARITHMIC, SELECTED)][:, :, list(columns)]
    return _count(tally, _dealt(tally, measure) & (seen > 0).any(axis=(1, 2)))


def count_declared(tally: Tally, measure: int) -> tuple[int, int]:
    """(rankings, queries) in which a site that got some had declared a commission."""
    return _count(tally, tally.amounts[:, measure, DECLARED] > 0)


def count_sites(evidence: Evidence, columns: Sequence[int]) -> int:
    return int(evidence.tally.attributes[:, list(columns)].sum())


def total_of(evidence: Evidence, measure: int, columns: Sequence[int]) -> float:
    """Rankings' worth of attention."""
    return round_figure(evidence.sums[measure, list(columns)].sum())


def estimate_share(
    evidence: Evidence, measure: int, columns: Sequence[int]
) -> Estimate:
    """columns: the attributes whose sites are meant."""
    down, up = _slack(evidence, measure, columns)
    interval = percentile_interval(_share(evidence.replicates, measure, columns))
    return Estimate(
        value=round_figure(_share(evidence.sums, measure, columns)),
        low=round_figure(max(0.0, interval.low - down)),
        high=round_figure(min(1.0, interval.high + up)),
    )


def estimate_gap(evidence: Evidence, measure: int, columns: Sequence[int]) -> Estimate:
    """Share less eligible share over the same rankings, -1..1."""
    down, up = _slack(evidence, measure, columns)
    eligible_down, eligible_up = _slack(evidence, baseline_of(measure), columns)
    interval = percentile_interval(_gap(evidence.replicates, measure, columns))
    return Estimate(
        value=round_figure(_gap(evidence.sums, measure, columns)),
        low=round_figure(max(-1.0, interval.low - down - eligible_up)),
        high=round_figure(min(1.0, interval.high + up + eligible_down)),
    )


def estimate_commission(evidence: Evidence, measure: int) -> Estimate:
    """Mean of the declared commissions in percent, weighted by the measure."""
    interval = percentile_interval(_commission(evidence.replicates, measure))
    return Estimate(
        value=round_figure(_commission(evidence.sums, measure)),
        low=round_figure(interval.low),
        high=round_figure(interval.high),
    )


def undeclared_share(evidence: Evidence, measure: int) -> float:
    """0..1, weighted by the measure."""
    return round_figure(1 - _share(evidence.sums, measure, [DECLARED]))


def bound_commission(evidence: Evidence, measure: int) -> Interval:
    """The mean if all undeclared commissions were 0%, and if all were 100%."""
    sums = evidence.sums[measure]
    whole = sums[list(SIZE_COLUMNS)].sum()
    undeclared = whole - sums[DECLARED]
    return Interval(
        low=round_figure(sums[COMMISSION] / whole),
        high=round_figure((sums[COMMISSION] + 100 * undeclared) / whole),
    )


def _dealt(tally: Tally, measure: int) -> NDArray[np.bool_]:
    """Per ranking: every size is one of the columns, so their sum is the whole."""
    wholes: Floats = tally.amounts[:, measure][:, SIZE_COLUMNS].sum(axis=1)
    return wholes > 0


def _count(tally: Tally, rankings: NDArray[np.bool_]) -> tuple[int, int]:
    return int(rankings.sum()), len(np.unique(tally.clusters[rankings]))


def _share(sums: Floats, measure: int, columns: Sequence[int]) -> Floats:
    dealt = sums[..., measure, :]
    parts = dealt[..., list(columns)].sum(axis=-1)
    return _divide(parts, dealt[..., list(SIZE_COLUMNS)].sum(axis=-1))


def _gap(sums: Floats, measure: int, columns: Sequence[int]) -> Floats:
    return _share(sums, measure, columns) - _share(sums, baseline_of(measure), columns)


def _commission(sums: Floats, measure: int) -> Floats:
    return _divide(sums[..., measure, COMMISSION], sums[..., measure, DECLARED])


def _divide(parts: Floats, wholes: Floats) -> Floats:
    """NaN for a replicate that dealt out nothing."""
    with np.errstate(invalid="ignore"):
        ratios: Floats = parts / wholes
    return ratios


def _slack(
    evidence: Evidence, measure: int, columns: Sequence[int]
) -> tuple[float, float]:
    """What to add below and above an interval that resampling can't widen.

    If no query spoke for a kind of site (or none against it), every resample says the
    same; the rule of three says how often the unseen may still happen.
    """
    bound = rule_of_three(count_queries(evidence.tally, measure))
    share = _share(evidence.sums, measure, columns)
    return (
        bound if share > 1 - _NOTHING else 0.0,
        bound if share < _NOTHING else 0.0,
    )
