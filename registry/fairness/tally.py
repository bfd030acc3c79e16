"""The tally: what each ranking gave to which kind of site.

A ranking deals out one whole of attention in each of several measures: evenly over its
eligible sites, over the returned ones by each position model, to the chosen one. So each
ranking counts the same, however long its list. Amounts are sums of these parts over the
sites that carry an attribute, and additive over rankings: any share or mean of a set of
rankings is a ratio of two sums.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from registry.fairness.exposure import (
    Floats,
    Integers,
    logarithmic_weights,
    rank_biased_weights,
    top_one_weights,
)
from registry.fairness.observation import (
    Independence,
    ObservedRanking,
    SiteDisclosure,
    Size,
)

PERSISTENCE = 0.8
"""Of the rank-biased model: the chance that a reader of one rank looks at the next."""

ELIGIBLE, LOGARITHMIC, RANK_BIASED, TOP_ONE, SELECTED, ELIGIBLE_THERE = range(6)
"""Measures. The last is ELIGIBLE over the rankings with a chosen site only: what
SELECTED is to be compared with."""

SIZES: tuple[str, ...] = get_args(Size)
INDEPENDENCES: tuple[str, ...] = get_args(Independence)
SIZE_COLUMNS = tuple(range(len(SIZES)))
INDEPENDENCE_COLUMNS = tuple(range(len(SIZES), len(SIZES) + len(INDEPENDENCES)))
DECLARED = len(SIZES) + len(INDEPENDENCES)
COMMISSION = DECLARED + 1
"""Attributes of a site: a column per size and per independence (1 or 0), whether it
declared a commission (1 or 0), and that commission in percent (0 if undeclared)."""

_Lists = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """What a window's rankings dealt out.

    site_ids: every site seen eligible. attributes: (sites, attributes).
    amounts: (rankings, measures, attributes). per_site: (measures, sites).
    clusters: per ranking the number of its query.
    """

    site_ids: tuple[str, ...]
    attributes: Floats
    amounts: Floats
    per_site: Floats
    clusters: Integers


def tally(
    rankings: Sequence[ObservedRanking], disclosures: Mapping[str, SiteDisclosure]
) -> Tally:
    """rankings: none of them empty. A site without a disclosure is unknown in all."""
    site_ids = tuple(sorted({site for ranking in rankings for site in _seen(ranking)}))
    number = {site: index for index, site in enumerate(site_ids)}
    described = [_describe(disclosures.get(site)) for site in site_ids]
    attributes = np.array(described, np.float64).reshape(-1, COMMISSION + 1)
    dealt = [
        _deal(lists, number, weights_of) for lists, weights_of in _measure(rankings)
    ]
    return Tally(
        site_ids=site_ids,
        attributes=attributes,
        amounts=np.stack(
            [_per_ranking(part, attributes, len(rankings)) for part in dealt], axis=1
        ),
        per_site=np.stack(
            [np.bincount(part.sites, part.weights, len(site_ids)) for part in dealt]
        ),
        clusters=_number_queries(rankings),
    )


def _seen(ranking: ObservedRanking) -> tuple[str, ...]:
    return (*ranking.returned, *ranking.eligible_sample, *_chosen(ranking))


def _chosen(ranking: ObservedRanking) -> tuple[str, ...]:
    if ranking.selection is None or ranking.selection.site_id is None:
        return ()
    return (ranking.selection.site_id,)


def _describe(disclosure: SiteDisclosure | None) -> list[float]:
    told = disclosure or SiteDisclosure(site_id="")
    return [
        *(told.size == size for size in SIZES),
        *(told.independence == independence for independence in INDEPENDENCES),
        told.commission_percent is not None,
        told.commission_percent or 0.0,
    ]


def _measure(
    rankings: Sequence[ObservedRanking],
) -> list[tuple[_Lists, Callable[[int], Floats]]]:
    """The lists to deal over and the weights by rank, in the order of the measures."""
    samples = [ranking.eligible_sample for ranking in rankings]
    returned = [ranking.returned for ranking in rankings]
    chosen = [_chosen(ranking) for ranking in rankings]
    there = [
        sample if choice else () for sample, choice in zip(samples, chosen, strict=True)
    ]
    return [
        (samples, np.ones),
        (returned, logarithmic_weights),
        (returned, lambda depth: rank_biased_weights(depth, PERSISTENCE)),
        (returned, top_one_weights),
        (chosen, np.ones),
        (there, np.ones),
    ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Dealt:
    """Sparse: ranking rankings[i] gave weights[i] to site sites[i]."""

    rankings: Integers
    sites: Integers
    weights: Floats


def _deal(
    lists: _Lists, number: Mapping[str, int], weights_of: Callable[[int], Floats]
) -> _Dealt:
    lengths = np.array([len(sites) for sites in lists], np.int64)
    parts = {
        length: weights_of(length) / weights_of(length).sum()
        for length in set(lengths.tolist()) - {0}
    }
    weights = [parts[len(sites)] for sites in lists if sites]
    return _Dealt(
        rankings=np.repeat(np.arange(len(lists)), lengths),
        sites=np.array([number[site] for sites in lists for site in sites], np.int64),
        weights=np.concatenate([np.zeros(0), *weights]),
    )


def _per_ranking(dealt: _Dealt, attributes: Floats, count: int) -> Floats:
    """Shape (count, attributes)."""
    columns = [
        np.bincount(dealt.rankings, dealt.weights * column[dealt.sites], count)
        for column in attributes.T
    ]
    return np.stack(columns, axis=1)


def _number_queries(rankings: Sequence[ObservedRanking]) -> Integers:
    """By name, so that the order in which rankings come in changes nothing."""
    names = [
        ("query", ranking.query) if ranking.query else ("ranking", ranking.id)
        for ranking in rankings
    ]
    number = {name: index for index, name in enumerate(sorted(set(names)))}
    return np.array([number[name] for name in names], np.int64)
