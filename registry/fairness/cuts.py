"""Cuts: which cell of a breakdown each dealt part of attention falls into."""

from collections.abc import Sequence

import numpy as np

from registry.fairness.arrays import Integers
from registry.fairness.tally import Cut


def cut_by_operator(names: Sequence[str]) -> Cut:
    return lambda part, items: _of_names(part.operators, names)[
        part.operator[items.rankings]
    ]


def cut_by_requested_category(names: Sequence[str]) -> Cut:
    return lambda part, items: _of_names(part.categories, names)[
        part.category[items.rankings]
    ]


def cut_by_site(cells: Integers) -> Cut:
    """cells: of each site."""
    return lambda part, items: cells[items.sites]  # noqa: ARG005 — a cut of all parts


def cut_by_item(cells: Integers) -> Cut:
    """cells: of each item, of a window in one part whose measures share their items."""
    return lambda part, items: cells  # noqa: ARG005 — see above


def _of_names(names: Sequence[str], wanted: Sequence[str]) -> Integers:
    cells = [wanted.index(name) if name in wanted else -1 for name in names]
    return np.array(cells, np.int64)
