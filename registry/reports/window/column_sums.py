"""Sums of exposure by unit and class of site, for as many measures at once.

Classes are counted jointly, two at a time, and taken apart at the end: one look-up and
one sum an item and measure then serve several columns.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from registry.reports.arrays import Floats, Integers
from registry.reports.window.classes import Classes
from registry.reports.window.columns import SiteColumns
from registry.reports.window.exposure_sums import CellSums, Exposure, add_exposure

_TOGETHER = 2


class _Joint(NamedTuple):
    """Classes that are counted jointly, by how many names each has."""

    widths: tuple[int, ...]
    cell_sums: CellSums


class ColumnSums:
    """Exposure that each unit gave in each measure, in columns.

    These are: all; what went to sites with a declared commission; that times the
    commission in percent, or 0 if it is not asked for; then those of the classes.
    """

    def __init__(
        self,
        sites: SiteColumns,
        classes: Sequence[Classes],
        shape: tuple[int, int, int],
        *,
        slot: Integers,
        commissions: bool,
    ) -> None:
        """shape: (slots, units, measures). slot: of each site; each has its own sums."""
        self._shape = shape
        self._slot = slot
        declared = ~np.isnan(sites.commission)
        codes = [(kind.code, len(kind.names)) for kind in classes]
        first, then = codes[:_TOGETHER], codes[_TOGETHER:]
        self._joint = [self._group([(declared.astype(np.int64), 2), *first])] + [
            self._group(then[begin : begin + _TOGETHER])
            for begin in range(0, len(then), _TOGETHER)
        ]
        percent = np.where(declared, sites.commission, 0.0)
        self._commissions = self._group([]).cell_sums._replace(percent=percent)
        self._cell_sums = [joint.cell_sums for joint in self._joint]
        if commissions:
            self._cell_sums.append(self._commissions)

    def add(self, exposure: Exposure, unit: Integers) -> None:
        """unit: of each entry."""
        add_exposure(exposure, unit, self._cell_sums)

    def columns(self) -> Floats:
        """Return shape (slots, units, measures, columns)."""
        first, *others = map(self._apart, self._joint)
        undeclared, declared = first[..., 0], first[..., 1]
        commissions = _turn(self._commissions.sums, self._shape[0]).reshape(
            declared.shape
        )
        whole = np.stack([undeclared + declared, declared, commissions], axis=-1)
        columns = np.concatenate([whole, first[..., 2:], *others], axis=-1)
        return np.ascontiguousarray(np.moveaxis(columns, 0, 2))

    def _group(self, codes: Sequence[tuple[Integers, int]]) -> _Joint:
        slots, units, measures = self._shape
        cell = self._slot
        for code, width in codes:
            cell = cell * width + code
        widths = tuple(width for _, width in codes)
        width = slots * math.prod(widths)
        sums = np.zeros((units, measures, width))
        return _Joint(widths, CellSums(cell=cell, sums=sums))

    def _apart(self, joint: _Joint) -> Floats:
        """Return shape (measures, slots, units, columns), of one class after the other."""
        slots, units, measures = self._shape
        cells = np.indices(joint.widths).reshape(len(joint.widths), -1)
        belongs = [
            code == name
            for code, width in zip(cells, joint.widths, strict=True)
            for name in range(width)
        ]
        sums = _turn(joint.cell_sums.sums, slots)
        columns = sums @ np.stack(belongs, axis=1).astype(np.float64)
        return columns.reshape(measures, slots, units, len(belongs))


def _turn(sums: Floats, slots: int) -> Floats:
    """Return a row for each measure, slot and unit, in this order."""
    units, measures, width = sums.shape
    apart = sums.reshape(units, measures, slots, width // slots)
    turned = np.ascontiguousarray(apart.transpose(1, 2, 0, 3))
    return turned.reshape(measures * slots * units, width // slots)
