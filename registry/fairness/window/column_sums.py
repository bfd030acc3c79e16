"""Sums of dealt attention by unit and class of site, for as many measures at once.

Classes are counted jointly, two at a time, and taken apart at the end: one look-up and
one sum an item and measure then serve several columns.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from registry.fairness.arrays import Floats, Integers
from registry.fairness.window.adding import Addition, Group, add_dealt
from registry.fairness.window.classes import Classes
from registry.fairness.window.columns import Sites

_TOGETHER = 2


class _Joint(NamedTuple):
    """Classes that are counted jointly, by how many names each has."""

    widths: tuple[int, ...]
    group: Group


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
        codes = [(one.code, len(one.names)) for one in classes]
        first, then = codes[:_TOGETHER], codes[_TOGETHER:]
        self._joint = [self._group([(declared.astype(np.int64), 2), *first])] + [
            self._group(then[begin : begin + _TOGETHER])
            for begin in range(0, len(then), _TOGETHER)
        ]
        percent = np.where(declared, sites.commission, 0.0)
        self._commissions = self._group([]).group._replace(percent=percent)
        self._groups = [joint.group for joint in self._joint]
        if commissions:
            self._groups.append(self._commissions)

    def add(self, additions: Sequence[Addition]) -> None:
        add_dealt(additions, self._groups)

    def columns(self) -> Floats:
        """Shape (places, units, measures, columns)."""
        first, *others = map(self._apart, self._joint)
        undeclared, declared = first[..., 0], first[..., 1]
        commissions = _turn(self._commissions.sums, self._shape[0]).reshape(
            declared.shape
        )
        told = np.stack([undeclared + declared, declared, commissions], axis=-1)
        columns = np.concatenate([told, first[..., 2:], *others], axis=-1)
        return np.ascontiguousarray(np.moveaxis(columns, 0, 2))

    def _group(self, codes: Sequence[tuple[Integers, int]]) -> _Joint:
        places, units, measures = self._shape
        joint = self._place
        for code, width in codes:
            joint = joint * width + code
        widths = tuple(width for _, width in codes)
        width = places * math.prod(widths)
        sums = np.zeros((units, measures, width))
        return _Joint(widths, Group(code=joint, sums=sums))

    def _apart(self, joint: _Joint) -> Floats:
        """Shape (measures, places, units, columns), of one class after the other."""
        places, units, measures = self._shape
        cells = np.indices(joint.widths).reshape(len(joint.widths), -1)
        belongs = [
            code == one
            for code, width in zip(cells, joint.widths, strict=True)
            for one in range(width)
        ]
        sums = _turn(joint.group.sums, places)
        columns = sums @ np.stack(belongs, axis=1).astype(np.float64)
        return columns.reshape(measures, places, units, len(belongs))


def _turn(sums: Floats, places: int) -> Floats:
    """A row for each measure, place and unit, in this order."""
    units, measures, width = sums.shape
    apart = sums.reshape(units, measures, places, width // places)
    turned = np.ascontiguousarray(apart.transpose(1, 2, 0, 3))
    return turned.reshape(measures * places * units, width // places)
