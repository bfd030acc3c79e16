"""Rows of a report, one a figure: all its forms but JSON are made from them.

A metric's cells declare which of their fields are columns, and which set a cell apart from
its neighbours; their rows follow from that. A row's path is stable: it names the figure
by section, part, dimension, class and measure, each percent-encoded, because classes
and parts may be named by others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints
from urllib.parse import quote

from registry.reports.estimate import Estimate
from registry.reports.inference.rates import Interval

Unit = Literal[
    "text",
    "count",
    "number",
    "share",
    "rate",
    "points",
    "percent",
    "ratio",
    "probability",
]
Value = float | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A figure, and what it is of; None where that does not apply.

    part: of a breakdown, such as ("operator", "acme.example"). kind: a class of sites.
    unit: share and rate (of what is rare) run 0..1, points (a gap of shares) -1..1,
    percent 0..100.
    definition: the name of one under the section `definitions`, or "".
    """

    section: str
    part: tuple[str, ...] = ()
    dimension: str | None = None
    kind: str | None = None
    measure: str | None = None
    figure: str = ""
    unit: Unit = "text"
    value: Value = None
    low: float | None = None
    high: float | None = None
    rankings: int | None = None
    queries: int | None = None
    withheld: str = ""
    definition: str = ""

    @property
    def path(self) -> str:
        subject = (self.dimension, self.kind, self.measure)
        names = (self.section, *self.part, *subject, self.figure)
        return "/".join(_quote(name) for name in names if name is not None)


class Column(NamedTuple):
    """Annotation of a cell's field that is a figure. definition: its name, or ""."""

    unit: Unit
    definition: str = ""


class Key(NamedTuple):
    """Annotation of a cell's field that says, in its rows, what they are of."""

    member: Literal["part", "dimension", "kind", "measure", "rankings", "queries"]


RankingCount = Annotated[int, Key("rankings")]
QueryCount = Annotated[int, Key("queries")]
"""Numbers that a cell's figures rest on."""


class Cells(NamedTuple):
    """Annotation of a cell's field that holds further cells, which follow its own."""


class _Layout(NamedTuple):
    keys: Sequence[tuple[str, Key]]
    columns: Sequence[tuple[str, Column]]
    cells: Sequence[str]


def cell_rows(of: Row, cell: Any) -> Iterator[Row]:
    """Yield a row for each column of a cell, then those of the cells within.

    cell: a dataclass whose fields are annotated. A figure that is neither computed nor
    withheld has no row.
    """
    layout = _layout(cell.__class__)
    for name, key in layout.keys:
        value = getattr(cell, name)
        keys: Any = {key.member: (value,) if key.member == "part" else value}
        of = replace(of, **keys)
    for name, column in layout.columns:
        members = _members(getattr(cell, name), cell)
        if members is not None:
            yield replace(of, figure=camel(name), **column._asdict(), **members)
    for name in layout.cells:
        for inner in getattr(cell, name):
            yield from cell_rows(of, inner)


def camel(name: str) -> str:
    """Return a name in snake_case as one in camelCase."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _members(value: Any, cell: Any) -> dict[str, Any] | None:
    match value:
        case None:
            return {"withheld": cell.withheld} if cell.withheld else None
        case Estimate():
            return {"value": value.value, "low": value.low, "high": value.high}
        case Interval():
            return {"low": value.low, "high": value.high}
        case _:
            return {"value": value}


@lru_cache(maxsize=64)
def _layout(kind: Any) -> _Layout:
    hints = get_type_hints(kind, include_extras=True)
    marks = [
        (field.name, mark)
        for field in fields(kind)
        for mark in getattr(hints[field.name], "__metadata__", ())
    ]
    return _Layout(
        keys=[(name, mark) for name, mark in marks if isinstance(mark, Key)],
        columns=[(name, mark) for name, mark in marks if isinstance(mark, Column)],
        cells=[name for name, mark in marks if isinstance(mark, Cells)],
    )


@lru_cache(maxsize=1024)
def _quote(name: str) -> str:
    return quote(name, safe="")
