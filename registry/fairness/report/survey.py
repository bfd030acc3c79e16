"""The survey: a first look over a window, that fixes what its figures have in common.

It decides which queries are drawn together, draws the samples of the bootstrap, and
sorts the sites into classes; only then is anything summed.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from registry.fairness.arrays import Booleans, Floats
from registry.fairness.inference.bootstrap import Clusters, draw_clusters, make_clusters
from registry.fairness.labels import Claims
from registry.fairness.report.contested import sort_contested
from registry.fairness.report.estimate import Evidence, weigh
from registry.fairness.report.figures import Counts, Terms
from registry.fairness.report.scored import ScoredWindow
from registry.fairness.window.classes import Classes, classify, classify_declared
from registry.fairness.window.columns import (
    NO_SITE,
    UNREPORTED,
    Observed,
    Rankings,
    Scored,
    Sites,
    count_names,
)
from registry.fairness.window.cuts import Cut, cut_by_site
from registry.fairness.window.tally import Tally, tally
from registry.ranking.policy import Policy

_SECONDS_A_DAY = 86_400
NO_CLAIMS: Mapping[int, Claims] = {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surveyed:
    """kept: per site, whether it counts. classes: all; declared: those of §9.7.

    registered: per site, whether it counts and was registered by the window's end.
    claims: of registered sites, by their numbers; contested: the classes they make.
    operators, requested: rankings by operator and by the category that was asked for.
    queries: distinct ones, however they are drawn.
    """

    terms: Terms
    parts: Collection[Rankings]
    scored: Scored
    sites: Sites
    kept: Booleans
    registered: Booleans
    claims: Mapping[int, Claims]
    contested: Classes
    classes: tuple[Classes, ...]
    declared: tuple[Classes, ...]
    clusters: Clusters
    draws: Floats
    operators: Counter[str]
    requested: Counter[str]
    queries: int

    @property
    def cut(self) -> Cut:
        return cut_by_site(np.where(self.kept, 0, -1))

    @property
    def most_eligible(self) -> int:
        """Where only a category counts, how many of it were eligible is not recorded."""
        if self.terms.category:
            return 0
        return max((part.most_eligible for part in self.parts), default=0)

    def generator(self, purpose: str) -> np.random.Generator:
        """One of its own for each purpose, so that none moves the figures of another."""
        return _generator(self.terms, purpose)

    def weigh(self) -> Evidence:
        is_contested = len(self.contested.names) > 1
        classes = (*self.classes, self.contested) if is_contested else self.classes
        (whole,) = tally(self.parts, self.sites, classes, self.clusters, cut=self.cut)
        return weigh(whole, self.draws)

    def scored_window(self, policy: Policy) -> ScoredWindow:
        return ScoredWindow(
            scored=self.scored,
            sites=self.sites,
            clusters=self.clusters,
            draws=self.draws,
            policy=policy,
            minimum_cell=self.terms.minimum_cell,
        )

    def count(self, whole: Tally) -> Counts:
        chosen = [part.chosen for part in self.parts]
        return Counts(
            rankings=sum(map(len, self.parts)),
            empty_rankings=sum(part.empty for part in self.parts),
            queries=self.queries,
            reported=int(sum((one != UNREPORTED).sum() for one in chosen)),
            selections=int(sum((one > NO_SITE).sum() for one in chosen)),
            sites=int(whole.seen.sum()),
            scored=len(self.scored),
        )


def survey(
    observed: Observed, terms: Terms, claims: Mapping[int, Claims] = NO_CLAIMS
) -> Surveyed:
    sites = observed.sites
    keys = [np.zeros(0, np.uint64), *(part.keys for part in observed.parts)]
    distinct = np.unique(np.concatenate(keys))
    clusters = make_clusters(distinct)
    operators, requested = count_names(observed.parts)
    kept = _in_category(sites, terms.category)
    registered = kept & ~np.isnan(sites.registered_day)
    told = {site: one for site, one in claims.items() if registered[site]}
    end_day = terms.window.end_at.timestamp() / _SECONDS_A_DAY
    return Surveyed(
        terms=terms,
        parts=observed.parts,
        scored=observed.scored.of_sites(kept) if terms.category else observed.scored,
        sites=sites,
        kept=kept,
        registered=registered,
        claims=told,
        contested=sort_contested(told, len(sites)),
        classes=classify(sites, end_day),
        declared=classify_declared(sites),
        clusters=clusters,
        draws=draw_clusters(
            len(clusters), _generator(terms, "bootstrap"), terms.replicates
        ),
        operators=operators,
        requested=requested,
        queries=len(distinct),
    )


def _in_category(sites: Sites, category: str) -> Booleans:
    if not category:
        return np.ones(len(sites), np.bool_)
    wanted = [name.casefold() == category.casefold() for name in sites.categories]
    return np.array([*wanted, False], np.bool_)[sites.category]


def _generator(terms: Terms, purpose: str) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([terms.seed, crc32(purpose.encode())]))
