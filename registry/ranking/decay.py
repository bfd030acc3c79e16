"""Exponential decay in whole steps, tabulated, so that a factor is looked up exactly."""

import math
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from registry.ranking.policy import FULL

Number = TypeVar("Number", bound=np.generic)


@lru_cache(maxsize=16)
def decay_table(scale: int, floor: int = 0) -> npt.NDArray[np.int64]:
    """Tabulate FULL·exp(-step/scale) for step 0, 1, …, never below floor.

    The last entry stands for every later step.
    """
    # Once FULL·exp(-step/scale) rounds to nothing, no later step differs.
    steps = math.ceil(scale * math.log(2 * FULL)) + 1
    values = (round(FULL * math.exp(-step / scale)) for step in range(steps + 1))
    table = np.array([max(floor, value) for value in values], np.int64)
    table.setflags(write=False)
    return table


def look_up(table: npt.NDArray[Number], steps: npt.NDArray[Any]) -> npt.NDArray[Number]:
    """Return the entry of each step, the last one for every later step."""
    entries: npt.NDArray[Number] = table[np.minimum(steps, len(table) - 1)]
    return entries
