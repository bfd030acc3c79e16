"""Lookup of the rows that have a key, without looking at all of them."""

from dataclasses import dataclass

import numpy as np

from registry.index.columns.runs import Integers, starts_of


@dataclass(frozen=True, slots=True)
class Lookup:
    """keys: ascending. rows: parallel, their numbers."""

    keys: Integers
    rows: Integers

    @classmethod
    def of(cls, keys: Integers) -> "Lookup":
        """keys: one a row."""
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], order)

    def find(self, wanted: Integers) -> Integers:
        """The rows of each of the keys; asked: distinct."""
        first = np.searchsorted(self.keys, wanted, side="left")
        lengths = np.searchsorted(self.keys, wanted, side="right") - first
        starts = starts_of(lengths)
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        rows: Integers = self.rows[np.repeat(first, lengths) + within]
        return rows
