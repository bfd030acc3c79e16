"""Survey: a first look over a window, that fixes what its figures have in common.

It decides which queries are drawn together, draws the samples of the bootstrap, and
sorts the sites into classes; only then is anything summed.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from registry.ranking.policy import Policy
from registry.reports.arrays import Booleans, Floats, Integers
from registry.reports.estimate import SampleEvidence, resample
from registry.reports.inference.bootstrap import Clusters, draw_clusters, make_clusters
from registry.reports.invariance import TrialCount
from registry.reports.labels import Claims
from registry.reports.report_terms import Terms
from registry.reports.window.aggregate import aggregate, aggregate_by_site
from registry.reports.window.choices import rank_odds
from registry.reports.window.classes import Classes, classify, classify_declared
from registry.reports.window.columns import (
    Observed,
    Rankings,
    ScoredColumns,
    SiteColumns,
    count_names,
)
from registry.reports.window.cuts import Cut, cut_by_site

_SECONDS_A_DAY = 86_400
_NO_KEYS = np.zeros(0, np.uint64)
Trials = Sequence[Sequence[TrialCount]]
"""Counts of each run of invariance in the window, by perturbation."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Survey:
    """Inputs of a report, with the draws and classes that its figures share.

    scores: of each scored site, 0..10^8. in_terms: per site, whether it counts.
    registered: per site, whether it counts and was registered by the window's end.
    claims: of registered sites, by their numbers. classes: all; declared: those of §9.7.
    operators, requested: rankings by operator and by the category of the request.
    queries: distinct ones, however they are drawn; scored_queries: those with scores,
    as they are drawn. rank_odds: of agents' choices, by rank.
    """

    terms: Terms
    policy: Policy
    trials: Trials
    parts: Collection[Rankings]
    scored: ScoredColumns
    scores: Integers
    sites: SiteColumns
    in_terms: Booleans
    registered: Booleans
    claims: Mapping[int, Claims]
    classes: tuple[Classes, ...]
    declared: tuple[Classes, ...]
    clusters: Clusters
    draws: Floats
    operators: Counter[str]
    requested: Counter[str]
    queries: int
    scored_queries: int
    rank_odds: Floats

    @property
    def cut(self) -> Cut:
        return cut_by_site(np.where(self.in_terms, 0, -1))

    @property
    def most_eligible(self) -> int:
        """Largest number of eligible sites; 0 where only those of a category count."""
        if self.terms.category:  # how many of it were eligible is not recorded
            return 0
        return max((part.most_eligible for part in self.parts), default=0)

    def generator(self, purpose: str) -> np.random.Generator:
        """Return a generator of its own, so that no purpose moves another's figures."""
        return _generator(self.terms, purpose)

    def sum_classes(self, further: Sequence[Classes] = ()) -> SampleEvidence:
        """Return what each class got in the whole window."""
        classes = (*self.classes, *further)
        (whole,) = aggregate(
            self.parts,
            self.sites,
            classes,
            self.clusters,
            cut=self.cut,
            odds=self.rank_odds,
        )
        return resample(whole, self.draws)

    def sum_sites(self) -> Floats:
        """Return what each site got, shape (measures, sites); 0 for who doesn't count."""
        amounts = aggregate_by_site(self.parts, len(self.sites), self.rank_odds)
        return amounts * self.in_terms


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Basis:
    """Sums that the metrics are computed from.

    amounts: by site, (measures, sites). seen: per site, whether it was eligible, shown
    or chosen.
    """

    survey: Survey
    evidence: SampleEvidence
    amounts: Floats
    seen: Booleans

    @property
    def terms(self) -> Terms:
        return self.survey.terms


def survey(
    observed: Observed,
    terms: Terms,
    policy: Policy,
    trials: Trials,
    claims: Mapping[int, Claims],
) -> Survey:
    """Return the survey of a window. claims: at its end, by site number."""
    sites, parts = observed.sites, observed.parts
    distinct = np.unique(np.concatenate([_NO_KEYS, *(part.keys for part in parts)]))
    clusters = make_clusters(distinct)
    operators, requested = count_names(parts)
    in_terms = _in_category(sites, terms.category)
    registered = in_terms & ~np.isnan(sites.registered_day)
    scored = observed.scored.of_sites(in_terms) if terms.category else observed.scored
    return Survey(
        terms=terms,
        policy=policy,
        trials=trials,
        parts=parts,
        scored=scored,
        scores=scored.factors @ np.asarray(policy.weights, np.int64),
        sites=sites,
        in_terms=in_terms,
        registered=registered,
        claims={site: claim for site, claim in claims.items() if registered[site]},
        classes=classify(sites, terms.window.end_at.timestamp() / _SECONDS_A_DAY),
        declared=classify_declared(sites),
        clusters=clusters,
        draws=draw_clusters(
            len(clusters), _generator(terms, "bootstrap"), terms.replicates
        ),
        operators=operators,
        requested=requested,
        queries=len(distinct),
        scored_queries=len(np.unique(clusters.number(scored.keys))),
        rank_odds=rank_odds(parts),
    )


def sites_of(classes: Classes, names: Sequence[str]) -> Booleans:
    """Return, per site, whether it is in one of the classes with these names."""
    return np.isin(classes.code, [classes.names.index(name) for name in names])


def _in_category(sites: SiteColumns, category: str) -> Booleans:
    if not category:
        return np.ones(len(sites), np.bool_)
    wanted = [name.casefold() == category.casefold() for name in sites.categories]
    return np.array([*wanted, False], np.bool_)[sites.category]


def _generator(terms: Terms, purpose: str) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([terms.seed, crc32(purpose.encode())]))
