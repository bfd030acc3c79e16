"""Lookup of the rows that have a key, without looking at all of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from registry.index.columns.runs import Integers, starts_of
from registry.index.columns.signatures import Signatures, are_alike, bands_of
from registry.ranking.policy import Policy

Keys = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Lookup:
    """keys: ascending. rows: parallel, their numbers."""

    keys: Keys
    rows: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, keys: Keys) -> "Lookup":
        """keys: one a row."""
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], order.astype(np.uint32))

    def find(self, wanted: Keys) -> Integers:
        """Return the rows of the keys, which are distinct."""
        return self.pairs(wanted)[1]

    def pairs(self, wanted: Keys) -> tuple[Integers, Integers]:
        """Return the number of a key and a row that has it, for each such row."""
        first = np.searchsorted(self.keys, wanted, side="left")
        lengths = np.searchsorted(self.keys, wanted, side="right") - first
        starts = starts_of(lengths)
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        rows = self.rows[np.repeat(first, lengths) + within].astype(np.int64)
        return np.repeat(np.arange(len(wanted)), lengths), rows


@dataclass(frozen=True, slots=True)
class SignatureLookup:
    """bands: a lookup each."""

    signatures: Signatures
    bands: tuple[Lookup, ...]

    @classmethod
    def of(cls, signatures: Signatures) -> "SignatureLookup":
        return cls(signatures, tuple(map(Lookup.of, bands_of(signatures))))

    def find(self, wanted: Signatures, policy: Policy) -> Integers:
        """Return the rows that are near-duplicates of any."""
        wanted = np.unique(wanted[wanted.any(axis=1)], axis=0)
        rows = [np.empty(0, np.int64)]
        for lookup, keys in zip(self.bands, bands_of(wanted), strict=True):
            number, near = lookup.pairs(keys)
            is_alike = are_alike(self.signatures[near], wanted[number], policy)
            rows.append(near[is_alike])
        return np.unique(np.concatenate(rows))
