"""Disclosed scores put in columns; no SQL and no I/O here."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from registry.audit.disclosure import parse_disclosure
from registry.audit.packed_ranking import (
    read_packed_factors,
    read_packed_rankings,
    read_packed_value,
)
from registry.audit.packing import unpack_disclosure
from registry.db.window_columns import Candidates
from registry.fairness.arrays import Integers
from registry.fairness.window.columns import Scored
from registry.fairness.window.site_numbers import SiteNumbers
from registry.sites.identifier import parse_site_id, spell_site_id

_FACTORS, _SITE_BYTES = 5, 8


class _Score(msgspec.Struct):
    site: str
    factors: tuple[int, int, int, int, int]


class _Ranking(NamedTuple):
    """order: eight bytes a site, from rank 1 down."""

    order: bytes
    factors: Integers
    located: bool


class ScoredColumns:
    """Collects the scores of the wanted rankings, in whatever order they come."""

    def __init__(self, numbers: SiteNumbers, wanted: Candidates) -> None:
        self._numbers = numbers
        self._wanted = wanted
        self._found: dict[bytes, _Ranking] = {}

    def add(self, rows: Sequence[Sequence[bytes | None]]) -> None:
        """rows: record id, packed body, scores, location, as `observations` selects."""
        for record_id, body, scores, location in rows:
            if record_id is not None and body is not None and scores is not None:
                self._found[record_id] = _read(body, scores, location)

    def joined(self) -> Scored:
        """In the order in which they are wanted."""
        ids = [bytes(one) for one in self._wanted.ids]
        kept = [index for index, one in enumerate(ids) if one in self._found]
        told = [self._found[ids[index]] for index in kept]
        sites = np.frombuffer(b"".join(one.order for one in told), ">i8")
        factors = [np.zeros((0, _FACTORS), np.int64), *(one.factors for one in told)]
        return Scored(
            keys=self._wanted.keys[kept],
            counts=np.array([len(one.factors) for one in told], np.int32),
            sites=self._numbers.find(sites.astype(np.int64)),
            factors=np.concatenate(factors),
            located=np.array([one.located for one in told], np.bool_),
        )


def _read(body: bytes, scores: bytes, location: bytes | None) -> _Ranking:
    (order,) = read_packed_rankings([body]).orders
    factors = read_packed_factors(scores, len(order) // _SITE_BYTES)
    if factors is None:
        return _read_any(order, scores, location)
    return _Ranking(order, factors, _is_located(location))


def _read_any(order: bytes, scores: bytes, location: bytes | None) -> _Ranking:
    """Scores in whatever form."""
    sites = np.frombuffer(order, ">i8").tolist()
    spelled = [spell_site_id(site) for site in sites]
    disclosed = parse_disclosure(unpack_disclosure("scores", scores, spelled)).value
    told = msgspec.convert(disclosed, list[_Score])
    ids = [parse_site_id(one.site).to_bytes(_SITE_BYTES, "big") for one in told]
    factors = np.array([one.factors for one in told], np.int64).reshape(-1, _FACTORS)
    return _Ranking(b"".join(ids), factors, _is_located(location))


def _is_located(packed: bytes | None) -> bool:
    return packed is not None and read_packed_value("location", packed) is not None
