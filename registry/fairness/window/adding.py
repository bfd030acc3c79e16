"""Dealt attention added up, a list of sites after the other; compiled or in NumPy.

Each sum is added up in the order of the lists, one amount after the other, so that both
come to the same to the last bit.
"""

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import POINTER, c_int64, c_void_p
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from registry.compiled.library import find_library, pointer_to
from registry.fairness.arrays import Booleans, Floats, Integers, Numbers


class Lists(NamedTuple):
    """Sites that something is dealt out to: one list of a ranking after the other.

    rankings: of a part, to which the lists belong. counts: sites of each list.
    """

    rankings: Integers
    counts: Numbers
    sites: Numbers


class Portions(NamedTuple):
    """What one measure deals out. at: where those of each list begin in the table.

    step: 1 where they lie one behind the other by rank, 0 where all sites get the same.
    """

    table: Floats
    at: Integers
    step: int

    def spread(self, counts: Numbers) -> Floats:
        """One per item of lists so long."""
        if not self.step:
            return np.repeat(self.table[self.at], counts)
        starts = np.cumsum(counts) - counts
        place = np.repeat(self.at - starts, counts)
        place += np.arange(len(place))
        amounts: Floats = self.table[place]
        return amounts


Dealt = Mapping[int, Portions]
"""By measure."""


class Units(NamedTuple):
    """Whose sums are added to. of_lists: of each list; of_items: of each item instead."""

    of_lists: Integers
    of_items: Integers | None = None

    def spread(self, counts: Numbers) -> Integers:
        if self.of_items is not None:
            return self.of_items
        return np.repeat(self.of_lists, counts)


class Group(NamedTuple):
    """Cells that are counted jointly, as many in each unit and measure.

    code: of each site, its cell. percent: of each site, what its amounts are multiplied
    by. sums: shape (units, measures, cells).
    """

    code: Integers
    sums: Floats
    percent: Floats | None = None


class Addition(NamedTuple):
    """What is dealt out to lists. Additions to the same sums deal out other measures.

    seen, seen_at: flat marks of sites, which are set, and where those of each list begin.
    """

    lists: Lists
    units: Units
    dealt: Dealt
    seen: Booleans | None = None
    seen_at: Integers | None = None


def add_dealt(additions: Sequence[Addition], groups: Sequence[Group]) -> None:
    """To the sums of the groups."""
    library = find_library()
    if library is not None:
        return add_compiled(library, additions, groups)
    for one in additions:
        add_plainly(one, groups)
    return None


def add_plainly(addition: Addition, groups: Sequence[Group]) -> None:
    lists = addition.lists
    sites = lists.sites.astype(np.int64)  # as NumPy looks them up
    unit = addition.units.spread(lists.counts)
    amounts = {one: dealt.spread(lists.counts) for one, dealt in addition.dealt.items()}
    for group in groups:
        _, measures, width = group.sums.shape
        cells = unit * (measures * width)
        cells += group.code[sites]
        sums = group.sums.reshape(-1)
        for measure, weights in amounts.items():
            told = weights if group.percent is None else weights * group.percent[sites]
            np.add.at(sums[measure * width :], cells, told)
    if addition.seen is not None and addition.seen_at is not None:
        addition.seen[np.repeat(addition.seen_at, lists.counts) + sites] = True


class _Lists(ctypes.Structure):
    _fields_ = [
        ("lists", c_int64),
        *((name, c_void_p) for name in ("starts", "counts", "sites")),
        *((name, c_void_p) for name in ("units", "item_units")),
        *((name, c_void_p) for name in ("seen", "seen_at")),
    ]


class _Weights(ctypes.Structure):
    _fields_ = [
        *(("measure", c_int64), ("table", c_void_p)),
        *(("at", c_void_p), ("step", c_int64)),
    ]


class _Group(ctypes.Structure):
    _fields_ = [
        *((name, c_void_p) for name in ("code", "percent")),
        *((name, c_int64) for name in ("width", "measures")),
        ("sums", c_void_p),
    ]


class _Addition(ctypes.Structure):
    _fields_ = [
        *(("lists", POINTER(_Lists)), ("dealt", POINTER(_Weights))),
        *(("dealt_count", c_int64), ("groups", POINTER(_Group))),
        ("group_count", c_int64),
    ]


def add_compiled(
    library: ctypes.CDLL, additions: Sequence[Addition], groups: Sequence[Group]
) -> None:
    """Side by side. Sums and codes lie in memory as NumPy makes them."""
    kept: list[Any] = []

    def pointer(array: npt.NDArray[Any] | None, kind: npt.DTypeLike) -> c_void_p | None:
        if array is None:
            return None
        kept.append(np.ascontiguousarray(array, kind))
        return pointer_to(kept[-1])

    def pack(one: Addition) -> _Addition:
        lists, units = one.lists, one.units
        packed = _Lists(
            len(lists.counts),
            pointer(np.cumsum(lists.counts) - lists.counts, np.int64),
            pointer(lists.counts, np.int32),
            pointer(lists.sites, np.int32),
            pointer(units.of_lists, np.int64),
            pointer(units.of_items, np.int64),
            pointer(one.seen, np.bool_),
            pointer(one.seen_at, np.int64),
        )
        dealt = [
            _Weights(measure, pointer(table, np.float64), pointer(at, np.int64), step)
            for measure, (table, at, step) in one.dealt.items()
        ]
        kept.append(packed)
        return _Addition(
            *(ctypes.pointer(packed), (_Weights * len(dealt))(*dealt)),
            *(len(dealt), told, len(groups)),
        )

    told = (_Group * len(groups))(*(_Group(*_group(one)) for one in groups))
    packed = (_Addition * len(additions))(*map(pack, additions))
    library.add_dealt(packed, c_int64(len(packed)))


def _group(group: Group) -> tuple[Any, ...]:
    """Its arrays are kept as they are for as long as the sums are made."""
    _, measures, width = group.sums.shape
    percent = None if group.percent is None else pointer_to(group.percent)
    return (pointer_to(group.code), percent, width, measures, pointer_to(group.sums))
