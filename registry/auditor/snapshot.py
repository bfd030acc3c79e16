"""The index that a ranking was made from, where somebody still has it.

The registry keeps only its newest index; an auditor inside, or one who copied the folder
in time, can search in it again and compare factors that no disclosure proves.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from registry.index.building.index_reader import IndexReader
from registry.index.columns.filters import Filters
from registry.index.query.index import Index
from registry.index.query.search import prepare_query, search
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import POLICIES
from registry.ranking.score import Factors
from registry.ranking.ties import OrderKey
from registry.records.canonical import JsonValue
from registry.records.disclosure import parse_disclosure
from registry.records.recomputation import (
    DisclosedScore,
    Recomputation,
    RequestDisclosed,
    seed_of,
)
from registry.sites.identifier import format_site_id

UNKNOWN_SEED = bytes(32)
BEYOND = 256  # places more, as ties may fall otherwise without the secret
NEEDED = frozenset({"query", "location", "filters", "request", "scores"})


class IndexSnapshot:
    """index: None where there is none of this software's policy."""

    def __init__(self, index: Index | None) -> None:
        self._index = index

    @classmethod
    def load(cls, folder: Path) -> "IndexSnapshot":
        """folder: `index` in a registry's data folder. Raises: OSError, FileDamaged."""
        newest = (IndexReader(folder, policy).newest() for policy in POLICIES.values())
        return cls(next((index for index in newest if index is not None), None))

    def search_again(
        self,
        members: Mapping[str, JsonValue],
        disclosures: Sequence[str],
        secret: bytes | None,
    ) -> Recomputation:
        """disclosures: proven to be of the record with these members."""
        index = self._index
        if index is None or members["policy"] != index.policy.digest:
            return _nothing("the index at hand is of another policy")
        if members["snap"] != index.generation:
            return _nothing("the index at hand is of another time")
        opened = [parse_disclosure(text) for text in disclosures]
        values = {disclosure.name: disclosure.value for disclosure in opened}
        if not values.keys() >= NEEDED:
            return _nothing("not all that was asked is disclosed")
        scores = msgspec.convert(values["scores"], list[DisclosedScore])
        return _compare(scores, _factors_again(index, values, secret, len(scores)))


def _factors_again(
    index: Index, values: Mapping[str, JsonValue], secret: bytes | None, k: int
) -> dict[str, tuple[int, ...]]:
    """The factors of each site that is found again."""
    request = msgspec.convert(values["request"], RequestDisclosed, strict=False)
    query = prepare_query(
        str(values["query"]),
        load_encoder(index.policy),
        index.policy,
        cell=None if values["location"] is None else str(values["location"]),
        filters=Filters.from_record(values["filters"]),
    )
    form = index.policy.tie_seed_form
    seed = seed_of(values, request, secret, form) if secret else None
    ranked = search(
        index,
        query,
        now=request.at,
        seed=seed or UNKNOWN_SEED,
        k=k if secret else k + BEYOND,
        after=OrderKey(*request.after),
    )
    return {
        format_site_id(site.site_id): _in_order(site.factors) for site in ranked.sites
    }


def _in_order(factors: Factors) -> tuple[int, ...]:
    return (
        factors.relevance,
        factors.proximity,
        factors.capability_depth,
        factors.quality,
        factors.freshness,
    )


def _compare(
    scores: Sequence[DisclosedScore], factors: Mapping[str, tuple[int, ...]]
) -> Recomputation:
    compared = [score for score in scores if score.site in factors]
    if not compared:
        return _nothing("the search finds none of the sites")
    return Recomputation(
        checked=(f"factors of {len(compared)} sites",),
        differences=tuple(
            f"{score.site}: the factors are {factors[score.site]}, not {score.factors}"
            for score in compared
            if factors[score.site] != score.factors
        ),
        missing=(),
    )


def _nothing(reason: str) -> Recomputation:
    return Recomputation(checked=(), differences=(), missing=(f"factors: {reason}",))
