"""The published figures: the typed form of a fairness report.

Only shapes; what each figure means is carried in the report itself (`definitions`).
Shares, gaps and their bounds run from 0 to 1 (-1 to 1), commissions from 0 to 100.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from registry.fairness.inference.bootstrap import MINIMUM_REPLICATES
from registry.fairness.inference.rates import Interval
from registry.fairness.report.estimate import Estimate

VERSION = "fairness-report/2"
MINIMUM_CELL = 30

Measure = Literal["eligible", "logarithmic", "rankBiased", "topOne", "selected"]

Reading = Literal["more", "less", "noDifferenceShown", "unsettled"]
"""What the intervals carry: more or less than the eligible share; no difference shown;
or a difference among the declared that the undeclared could cancel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """From start_at up to, not including, end_at."""

    start_at: datetime
    end_at: datetime

    def __post_init__(self) -> None:
        if self.start_at.tzinfo is None or self.end_at.tzinfo is None:
            raise ValueError("the instants of a window are UTC aware")
        if self.start_at >= self.end_at:
            raise ValueError("a window starts before it ends")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is fixed before the figures are known.

    minimum_cell: queries below which a figure is withheld, 1 or more.
    replicates: of the bootstrap. seed: of the generator behind it, so that everybody
    gets the same intervals. operator, category: where not empty, the rankings are
    those of that operator, and only the sites of that category count.
    """

    window: Window
    minimum_cell: int = MINIMUM_CELL
    replicates: int = MINIMUM_REPLICATES
    seed: int = 0
    operator: str = ""
    category: str = ""

    def __post_init__(self) -> None:
        if self.minimum_cell < 1:
            raise ValueError("a cell needs at least one query")


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """What orders the sites, and who examined it (§9.7, last item).

    policy_digest: of the weights and constants. code_digest: of the running code.
    source_url: where that code is public. attestations: addresses of audits.
    """

    policy_digest: str
    code_digest: str
    source_url: str = ""
    attestations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """rankings: with results. reported: with a report of the choice, a site or none.

    scored: of which the disclosed scores were read, see `Definition` of it.
    """

    rankings: int
    empty_rankings: int
    queries: int
    reported: int
    selections: int
    sites: int
    scored: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One kind of site in one measure; no figures where `withheld` says why.

    share_bounds: the share if no undeclared site belonged here, and if all did.
    gap: share less eligible share. gap_bounds: the outermost ends of its interval under
    both assignments. total: rankings' worth of attention; per_site: per site of the kind.
    ratio: share over eligible share. p_value: of a permutation of labels in categories.
    """

    measure: Measure
    rankings: int
    queries: int
    withheld: str = ""
    eligible_share: Estimate | None = None
    share: Estimate | None = None
    share_bounds: Interval | None = None
    gap: Estimate | None = None
    gap_bounds: Interval | None = None
    total: float | None = None
    per_site: float | None = None
    reading: Reading | None = None
    sentence: str = ""
    ratio: Estimate | None = None
    p_value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteClass:
    """A kind of site. members: the declared labels that it joins."""

    name: str
    members: tuple[str, ...]
    sites: int
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    name: str
    classes: tuple[SiteClass, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanCommission:
    """Percent, weighted by a measure. rankings, queries: that bear on the mean.

    bounds: if every undeclared commission were 0%, and if every one were 100%.
    """

    measure: Measure
    rankings: int
    queries: int
    withheld: str = ""
    mean: Estimate | None = None
    undeclared_share: float | None = None
    bounds: Interval | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentration:
    """Of a measure over sites or over publishers (registrable domains).

    members: eligible ones, those that got nothing (`without`) among them.
    """

    measure: Measure
    over: Literal["sites", "publishers"]
    members: int
    without: int
    withheld: str = ""
    gini: float | None = None
    hhi: float | None = None
    effective_number: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    figure: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """The items of §9.7 over a part of the window.

    by: which part; of the distance bands only the disclosed scores know. baseline: what
    stands as the eligible share: of all eligible sites, or of the returned ones.
    """

    by: Literal["operator", "requestedCategory", "siteCategory", "distanceBand"]
    value: str
    baseline: Literal["eligible", "returned"]
    rankings: int
    queries: int
    withheld: str = ""
    dimensions: tuple[Dimension, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How many eligible sites of a class got anything at all, beside the other classes.

    ratio: of the two rates, with the interval of Katz; sites of unknown class stand
    apart from both.
    """

    measure: Measure
    dimension: str
    name: str
    reached: int
    sites: int
    others_reached: int
    other_sites: int
    withheld: str = ""
    ratio: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """One distribution of a measure over the classes of a dimension, against another.

    awrf: 1 less the Jensen-Shannon divergence, base 2, of shares from eligible shares.
    ndkl: mean over the scored rankings, in nats, against the same target.
    """

    dimension: str
    measure: Measure
    queries: int
    withheld: str = ""
    awrf: Estimate | None = None
    ndkl: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeritComparison:
    """Exposure of a class beside its merit, where the ranker's own score is the merit.

    exposure_to_merit: share of exposure over share of merit. treatment: mean exposure
    per mean merit, over that of the other declared classes (DTR).
    """

    dimension: str
    name: str
    queries: int
    withheld: str = ""
    exposure_share: Estimate | None = None
    merit_share: Estimate | None = None
    exposure_to_merit: Estimate | None = None
    treatment: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Whether logarithmic attention follows the scores of the scored rankings.

    largest_gaps: of exposure_to_merit, by dimension, between the classes told.
    inequity: of attention (Biega), a ranking; 0..2. disparity, relevance, loss: of
    expected exposure (EE-D, EE-R, EE-L), the mean over queries.
    """

    queries: int
    withheld: str = ""
    largest_gaps: dict[str, float] | None = None
    inequity: float | None = None
    disparity: Estimate | None = None
    relevance: Estimate | None = None
    loss: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveWeight:
    """What a factor does to the order, beside its nominal weight, 0..1 each.

    variance_share: of the contributions' variance within rankings. swap_rate: pairs of
    sites that change places without the factor; swap_share: among those of all factors.
    """

    factor: str
    nominal: float
    queries: int
    withheld: str = ""
    variance_share: Estimate | None = None
    swap_rate: Estimate | None = None
    swap_share: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TieAudit:
    """Sites of equal score: their places against a fair shuffle.

    runs: of two or more tied neighbours. distance: Σ (S - E)² / V over sites, of the sum
    of a site's places in its runs; p_value: how often shuffled runs are as far.
    """

    runs: int
    sites: int
    withheld: str = ""
    distance: float | None = None
    p_value: float | None = None
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbationTrials:
    """How often one perturbation was tried. rate: of violations, with its interval."""

    name: str
    trials: int
    violations: int
    withheld: str = ""
    rate: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariance:
    """Trials of what must not move a ranking, over the days of the window with a run."""

    days: int
    trials: int
    violations: int
    withheld: str = ""
    rate: Estimate | None = None
    perturbations: tuple[PerturbationTrials, ...] = ()
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A field that tellers state differently; or "any": one field of them or more.

    sites: registered ones of which they differ, and site_share: their part of all
    registered ones. stated_twice: of which two tellers state it at all. comparisons:
    what the sites that differ got.
    """

    name: str
    sites: int
    stated_twice: int
    site_share: float
    comparisons: tuple[Comparison, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradictions:
    """Between documents, registration and auditors. registered: sites by the window's end."""

    registered: int
    fields: tuple[Contradiction, ...]
    sentence: str = ""

    @property
    def comparisons(self) -> list[Comparison]:
        return [cell for one in self.fields for cell in one.comparisons]


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionModel:
    """weights: of the first ten ranks, before they are brought to a sum of 1."""

    measure: Measure
    formula: str
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessReport:
    """New fields are appended, none is renamed or removed within a version."""

    version: str
    terms: Terms
    counts: Counts
    algorithm: Algorithm
    dimensions: tuple[Dimension, ...]
    commission: tuple[MeanCommission, ...]
    concentration: tuple[Concentration, ...]
    sentences: tuple[str, ...]
    definitions: tuple[Definition, ...]
    position_models: tuple[PositionModel, ...] = ()
    breakdowns: tuple[Breakdown, ...] = ()
    reach: tuple[Reach, ...] = ()
    parity: tuple[Parity, ...] = ()
    merit: tuple[MeritComparison, ...] = ()
    consistency: Consistency | None = None
    effective_weights: tuple[EffectiveWeight, ...] = ()
    ties: TieAudit | None = None
    invariance: Invariance | None = None
    contradictions: Contradictions | None = None
