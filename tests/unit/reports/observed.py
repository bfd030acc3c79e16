"""Rankings and choices in a form that is easy to make, and the columns of a window of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from registry.records.ranking_columns import query_key
from registry.reports.arrays import Keys, Numbers
from registry.reports.window.columns import (
    NO_SITE,
    SAMPLE_KEY_LENGTH,
    SCORED_MAX,
    UNREPORTED,
    Observed,
    Rankings,
    ScoredColumns,
    join_tiers,
    make_sites,
    number_names,
)
from registry.reports.window.observation import SiteDisclosure

FactorValues = tuple[int, int, int, int, int]
"""Each 0..10000, in the order of `registry.ranking.explain.FACTOR_NAMES`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedSelection:
    """A reported choice. site_id: None where the agent reports that it chose no site."""

    site_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRanking:
    """A ranked answer.

    eligible: how many sites were eligible. returned: site ids from rank 1 down.
    eligible_sample: ids drawn uniformly, without replacement, from all eligible sites.
    selection: None where nobody reported one.
    query: names what was asked; rankings of one query are not independent of each other
    and are resampled together. Empty: the ranking stands alone.
    operator: who asked. category: the filter of the request, or empty.
    factors: of each returned site, or empty where they were erased or are not read.
    tiers: of commission, of each returned site, or empty where they are not stated.
    located: the request came with a place.
    """

    id: str
    eligible: int
    returned: tuple[str, ...]
    eligible_sample: tuple[str, ...]
    selection: ObservedSelection | None = None
    query: str = ""
    operator: str = "anon"
    category: str = ""
    factors: tuple[FactorValues, ...] = ()
    tiers: tuple[int, ...] = ()
    located: bool = False

    def __post_init__(self) -> None:
        for sites in (self.returned, self.eligible_sample):
            if len(set(sites)) < len(sites):
                raise ValueError(f"ranking {self.id} names a site twice")
            if len(sites) > self.eligible:
                raise ValueError(f"ranking {self.id} has more sites than eligible ones")
        if self.returned and not self.eligible_sample:
            raise ValueError(f"ranking {self.id} has no sample of its eligible sites")
        if self.factors and len(self.factors) != len(self.returned):
            raise ValueError(f"ranking {self.id} has factors of other sites")


def sample_key(ranking_id: str) -> str:
    """Return a random rank among those whose scores are read: the end of a ULID."""
    return ranking_id[-SAMPLE_KEY_LENGTH:]


def gather(
    rankings: Iterable[ObservedRanking],
    disclosures: Iterable[SiteDisclosure],
    operator: str = "",
) -> Observed:
    """Gather observations, in any order. A site without a disclosure is unknown in everything.

    operator: whose rankings are taken; of all, where empty.
    """
    rankings = [row for row in rankings if operator in {"", row.operator}]
    known = {site.site_id: site for site in disclosures}
    ids = sorted({*known, *(site for row in rankings for site in _seen(row))})
    number = {site: index for index, site in enumerate(ids)}
    shown = [row for row in rankings if row.returned]
    return Observed(
        parts=[_put_in_columns(shown, number, len(rankings) - len(shown))],
        scored=_take_scored(shown, number),
        sites=make_sites(
            [known.get(site, SiteDisclosure(site_id=site)) for site in ids]
        ),
    )


def _seen(ranking: ObservedRanking) -> tuple[str, ...]:
    chosen = ranking.selection and ranking.selection.site_id
    return (*ranking.returned, *ranking.eligible_sample, *([chosen] if chosen else []))


def _put_in_columns(
    shown: Sequence[ObservedRanking], number: Mapping[str, int], empty: int
) -> Rankings:
    operators, operator = number_names(row.operator for row in shown)
    categories, category = number_names(row.category for row in shown)
    return Rankings(
        keys=_keys(shown),
        operator=operator,
        operators=operators,
        category=category,
        categories=categories,
        returned=numbers_of(number[site] for row in shown for site in row.returned),
        returned_counts=numbers_of(len(row.returned) for row in shown),
        sampled=numbers_of(
            number[site] for row in shown for site in row.eligible_sample
        ),
        sampled_counts=numbers_of(len(row.eligible_sample) for row in shown),
        chosen=numbers_of(_chosen(row, number) for row in shown),
        most_eligible=max((row.eligible for row in shown), default=0),
        empty=empty,
    )


def _take_scored(
    shown: Sequence[ObservedRanking], number: Mapping[str, int]
) -> ScoredColumns:
    scored = [row for row in shown if row.factors]
    scored.sort(key=lambda row: (sample_key(row.id), row.id))
    taken = scored[:SCORED_MAX]
    factors = [values for row in taken for values in row.factors]
    return ScoredColumns(
        keys=_keys(taken),
        counts=numbers_of(len(row.returned) for row in taken),
        sites=numbers_of(number[site] for row in taken for site in row.returned),
        factors=np.array(factors, np.int64).reshape(-1, 5),
        tiers=join_tiers([(len(row.returned), row.tiers) for row in taken]),
        located=np.array([row.located for row in taken], np.bool_),
    )


def _chosen(ranking: ObservedRanking, number: Mapping[str, int]) -> int:
    if ranking.selection is None:
        return UNREPORTED
    site = ranking.selection.site_id
    return NO_SITE if site is None else number[site]


def _keys(rankings: Sequence[ObservedRanking]) -> Keys:
    return np.array([query_key(row.query, row.id) for row in rankings], np.uint64)


def numbers_of(values: Iterable[int]) -> Numbers:
    return np.fromiter(values, np.int32)
