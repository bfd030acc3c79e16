"""Which rows have a key, without looking at all of them."""

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

    def find(self, asked: Integers) -> Integers:
        """The rows of each of the keys; asked: distinct."""
        first = np.searchsorted(self.keys, asked, side="left")
        lengths = np.searchsorted(self.keys, asked, side="right") - first
        starts = starts_of(lengths)
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        found: Integers = self.rows[np.repeat(first, lengths) + within]
        return found
