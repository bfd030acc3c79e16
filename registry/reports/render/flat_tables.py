"""Tables: rows put side by side, a line for each subject, a column for each figure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from registry.reports.row_types import Row, Unit, Value
from registry.reports.wording import (
    format_percent,
    format_points,
    format_rate,
    in_words,
)

_NAMED = frozenset({"reading", "kindReading", "magnitude", "parity"})
"""Figures whose values are names, to be shown as words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Figures of one subject. of: its names. cells: by column; none where withheld."""

    of: tuple[str, ...]
    queries: int | None
    cells: tuple[str, ...]
    withheld: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Lines of figures under the columns' names."""

    columns: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def counts_queries(self) -> bool:
        """Return whether lines have the number of queries that they rest on."""
        return any(line.queries is not None for line in self.lines)

    @property
    def shown(self) -> Sequence[Line]:
        """Return the lines with a figure, or that say alone why they have none."""
        folded = {line.of for _, lines in self.folded for line in lines}
        return [line for line in self.lines if line.of not in folded]

    @property
    def folded(self) -> Sequence[tuple[str, Sequence[Line]]]:
        """Return the lines that share why they are withheld, by the reason.

        A single one keeps its place: a line that speaks of one is no shorter.
        """
        by_reason: dict[str, list[Line]] = {}
        for line in self.lines:
            if line.withheld:
                by_reason.setdefault(line.withheld, []).append(line)
        return [(why, lines) for why, lines in by_reason.items() if len(lines) > 1]

    @property
    def is_total(self) -> bool:
        """Return whether all figures are of the report as a whole."""
        return [line.of for line in self.lines] == [()]


def tabulate(rows: Sequence[Row]) -> Table:
    """Return a table, columns and lines in the order in which rows first name them."""
    dimensions = {row.dimension for row in rows if row.dimension}
    columns: dict[str, None] = {}
    subjects: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows:
        columns.setdefault(row.figure)
        names = _names(row, is_ambiguous=len(dimensions) > 1)
        subjects.setdefault(names, {})[row.figure] = row
    return Table(
        columns=tuple(map(in_words, columns)),
        lines=tuple(_line(of, figures, columns) for of, figures in subjects.items()),
    )


def format_cell(row: Row) -> str:
    """Return a value with its 95% interval, an interval alone, or why there is none."""
    if row.withheld:
        return f"withheld: {row.withheld}"
    ends = f"{_number(row.low, row.unit)} to {_number(row.high, row.unit)}"
    if row.value is None:
        return "" if row.low is None else ends
    if isinstance(row.value, str):
        return in_words(row.value) if row.figure in _NAMED else row.value
    value = _number(row.value, row.unit)
    return value if row.low is None else f"{value} ({ends})"


def _names(row: Row, *, is_ambiguous: bool) -> tuple[str, ...]:
    """Return names in words; categories and parts of breakdowns as others wrote them.

    is_ambiguous: dimensions, of which each may have a class of the same name.
    """
    part = row.part if row.section == "breakdowns" else map(in_words, row.part)
    kind = row.kind or ""
    words = kind if row.dimension == "category" else in_words(kind)
    dimension = row.dimension if is_ambiguous or not words else None
    measure = in_words(row.measure or "")
    return tuple(name for name in (*part, dimension, words, measure) if name)


def _line(
    of: tuple[str, ...], figures: Mapping[str, Row], columns: Iterable[str]
) -> Line:
    first = next(iter(figures.values()))
    all_withheld = all(row.withheld for row in figures.values())
    return Line(
        of=of,
        queries=first.queries,
        cells=tuple(
            format_cell(figures[name]) if name in figures else "" for name in columns
        ),
        withheld=first.withheld if all_withheld else "",
    )


def _number(value: Value, unit: Unit) -> str:
    if not isinstance(value, int | float):
        return ""
    match unit:
        case "count":
            return f"{value:,.0f}"
        case "share":
            return format_percent(value)
        case "rate":
            return format_rate(value)
        case "points":
            return format_points(value)
        case "percent":
            return f"{value:.1f}%"
        case "ratio":
            return f"{value:.2f}"
        case _:
            return f"{value:.3f}"
