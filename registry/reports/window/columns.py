"""A window in columns: rankings, choices and sites in arrays.

All of it comes from the public log and the disclosures; a report needs nothing else, so
that anybody can compute it again. SiteColumns are numbered in the order of their ids; a
window is any number of parts, and every sum over it is the sum over its parts, so that none
of them needs to hold it whole.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from registry.reports.arrays import Booleans, Floats, Integers, Keys, Numbers
from registry.reports.window.observation import Independence, SiteDisclosure, Size

SIZES: tuple[str, ...] = get_args(Size)
INDEPENDENCES: tuple[str, ...] = get_args(Independence)

UNREPORTED, NO_SITE = -2, -1
"""Values in place of a chosen site's number: not reported, or no site was chosen."""

TIER_UNKNOWN = -1

SAMPLED_MAX = 16_000_000
"""Sampled eligible sites that one report reads; of a larger window each ranking gives
fewer, which the intervals then show."""

SCORED_MAX = 20_000
"""Rankings whose disclosed scores one report reads: those whose ids have the first ends
of eight characters. They are random in a ULID."""

SAMPLE_KEY_LENGTH = 8

_SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SiteColumns:
    """Columns with an entry for each site, in the order of their numbers.

    size, independence, category: indices into SIZES, INDEPENDENCES and `categories`.
    commission: percent, NaN where undeclared. publisher: the same for sites of one
    registrable domain. registered_day: days since 1970, NaN where not known.
    """

    size: Numbers
    independence: Numbers
    commission: Floats
    category: Numbers
    categories: tuple[str, ...]
    publisher: Numbers
    registered_day: Floats

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rankings:
    """Rankings with results; `empty` counts those without.

    keys: of the queries, see `query_key`. operator, category: indices into the names
    beside them. returned, sampled: numbers of sites, one ranking after the other, from
    rank 1 down; the counts say how many belong to each. chosen: the number of a site,
    UNREPORTED or NO_SITE. most_eligible: the largest number of eligible sites.
    """

    keys: Keys
    operator: Numbers
    operators: tuple[str, ...]
    category: Numbers
    categories: tuple[str, ...]
    returned: Numbers
    returned_counts: Numbers
    sampled: Numbers
    sampled_counts: Numbers
    chosen: Numbers
    most_eligible: int
    empty: int

    def __len__(self) -> int:
        return len(self.keys)

    def only(self, wanted: Booleans) -> "Rankings":
        """wanted: one per ranking."""
        return replace(
            self,
            keys=self.keys[wanted],
            operator=self.operator[wanted],
            category=self.category[wanted],
            returned=self.returned[np.repeat(wanted, self.returned_counts)],
            returned_counts=self.returned_counts[wanted],
            sampled=self.sampled[np.repeat(wanted, self.sampled_counts)],
            sampled_counts=self.sampled_counts[wanted],
            chosen=self.chosen[wanted],
        )


def renumber(part: Rankings, numbers: Numbers) -> Rankings:
    """numbers: of each site by the number that it has so far."""
    chosen = np.where(part.chosen < 0, part.chosen, numbers[part.chosen])
    return replace(
        part,
        returned=numbers[part.returned],
        sampled=numbers[part.sampled],
        chosen=chosen,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredColumns:
    """Rankings with their disclosed factors.

    keys: of their queries. counts: sites each. sites: numbers, from rank 1 down.
    factors: shape (sites, 5), 0..10000. tiers: of commission, 0 or 1, as the ranker had
    it; TIER_UNKNOWN where it is not disclosed. located: the request came with a place.
    """

    keys: Keys
    counts: Numbers
    sites: Numbers
    factors: Integers
    tiers: Integers
    located: Booleans

    def __len__(self) -> int:
        return len(self.keys)

    def of_sites(self, wanted: Booleans) -> "ScoredColumns":
        """Return the lists without the other sites. wanted: one per site."""
        items = wanted[self.sites]
        ranking = np.repeat(np.arange(len(self)), self.counts)
        counts = np.bincount(ranking[items], minlength=len(self)).astype(np.int32)
        left = counts > 0
        return ScoredColumns(
            keys=self.keys[left],
            counts=counts[left],
            sites=self.sites[items],
            factors=self.factors[items],
            tiers=self.tiers[items],
            located=self.located[left],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """All that a report is made of. parts: read twice."""

    parts: Collection[Rankings]
    scored: ScoredColumns
    sites: SiteColumns


def join_tiers(rankings: Iterable[tuple[int, Sequence[int]]]) -> Integers:
    """Return the tier of each site. rankings: number of sites and their tiers, if stated."""
    tiers = [tiers or [TIER_UNKNOWN] * count for count, tiers in rankings]
    return np.array([tier for row in tiers for tier in row], np.int64)


def make_sites(disclosures: Sequence[SiteDisclosure]) -> SiteColumns:
    """disclosures: in the order of the sites' numbers."""
    categories, category = number_names(site.category for site in disclosures)
    return SiteColumns(
        size=_numbers(SIZES.index(site.size) for site in disclosures),
        independence=_numbers(
            INDEPENDENCES.index(site.independence) for site in disclosures
        ),
        commission=_floats(site.commission_percent for site in disclosures),
        category=category,
        categories=categories,
        publisher=number_names(site.domain or site.site_id for site in disclosures)[1],
        registered_day=_floats(
            None if at is None else at.timestamp() / _SECONDS_A_DAY
            for at in (site.registered_at for site in disclosures)
        ),
    )


def number_names(names: Iterable[str]) -> tuple[tuple[str, ...], Numbers]:
    """The distinct names in order, and the index of each."""
    listed = list(names)
    distinct = tuple(sorted(set(listed)))
    index = {name: position for position, name in enumerate(distinct)}
    return distinct, _numbers(index[name] for name in listed)


def count_names(parts: Iterable[Rankings]) -> tuple[Counter[str], Counter[str]]:
    """Rankings by operator and by the category that was asked for."""
    operators: Counter[str] = Counter()
    categories: Counter[str] = Counter()
    for part in parts:
        for counter, names, numbers in (
            (operators, part.operators, part.operator),
            (categories, part.categories, part.category),
        ):
            counts = np.bincount(numbers, minlength=len(names)).tolist()
            counter.update(dict(zip(names, counts, strict=True)))
    return operators, categories


def _numbers(values: Iterable[int]) -> Numbers:
    return np.fromiter(values, np.int32)


def _floats(values: Iterable[float | None]) -> Floats:
    return np.array([np.nan if v is None else v for v in values], np.float64)
