"""A window in columns: the same rankings and sites as `observation`, in arrays.

Sites are numbered in the order of their ids; a window is any number of parts, and every
sum over it is the sum over its parts, so that none of them needs to hold it whole.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import get_args

import numpy as np

from registry.fairness.arrays import Booleans, Floats, Integers, Keys, Numbers
from registry.fairness.window.observation import (
    Independence,
    ObservedRanking,
    SiteDisclosure,
    Size,
)

SIZES: tuple[str, ...] = get_args(Size)
INDEPENDENCES: tuple[str, ...] = get_args(Independence)

UNREPORTED, NO_SITE = -2, -1
"""In place of the number of a chosen site: nobody told, or no site was chosen."""

SAMPLED_MAX = 16_000_000
"""Sampled eligible sites that one report reads; of a larger window each ranking gives
fewer, which the intervals then show."""

SCORED_MAX = 20_000
"""Rankings whose disclosed scores one report reads: those whose ids have the first ends
of eight characters. They are random in a ULID."""

SAMPLE_KEY_LENGTH = 8

_SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sites:
    """One entry per site, in the order of their numbers.

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

    def only(self, kept: Booleans) -> "Rankings":
        """kept: one per ranking."""
        return replace(
            self,
            keys=self.keys[kept],
            operator=self.operator[kept],
            category=self.category[kept],
            returned=self.returned[np.repeat(kept, self.returned_counts)],
            returned_counts=self.returned_counts[kept],
            sampled=self.sampled[np.repeat(kept, self.sampled_counts)],
            sampled_counts=self.sampled_counts[kept],
            chosen=self.chosen[kept],
        )


