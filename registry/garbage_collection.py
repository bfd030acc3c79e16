"""Cyclic garbage collection, made rarer: what is made here by the million has no cycles.

A module of its own, since the commands' start can't afford the imports of `process`.
"""

import gc

_THRESHOLDS = (50_000, 20, 100)


def raise_thresholds() -> None:
    """Save a tenth of the start of `audit reproduce`."""
    gc.set_threshold(*_THRESHOLDS)


def collect_less_often() -> None:
    """Raise the thresholds, and exempt all present objects from the search.

    A report of 300,000 rankings takes a quarter more time at Python's own thresholds.
    """
    gc.collect()
    gc.freeze()
    raise_thresholds()
