"""Measures: what a ranking deals out to sites, and the names it is published under."""

from collections.abc import Mapping
from typing import Literal

from registry.reports.window.aggregate import (
    CHOSEN,
    ELIGIBLE,
    LOGARITHMIC,
    PERSISTENCE,
    RANK_BIASED,
    SELECTED,
    TOP_RESULT,
)

Measure = Literal[
    "eligible", "logarithmic", "rankBiased", "topOne", "selected", "selectedGivenRank"
]

COMPARED: Mapping[int, Measure] = {
    LOGARITHMIC: "logarithmic",
    RANK_BIASED: "rankBiased",
    TOP_RESULT: "topOne",
    SELECTED: "selected",
}
JUDGED: Mapping[int, Measure] = {**COMPARED, CHOSEN: "selectedGivenRank"}
WEIGHTED: Mapping[int, Measure] = {ELIGIBLE: "eligible", **COMPARED}

FORMULAS: Mapping[int, str] = {
    LOGARITHMIC: "1 / log2(1 + rank)",
    RANK_BIASED: f"{PERSISTENCE} ** (rank - 1)",
    TOP_RESULT: "1 at rank 1, else 0",
}