def join_rankings(parts: Sequence[Rankings]) -> Rankings:
    """One part, of the rankings of several in a row."""
    operators, operator = _join_names((one.operators, one.operator) for one in parts)
    categories, category = _join_names((one.categories, one.category) for one in parts)
    return Rankings(
        keys=np.concatenate([one.keys for one in parts]),
        operator=operator,
        operators=operators,
        category=category,
        categories=categories,
        returned=np.concatenate([one.returned for one in parts]),
        returned_counts=np.concatenate([one.returned_counts for one in parts]),
        sampled=np.concatenate([one.sampled for one in parts]),
        sampled_counts=np.concatenate([one.sampled_counts for one in parts]),
        chosen=np.concatenate([one.chosen for one in parts]),
        most_eligible=max(one.most_eligible for one in parts),
        empty=sum(one.empty for one in parts),
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
class Scored:
    """Rankings with their disclosed factors.

    keys: of their queries. counts: sites each. sites: numbers, from rank 1 down.
    factors: shape (sites, 5), 0..10000. located: the request came with a place.
    """

    keys: Keys
    counts: Numbers
    sites: Numbers
    factors: Integers
    located: Booleans

    def __len__(self) -> int:
        return len(self.keys)

    def of_sites(self, kept: Booleans) -> "Scored":
        """The lists as they are without the other sites. kept: one per site."""
        items = kept[self.sites]
        ranking = np.repeat(np.arange(len(self)), self.counts)
        counts = np.bincount(ranking[items], minlength=len(self)).astype(np.int32)
        left = counts > 0
        return Scored(
            keys=self.keys[left],
            counts=counts[left],
            sites=self.sites[items],
            factors=self.factors[items],
            located=self.located[left],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """All that a report is made of. parts: read twice."""

    parts: Collection[Rankings]
    scored: Scored
    sites: Sites


def query_key(query: str, ranking_id: str) -> int:
    """64 bits that name a query; a ranking without one stands alone."""
    name = f"query {query}" if query else f"ranking {ranking_id}"
    return int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest()[:8])


def sample_key(ranking_id: str) -> str:
    """Its order among the rankings whose scores are read: the random end of a ULID."""
    return ranking_id[-SAMPLE_KEY_LENGTH:]


def gather(
    rankings: Iterable[ObservedRanking],
    disclosures: Iterable[SiteDisclosure],
    operator: str = "",
) -> Observed:
    """In any order. A site without a disclosure is unknown in everything.

    operator: whose rankings are taken; of all, where empty.
    """
    rankings = [one for one in rankings if operator in {"", one.operator}]
    told = {disclosure.site_id: disclosure for disclosure in disclosures}
    ids = sorted({*told, *(site for one in rankings for site in _seen(one))})
    number = {site: index for index, site in enumerate(ids)}
    shown = [one for one in rankings if one.returned]
    return Observed(
        parts=[_put_in_columns(shown, number, len(rankings) - len(shown))],
        scored=_take_scored(shown, number),
        sites=make_sites(
            [told.get(site, SiteDisclosure(site_id=site)) for site in ids]
        ),
    )


def make_sites(disclosures: Sequence[SiteDisclosure]) -> Sites:
    """disclosures: in the order of the sites' numbers."""
    categories, category = number_names(one.category for one in disclosures)
    return Sites(
        size=_numbers(SIZES.index(one.size) for one in disclosures),
        independence=_numbers(
            INDEPENDENCES.index(one.independence) for one in disclosures
        ),
        commission=_floats(one.commission_percent for one in disclosures),
        category=category,
        categories=categories,
        publisher=number_names(one.domain or one.site_id for one in disclosures)[1],
        registered_day=_floats(
            None if at is None else at.timestamp() / _SECONDS_A_DAY
            for at in (one.registered_at for one in disclosures)
        ),
    )


def number_names(names: Iterable[str]) -> tuple[tuple[str, ...], Numbers]:
    """The distinct names in order, and the index of each."""
    listed = list(names)
    distinct = tuple(sorted(set(listed)))
    index = {name: position for position, name in enumerate(distinct)}
    return distinct, _numbers(index[name] for name in listed)


def _join_names(
    columns: Iterable[tuple[tuple[str, ...], Numbers]],
) -> tuple[tuple[str, ...], Numbers]:
    told = list(columns)
    distinct, index = number_names(name for names, _ in told for name in names)
    ends = np.cumsum([len(names) for names, _ in told])[:-1]
    places = np.split(index, ends)
    found = [place[column] for place, (_, column) in zip(places, told, strict=True)]
    return distinct, np.concatenate(found)


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


def _seen(ranking: ObservedRanking) -> tuple[str, ...]:
    chosen = ranking.selection and ranking.selection.site_id
    return (*ranking.returned, *ranking.eligible_sample, *([chosen] if chosen else []))


def _put_in_columns(
    shown: Sequence[ObservedRanking], number: Mapping[str, int], empty: int
) -> Rankings:
    operators, operator = number_names(one.operator for one in shown)
    categories, category = number_names(one.category for one in shown)
    return Rankings(
        keys=_keys(shown),
        operator=operator,
        operators=operators,
        category=category,
        categories=categories,
        returned=_numbers(number[site] for one in shown for site in one.returned),
        returned_counts=_numbers(len(one.returned) for one in shown),
        sampled=_numbers(number[site] for one in shown for site in one.eligible_sample),
        sampled_counts=_numbers(len(one.eligible_sample) for one in shown),
        chosen=_numbers(_chosen(one, number) for one in shown),
        most_eligible=max((one.eligible for one in shown), default=0),
        empty=empty,
    )


def _take_scored(shown: Sequence[ObservedRanking], number: Mapping[str, int]) -> Scored:
    told = [one for one in shown if one.factors]
    told.sort(key=lambda one: (sample_key(one.id), one.id))
    taken = told[:SCORED_MAX]
    factors = [values for one in taken for values in one.factors]
    return Scored(
        keys=_keys(taken),
        counts=_numbers(len(one.returned) for one in taken),
        sites=_numbers(number[site] for one in taken for site in one.returned),
        factors=np.array(factors, np.int64).reshape(-1, 5),
        located=np.array([one.located for one in taken], np.bool_),
    )


def _chosen(ranking: ObservedRanking, number: Mapping[str, int]) -> int:
    if ranking.selection is None:
        return UNREPORTED
    site = ranking.selection.site_id
    return NO_SITE if site is None else number[site]


def _keys(rankings: Sequence[ObservedRanking]) -> Keys:
    return np.array([query_key(one.query, one.id) for one in rankings], np.uint64)


def _numbers(values: Iterable[int]) -> Numbers:
    return np.fromiter(values, np.int32)


def _floats(values: Iterable[float | None]) -> Floats:
    return np.array([np.nan if v is None else v for v in values], np.float64)
