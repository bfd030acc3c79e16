"""The numbers of sites: their ids are 63 bits wide, arrays count from 0.

A table of some eight slots a site is looked up in one step; of sites that share a slot it
holds one, and the others are found by bisection.
"""

import ctypes
from collections.abc import Sequence
from ctypes import c_int, c_int64

import numpy as np

from registry.compiled.library import find_library, pointers_to
from registry.fairness.arrays import Integers, Numbers

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio


class SiteNumbers:
    """ids: distinct, in the order of their numbers. `find` adds to them."""

    def __init__(self, ids: Sequence[int] | Integers) -> None:
        self._ids = np.array(ids, np.int64)
        self._known = len(ids)
        self._index()

    @property
    def ids(self) -> Integers:
        """By number."""
        return self._ids

    @property
    def added(self) -> list[int]:
        added: list[int] = self._ids[self._known :].tolist()
        return added

    def find(self, ids: Integers) -> Numbers:
        """Those that are not known yet are numbered, in the order of their ids."""
        found = self.look_up(ids)
        missing = found < 0
        if missing.any():
            self._ids = np.append(self._ids, np.unique(ids[missing]))
            self._index()
            found = self.look_up(ids)
        return found

    def look_up(self, ids: Integers) -> Numbers:
        """-1 for an id that is not known."""
        if not len(self._ids):
            return np.full(len(ids), -1, np.int32)
        ids = np.ascontiguousarray(ids, np.int64)  # a file may hold them narrower
        library = find_library()
        if library is None:
            return self.look_up_plainly(ids)
        return self.look_up_compiled(ids, library)

    def look_up_plainly(self, ids: Integers) -> Numbers:
        found = self._table[self._slots(ids)]
        other = np.flatnonzero(self._ids[found.astype(np.int64)] != ids)
        if len(other):
            place = np.searchsorted(self._sorted, ids[other])
            place = np.minimum(place, len(self._sorted) - 1)
            known = self._sorted[place] == ids[other]
            found[other] = np.where(known, self._order[place], -1)
        return found

    def look_up_compiled(self, ids: Integers, library: ctypes.CDLL) -> Numbers:
        found = np.empty(len(ids), np.int32)
        library.number_sites(
            *pointers_to(self._ids, self._table),
            c_int(int(self._shift)),
            *pointers_to(self._sorted, self._order),
            c_int64(len(self._sorted)),
            *pointers_to(ids, found),
            c_int64(len(ids)),
        )
        return found

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
