"""Numbers of sites: their ids are 63 bits wide, arrays count from 0.

A table of some eight slots a site is looked up in one step; of sites that share a slot it
holds one, and the others are found by bisection.
"""

from collections.abc import Sequence

import numpy as np

from registry.reports.arrays import Integers, Numbers

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio


class SiteNumbers:
    """ids: distinct, in the order of their numbers. `find` adds to them."""

    def __init__(self, ids: Sequence[int] | Integers) -> None:
        self._ids = np.array(ids, np.int64)
        self._known = len(ids)
        self._index()

    @property
    def ids(self) -> Integers:
        """Return the site ids by number."""
        return self._ids

    @property
    def added(self) -> list[int]:
        added: list[int] = self._ids[self._known :].tolist()
        return added

    def find(self, ids: Integers) -> Numbers:
        """Return the sites' numbers; unknown ones get theirs in the order of their ids."""
        numbers = self.look_up(ids)
        missing = numbers < 0
        if missing.any():
            self._ids = np.append(self._ids, np.unique(ids[missing]))
            self._index()
            numbers = self.look_up(ids)
        return numbers

    def look_up(self, ids: Integers) -> Numbers:
        """Return -1 for an id that is not known."""
        if not len(self._ids):
            return np.full(len(ids), -1, np.int32)
        ids = np.ascontiguousarray(ids, np.int64)  # a file may hold them narrower
        numbers = self._table[self._slots(ids)]
        other = np.flatnonzero(self._ids[numbers.astype(np.int64)] != ids)
        if len(other):
            position = np.searchsorted(self._sorted, ids[other])
            position = np.minimum(position, len(self._sorted) - 1)
            known = self._sorted[position] == ids[other]
            numbers[other] = np.where(known, self._order[position], -1)
        return numbers

    def _index(self) -> None:
        bits = max(4, len(self._ids).bit_length() + 3)
        self._shift = np.uint64(64 - bits)
        self._table = np.full(1 << bits, -1, np.int32)
        self._table[self._slots(self._ids)] = np.arange(len(self._ids), dtype=np.int32)
        self._order = np.argsort(self._ids).astype(np.int32)
        self._sorted = self._ids[self._order]

    def _slots(self, ids: Integers) -> Integers:
        slots = ids.view(np.uint64) * _MULTIPLIER
        slots >>= self._shift
        return slots.view(np.int64)  # as NumPy looks them up
