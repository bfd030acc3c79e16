"""The figures that only disclosed scores can give: merit, weights, ties, distances."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from registry.fairness.arrays import Booleans, Floats, Integers
from registry.fairness.inference.bootstrap import Clusters
from registry.fairness.metrics.effective_weights import (
    PAIRS,
    SWAPS,
    VARIANCES,
    weight_sums,
)
from registry.fairness.metrics.merit import (
    DISPARITY,
    EXPOSURE,
    LOSS,
    MERIT,
    QUERIES,
    RELEVANCE,
    expected_exposure_sums,
    inequity_of_attention,
    merit_sums,
    scores_of,
)
from registry.fairness.metrics.tie_audit import (
    distance_from_shuffle,
    shuffle_p_value,
    tied_runs,
    tiers_of,
)
from registry.fairness.report.estimate import divide_sums, estimate, round_figure
from registry.fairness.report.figures import (
    Consistency,
    EffectiveWeight,
    MeritComparison,
    TieAudit,
)
from registry.fairness.report.wording import describe_ties, explain_withheld
from registry.fairness.window.classes import UNKNOWN, Classes
from registry.fairness.window.columns import UNREPORTED, Rankings, Scored, Sites
from registry.ranking.decay import decay_table
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import FULL, Policy

BANDS_KM = (10, 50, 250)
NO_PLACE, NOT_ASKED = "site without a place", "request without a place"
BAND_NAMES = (
    f"under {BANDS_KM[0]} km",
    *(f"{a} to {b} km" for a, b in pairwise(BANDS_KM)),
    f"{BANDS_KM[-1]} km or more",
    NO_PLACE,
    NOT_ASKED,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredWindow:
    """draws: of the bootstrap, over `clusters`. minimum_cell: in queries or sites."""

    scored: Scored
    sites: Sites
    clusters: Clusters
    draws: Floats
    policy: Policy
    minimum_cell: int

    @property
    def queries(self) -> int:
        return len(np.unique(self.clusters.number(self.scored.keys)))

    @property
    def withheld(self) -> str:
        if self.queries >= self.minimum_cell:
            return ""
        return explain_withheld(self.queries, self.minimum_cell)

    @property
    def scores(self) -> Integers:
        return scores_of(self.scored, self.policy.weights)

    def compare_merit(self, dimensions: Sequence[Classes]) -> Iterator[MeritComparison]:
        for classes in dimensions:
            sums = merit_sums(self.scored, self.scores, classes, self.clusters)
            resampled = np.tensordot(self.draws, sums, axes=1)
            for name, members in classes.kinds.items():
                bearing = _within(sums, _columns(classes, members)).any(axis=1)
                cell = MeritComparison(
                    dimension=classes.dimension, name=name, queries=int(bearing.sum())
                )
                if cell.queries < self.minimum_cell:
                    told = explain_withheld(cell.queries, self.minimum_cell)
                    yield replace(cell, withheld=told)
                else:
                    yield _fill_merit(cell, classes, members, sums, resampled)

    def check_consistency(self, merit: Sequence[MeritComparison]) -> Consistency:
        cell = Consistency(queries=self.queries, withheld=self.withheld)
        if cell.withheld:
            return cell
        sums = expected_exposure_sums(self.scored, self.scores, self.clusters)
        total, resampled = sums.sum(axis=0), self.draws @ sums
        means = [
            estimate(
                divide_sums(total[column], total[QUERIES]),
                divide_sums(resampled[:, column], resampled[:, QUERIES]),
            )
            for column in (DISPARITY, RELEVANCE, LOSS)
        ]
        return replace(
            cell,
            largest_gaps=_largest_gaps(merit),
            inequity=round_figure(
                inequity_of_attention(self.scored, self.scores, len(self.sites))
            ),
            disparity=means[0],
            relevance=means[1],
            loss=means[2],
        )

    def weigh_factors(self) -> tuple[EffectiveWeight, ...]:
        weights = self.policy.weights
        sums = weight_sums(self.scored, weights, self.clusters)
        total, resampled = sums.sum(axis=0), self.draws @ sums
        moves = total[SWAPS].sum() > 0
        told = []
        for number, (name, weight) in enumerate(
            zip(FACTOR_NAMES, weights, strict=True)
        ):
            cell = EffectiveWeight(
                factor=name,
                nominal=weight / FULL,
                queries=self.queries,
                withheld=self.withheld,
            )
            if not cell.withheld and total[VARIANCES].sum() > 0:
                variances = [each[..., VARIANCES] for each in (total, resampled)]
                swaps = [each[..., SWAPS] for each in (total, resampled)]
                pairs = [each[..., PAIRS] for each in (total, resampled)]
                cell = replace(
                    cell,
                    variance_share=estimate(*(_share(v, number) for v in variances)),
                    swap_rate=estimate(
                        *(
                            divide_sums(swap[..., number], pair)
                            for swap, pair in zip(swaps, pairs, strict=True)
                        )
                    ),
                    swap_share=estimate(*(_share(swap, number) for swap in swaps))
                    if moves
                    else None,
                )
            told.append(cell)
        return tuple(told)

    def audit_ties(self, rng: np.random.Generator) -> TieAudit:
        runs = tied_runs(self.scored, self.scores, tiers_of(self.sites.commission))
        cell = TieAudit(runs=len(runs), sites=len(np.unique(runs.sites)))
        if cell.runs < self.minimum_cell:
            told = f"rests on {cell.runs} ties, fewer than {self.minimum_cell}"
            cell = replace(cell, withheld=told)
        else:
            cell = replace(
                cell,
                distance=round_figure(distance_from_shuffle(runs, runs.places)),
                p_value=round_figure(shuffle_p_value(runs, rng)),
            )
        return replace(cell, sentence=describe_ties(cell))

    def by_distance(self) -> tuple[Rankings, Integers]:
        """The scored rankings as a window, and the band of each returned site."""
        none = np.zeros(len(self.scored), np.int32)
        rankings = Rankings(
            keys=self.scored.keys,
            operator=none,
            operators=("",),
            category=none,
            categories=("",),
            returned=self.scored.sites,
            returned_counts=self.scored.counts,
            sampled=self.scored.sites,
            sampled_counts=self.scored.counts,
            chosen=none + UNREPORTED,
            most_eligible=0,
            empty=0,
        )
        located = np.repeat(self.scored.located, self.scored.counts)
        return rankings, distance_bands(self.scored.factors[:, 1], located, self.policy)


def distance_bands(proximity: Integers, located: Booleans, policy: Policy) -> Integers:
    """Indices into BAND_NAMES. proximity: of a factor, 0..10000.

    No whole kilometre has the neutral value of a site without a place, so that the
    factor tells the band.
    """
    table = decay_table(policy.distance_scale_km)
    least = [-int(table[min(limit, len(table)) - 1]) for limit in BANDS_KM]
    bands = np.searchsorted(least, -proximity, side="left")
    bands = np.where(
        proximity == policy.proximity_neutral, BAND_NAMES.index(NO_PLACE), bands
    )
    return np.where(located, bands, BAND_NAMES.index(NOT_ASKED))


def _fill_merit(
    cell: MeritComparison,
    classes: Classes,
    members: Sequence[str],
    sums: Floats,
    resampled: Floats,
) -> MeritComparison:
    ours = _columns(classes, members)
    others = _columns(classes, _others(classes, members))
    total = sums.sum(axis=0)
    exposure, merit = (
        (_share(total[measure], ours), _share(resampled[:, measure], ours))
        for measure in (EXPOSURE, MERIT)
    )
    ratio = [
        divide_sums(part, whole) for part, whole in zip(exposure, merit, strict=True)
    ]
    treatment = [
        divide_sums(_per_merit(each, ours), _per_merit(each, others))
        for each in (total, resampled)
    ]
    compared = others and np.isfinite(treatment[0])
    return replace(
        cell,
        exposure_share=estimate(*exposure),
        merit_share=estimate(*merit),
        exposure_to_merit=estimate(*ratio) if np.isfinite(ratio[0]) else None,
        treatment=estimate(*treatment) if compared else None,
    )


def _others(classes: Classes, members: Sequence[str]) -> list[str]:
    """The declared classes but these; against the undeclared, all declared ones."""
    return [name for name in classes.names if name not in {*members, UNKNOWN}]


def _largest_gaps(merit: Sequence[MeritComparison]) -> dict[str, float]:
    ratios: dict[str, list[float]] = {}
    for cell in merit:
        if cell.exposure_to_merit and cell.name not in {UNKNOWN, "smallBusiness"}:
            ratios.setdefault(cell.dimension, []).append(cell.exposure_to_merit.value)
    return {
        dimension: round_figure(max(values) - min(values))
        for dimension, values in ratios.items()
        if len(values) > 1
    }


def _columns(classes: Classes, names: Sequence[str]) -> list[int]:
    return [classes.names.index(name) for name in names]


def _within(sums: Floats, columns: Sequence[int]) -> Booleans:
    present: Booleans = sums[:, EXPOSURE][:, list(columns)] > 0
    return present


def _share(sums: Floats, columns: int | Sequence[int]) -> Floats:
    wanted = [columns] if isinstance(columns, int) else list(columns)
    return divide_sums(sums[..., wanted].sum(axis=-1), sums.sum(axis=-1))


def _per_merit(sums: Floats, columns: Sequence[int]) -> Floats:
    parts = sums[..., list(columns)].sum(axis=-1)
    return divide_sums(parts[..., EXPOSURE], parts[..., MERIT])
