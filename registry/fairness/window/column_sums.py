"""Sums of dealt attention by unit and class of site, for as many measures at once.

Classes are counted jointly, two at a time, and taken apart at the end: one look-up and
one sum an item and measure then serve several columns.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from registry.fairness.arrays import Floats, Integers
from registry.fairness.window.classes import Classes
from registry.fairness.window.columns import Sites

_TOGETHER = 2


class _Group(NamedTuple):
    """Classes that are counted jointly. code: of each site, its cell of the first unit."""

    widths: tuple[int, ...]
    code: Integers
    sums: Floats


class ColumnSums:
    """What each unit dealt out in each measure.

    Its columns are: all; what went to sites with a declared commission; that times the
    commission in percent, or 0 if it is not asked for; then those of the classes.
    """

    def __init__(
        self,
        sites: Sites,
        classes: Sequence[Classes],
        shape: tuple[int, int, int],
        *,
        place: Integers,
        commissions: bool,
    ) -> None:
        """shape: (places, units, measures). place: of each site; each has its own sums."""
        self._shape = shape
        self._place = place
        declared = ~np.isnan(sites.commission)
        self._percent = np.where(declared, sites.commission, 0.0)
        self._asked = commissions
        codes = [(one.code, len(one.names)) for one in classes]
        first, then = codes[:_TOGETHER], codes[_TOGETHER:]
        self._groups = [self._group([(declared.astype(np.int64), 2), *first])] + [
            self._group(then[begin : begin + _TOGETHER])
            for begin in range(0, len(then), _TOGETHER)
        ]
        self._commissions = self._group([])

    def add(
        self, units: Integers, sites: Integers, dealt: Mapping[int, Floats]
    ) -> None:
        """units, sites: one per item. dealt: of each measure, weights of the items."""
        for group in self._groups:
            cells = self._cells(group, units, sites)
            for measure, weights in dealt.items():
                np.add.at(group.sums[measure], cells, weights)
        if self._asked:
            cells = self._cells(self._commissions, units, sites)
            percent = self._percent[sites]
            for measure, weights in dealt.items():
                np.add.at(self._commissions.sums[measure], cells, weights * percent)

    def columns(self) -> Floats:
        """Shape (places, units, measures, columns)."""
        first, *others = map(self._apart, self._groups)
        undeclared, declared = first[..., 0], first[..., 1]
        commissions = self._commissions.sums.reshape(declared.shape)
        told = np.stack([undeclared + declared, declared, commissions], axis=-1)
        columns = np.concatenate([told, first[..., 2:], *others], axis=-1)
        return np.ascontiguousarray(np.moveaxis(columns, 0, 2))

    def _group(self, codes: Sequence[tuple[Integers, int]]) -> _Group:
        places, units, measures = self._shape
        joint = self._place * units
        for code, width in codes:
            joint = joint * width + code
        widths = tuple(width for _, width in codes)
        size = places * units * math.prod(widths)
        return _Group(widths, joint, np.zeros((measures, size)))

    def _apart(self, group: _Group) -> Floats:
        """Shape (measures, places, units, columns), of one class after the other."""
        places, units, measures = self._shape
        joint = np.indices(group.widths).reshape(len(group.widths), -1)
        belongs = [
            code == one
            for code, width in zip(joint, group.widths, strict=True)
            for one in range(width)
        ]
        sums = group.sums.reshape(measures * places * units, math.prod(group.widths))
        columns = sums @ np.stack(belongs, axis=1).astype(np.float64)
        return columns.reshape(measures, places, units, len(belongs))

    @staticmethod
    def _cells(group: _Group, units: Integers, sites: Integers) -> Integers:
        """Of each item, where its amount is added."""
        cells = units * math.prod(group.widths)
        cells += group.code[sites]
        return cells
