"""Disclosed scores put in columns; no SQL and no I/O here."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from registry.audit.disclosure import parse_disclosure
from registry.audit.packed_ranking import read_packed_factors, read_packed_value
from registry.audit.packing import unpack_disclosure
from registry.db.equal_texts import Texts
from registry.db.ranking_bodies import read_bodies
from registry.db.window_columns import Candidates
from registry.fairness.arrays import Integers
from registry.fairness.window.columns import SCORED_MAX, Scored
from registry.fairness.window.site_numbers import SiteNumbers
from registry.sites.identifier import parse_site_id, spell_site_id

_FACTORS = 5


class _Score(msgspec.Struct):
    site: str
    factors: tuple[int, int, int, int, int]


class _Ranking(NamedTuple):
    """order: ids of sites, from rank 1 down."""

    order: Integers
    factors: Integers
    located: bool


class ScoredColumns:
    """Collects the scores of the wanted rankings, in whatever order they come."""

    def __init__(self, numbers: SiteNumbers, wanted: Candidates) -> None:
        """Of the wanted, the first SCORED_MAX."""
        self._numbers = numbers
        self.wanted = wanted.first(SCORED_MAX)
        self._found: dict[bytes, _Ranking] = {}

    def add(self, rows: Sequence[Sequence[bytes | None]]) -> None:
        """rows: record id, packed body, scores, location, as `observations` selects."""
        told = [
            (record_id, body, scores, location)
            for record_id, body, scores, location in rows
            if record_id is not None and body is not None and scores is not None
        ]
        bodies = read_bodies(Texts.of([body for _, body, _, _ in told]))
        orders = np.split(bodies.orders, np.cumsum(bodies.counts)[:-1])
        for (record_id, _, scores, location), order in zip(told, orders, strict=False):
            self._found[record_id] = _read(order, scores, location)

    def joined(self) -> Scored:
        """In the order in which they are wanted."""
        ids = [bytes(one) for one in self.wanted.ids]
        kept = [index for index, one in enumerate(ids) if one in self._found]
        told = [self._found[ids[index]] for index in kept]
        orders = [np.zeros(0, np.int64), *(one.order for one in told)]
        factors = [np.zeros((0, _FACTORS), np.int64), *(one.factors for one in told)]
        return Scored(
            keys=self.wanted.keys[kept],
            counts=np.array([len(one.factors) for one in told], np.int32),
            sites=self._numbers.find(np.concatenate(orders)),
            factors=np.concatenate(factors),
            located=np.array([one.located for one in told], np.bool_),
        )


def _read(order: Integers, scores: bytes, location: bytes | None) -> _Ranking:
    factors = read_packed_factors(scores, len(order))
    if factors is None:
        return _read_any(order, scores, location)
    return _Ranking(order, factors, _is_located(location))


def _read_any(order: Integers, scores: bytes, location: bytes | None) -> _Ranking:
    """Scores in whatever form."""
    spelled = [spell_site_id(site) for site in order.tolist()]
    disclosed = parse_disclosure(unpack_disclosure("scores", scores, spelled)).value
    told = msgspec.convert(disclosed, list[_Score])
    ids = np.array([parse_site_id(one.site) for one in told], np.int64)
    factors = np.array([one.factors for one in told], np.int64).reshape(-1, _FACTORS)
    return _Ranking(ids, factors, _is_located(location))


def _is_located(packed: bytes | None) -> bool:
    return packed is not None and read_packed_value("location", packed) is not None
