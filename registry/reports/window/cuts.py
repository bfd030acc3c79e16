"""Cuts: the cell of a breakdown that each part of the exposure falls into."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from registry.reports.arrays import Booleans, Integers, Numbers
from registry.reports.window.columns import Rankings


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cut:
    """Cells are numbered 0 up; -1 is none of them.

    rankings: of a part, the cell of each ranking; without it all are in cell 0. items:
    the same of each item, of a window in one part whose measures share their items.
    sites: the cell of each site. Beside one of the others it only says which sites
    count: those in cell 0.
    """

    rankings: Callable[[Rankings], Integers] | None = None
    items: Integers | None = None
    sites: Integers | None = None

    def shape(self, cells: int) -> tuple[int, int]:
        """Return how many of the cells are apart by site, and how many by ranking or item."""
        by_site = self.rankings is None and self.items is None
        return (cells, 1) if by_site else (1, cells)

    def of_rankings(self, part: Rankings) -> Integers:
        if self.rankings is None:
            return np.zeros(len(part), np.int64)
        return self.rankings(part)

    def of_sites(self, count: int, cells: int) -> Integers:
        """Return the cell of each site, the number behind the last in place of -1."""
        if self.sites is None:
            return np.zeros(count, np.int64)
        return np.where(self.sites < 0, cells, self.sites).astype(np.int64)


UNCUT = Cut()


def cut_by_name(
    column: Callable[[Rankings], tuple[Sequence[str], Numbers]],
    names: Sequence[str],
    counted: Booleans | None = None,
) -> Cut:
    """column: names, and each ranking's number of one. counted: of each site, whether it counts."""

    def cells(part: Rankings) -> Integers:
        listed, numbers = column(part)
        cell = [names.index(name) if name in names else -1 for name in listed]
        return np.array(cell, np.int64)[numbers]

    return Cut(
        rankings=cells, sites=None if counted is None else np.where(counted, 0, -1)
    )


def cut_by_site(cells: Integers) -> Cut:
    """cells: of each site."""
    return Cut(sites=cells)
