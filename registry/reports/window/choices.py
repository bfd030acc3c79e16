"""Choices by rank: what agents would take of the lists shown, by the ranks alone.

The odds of each rank are those under which lists with a choice would bring as many
choices to each rank as were reported (the maximum of the likelihood, by Hunter 2004).
"""

from collections.abc import Iterable

import numpy as np

from registry.reports.arrays import Floats, Integers
from registry.reports.window.columns import Rankings

_ROUNDS = 100


def choice_ranks(part: Rankings) -> Integers:
    """Return the rank of each ranking's choice, 0 up; -1 where it was not shown."""
    counts = part.returned_counts.astype(np.int64)
    ranking = np.repeat(np.arange(len(part)), counts)
    hits = np.flatnonzero(part.returned == part.chosen[ranking])
    ranks = np.full(len(part), -1)
    ranks[ranking[hits]] = hits - (np.cumsum(counts) - counts)[ranking[hits]]
    return ranks


def rank_odds(parts: Iterable[Rankings]) -> Floats:
    """Return the odds of a choice by rank, with sum 1; empty where there is none."""
    chosen, lists = np.zeros(0), np.zeros(0)
    for part in parts:
        ranks = choice_ranks(part)
        is_shown = ranks >= 0
        chosen = _add(chosen, np.bincount(ranks[is_shown]))
        lists = _add(lists, np.bincount(part.returned_counts[is_shown]))
    depth = max(0, len(lists) - 1)
    chosen, odds = _add(np.zeros(depth), chosen), np.full(depth, 1 / max(1, depth))
    for _ in range(_ROUNDS if depth else 0):
        per_odds = lists[1:] / np.maximum(np.cumsum(odds), np.finfo(float).tiny)
        odds = chosen / np.maximum(np.cumsum(per_odds[::-1])[::-1], 1e-300)
        odds /= odds.sum()
    return odds


def _add(sums: Floats, further: Integers | Floats) -> Floats:
    whole = np.zeros(max(len(sums), len(further)))
    whole[: len(sums)] = sums
    whole[: len(further)] += further
    return whole
