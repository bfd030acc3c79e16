"""Sums of exposure: what measures give to sites, added up by unit and by cell."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from registry.reports.arrays import Floats, Integers, Numbers


class Exposure(NamedTuple):
    """Exposure by measure of sites that rankings list, an entry for each of them.

    rankings: of a part. amounts: by measure, what the site of the entry gets.
    """

    rankings: Integers
    sites: Numbers
    amounts: Mapping[int, Floats]


class CellSums(NamedTuple):
    """Cells that are counted jointly, as many in each unit and measure.

    cell: of each site. sums: shape (units, measures, cells). percent: of each site, what
    its amounts are multiplied by.
    """

    cell: Integers
    sums: Floats
    percent: Floats | None = None


def add_exposure(
    exposure: Exposure, unit: Integers, cell_sums: Sequence[CellSums]
) -> None:
    """Add to all the sums, one entry after the other. unit: of each entry."""
    sites = exposure.sites.astype(np.int64)  # as NumPy looks them up
    for joint in cell_sums:
        _, measures, width = joint.sums.shape
        cells = unit * (measures * width)
        cells += joint.cell[sites]
        sums = joint.sums.reshape(-1)
        for measure, amounts in exposure.amounts.items():
            weighed = (
                amounts if joint.percent is None else amounts * joint.percent[sites]
            )
            np.add.at(sums[measure * width :], cells, weighed)
