"""Rows put side by side: a table has a line for each thing, a column for each figure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from registry.fairness.forms.rows import Row, Unit, Value

_WORD = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Z])|_")
_WORDS: Mapping[str, str] = {
    "noDifferenceShown": "no difference shown",
    "awrf": "AWRF",
    "ndkl": "NDKL",
    "gini": "Gini",
    "hhi": "HHI",
    "pValue": "p",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """of: the names of the thing. cells: by column; none where `withheld` says why."""

    of: tuple[str, ...]
    queries: int | None
    cells: tuple[str, ...]
    withheld: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """counts_queries: whether a line tells the queries that it rests on."""

    columns: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def counts_queries(self) -> bool:
        return any(line.queries is not None for line in self.lines)

    @property
    def is_of_one(self) -> bool:
        """All its figures are of the report as a whole."""
        return [line.of for line in self.lines] == [()]


def tabulate(rows: Iterable[Row]) -> Table:
    """Columns and lines in the order in which the rows first name them."""
    told = list(rows)
    dimensions = {row.dimension for row in told if row.dimension}
    columns: dict[str, None] = {}
    things: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in told:
        columns.setdefault(row.figure)
        names = _names(row, is_one_of_several=len(dimensions) > 1)
        things.setdefault(names, {})[row.figure] = row
    return Table(
        columns=tuple(map(in_words, columns)),
        lines=tuple(_line(of, told, columns) for of, told in things.items()),
    )


def in_words(name: str) -> str:
    """eligibleShare: eligible share."""
    return _WORDS.get(name) or _WORD.sub(" ", name).lower()


def spell_cell(row: Row) -> str:
    """A value with its 95% interval, an interval alone, or why there is none."""
    if row.withheld:
        return f"withheld: {row.withheld}"
    ends = f"{_number(row.low, row.unit)} to {_number(row.high, row.unit)}"
    if row.value is None:
        return "" if row.low is None else ends
    if isinstance(row.value, str):
        return in_words(row.value) if row.figure == "reading" else row.value
    told = _number(row.value, row.unit)
    return told if row.low is None else f"{told} ({ends})"


def _names(row: Row, *, is_one_of_several: bool) -> tuple[str, ...]:
    """Ours in words; categories and parts of breakdowns as others wrote them.

    is_one_of_several: dimensions, of which each may have a class of the same name.
    """
    part = row.part if row.section == "breakdowns" else map(in_words, row.part)
    kind = row.kind or ""
    told = kind if row.dimension == "category" else in_words(kind)
    dimension = row.dimension if is_one_of_several or not told else None
    measure = in_words(row.measure or "")
    return tuple(one for one in (*part, dimension, told, measure) if one)


def _line(of: tuple[str, ...], told: Mapping[str, Row], columns: Iterable[str]) -> Line:
    first = next(iter(told.values()))
    all_withheld = all(row.withheld for row in told.values())
    return Line(
        of=of,
        queries=first.queries,
        cells=tuple(spell_cell(told[name]) if name in told else "" for name in columns),
        withheld=first.withheld if all_withheld else "",
    )


def _number(value: Value, unit: Unit) -> str:
    if not isinstance(value, int | float):
        return ""
    match unit:
        case "count":
            return f"{value:,.0f}"
        case "share":
            return f"{100 * value:.1f}%"
        case "rate":
            return f"{100 * value:.2g}%"
        case "points":
            return f"{round(100 * value, 2) + 0.0:+.2f}"  # no negative zero
        case "percent":
            return f"{value:.1f}%"
        case "ratio":
            return f"{value:.2f}"
        case _:
            return f"{value:.3f}"
