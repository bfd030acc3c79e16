"""Two reports in their JSON form held against each other, figure by figure."""

import math
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from registry.reports.estimate import DECIMALS

NEARLY = 1.5 * 10**-DECIMALS
"""Figures are rounded; where another machine adds up in another order, one that lies
between two last digits may be rounded to either."""

_NAMES = ("by", "dimension", "name", "measure", "over", "factor", "figure")


class Figure(NamedTuple):
    """Figure of two reports. path: such as dimensions/size/classes/small/comparisons/topOne/share/value."""

    path: str
    reported: object
    computed: object

    @property
    def differs(self) -> bool:
        reported, computed = self.reported, self.computed
        if isinstance(reported, bool) or isinstance(computed, bool):
            return reported is not computed
        if isinstance(reported, int | float) and isinstance(computed, int | float):
            return not math.isclose(reported, computed, rel_tol=1e-9, abs_tol=NEARLY)
        return reported != computed


MISSING = "(missing)"


def figures_of(reported: object, computed: object, path: str = "") -> Iterator[Figure]:
    """Yield every figure and text of either report, as parsed from JSON."""
    if isinstance(reported, Mapping) and isinstance(computed, Mapping):
        for name in dict.fromkeys((*reported, *computed)):
            pair = reported.get(name, MISSING), computed.get(name, MISSING)
            yield from figures_of(*pair, f"{path}/{name}" if path else name)
    elif isinstance(reported, list) and isinstance(computed, list):
        pairs = zip_longest(reported, computed, fillvalue=MISSING)
        for number, pair in enumerate(pairs):
            yield from figures_of(*pair, f"{path}/{_label(pair[0], number)}")
    else:
        yield Figure(path, reported, computed)


def _label(item: object, number: int) -> str:
    """An item's own name, where it has one."""
    if not isinstance(item, Mapping):
        return str(number)
    names = [str(item[name]) for name in _NAMES if name in item]
    if "by" in item:
        names.append(str(item.get("value")))
    return " ".join(names) or str(number)
