"""Metric: all that a report says of one thing, declared together in one file.

`metrics` has a file for each: how it is computed from the basis, the cells in which it
is published, what its figures mean, its sentences and its drawings. `metrics.table`
lists them; rows, forms and pages are made from the list.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Generic, Protocol, TypeVar

from registry.reports.estimate import Estimate
from registry.reports.inference.rates import Interval
from registry.reports.report_survey import Basis, Survey
from registry.reports.row_types import Row, camel, cell_rows
from registry.reports.window.classes import Classes

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class BarInput:
    """Figure behind one bar. expected: what a diamond marks; None for no diamond.

    band: where chance would put it. is_finding: it is more than chance.
    """

    label: str
    estimate: Estimate
    expected: float | None = None
    band: Interval | None = None
    is_finding: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartInput:
    """Bars of one drawing. whole: the value that stands for 100%.

    is_of_gaps: the values are gaps of shares, on either side of zero.
    """

    title: str = ""
    bars: Sequence[BarInput]
    whole: float = 1.0
    is_of_gaps: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Section of the page. tables: rows by caption; "": the title is the caption.

    leads: its drawings stand at the head of the page.
    """

    title: str = ""
    tables: Mapping[str, Sequence[Row]]
    sentence: str = ""
    charts: Sequence[ChartInput] = ()
    leads: bool = False


class Judged(Protocol):
    """Cell with a verdict: the reading, or why it is withheld."""

    @property
    def withheld(self) -> str: ...

    @property
    def reading(self) -> str | None: ...

    @property
    def kind_reading(self) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metric(Generic[Value]):
    """Declaration of one metric. Value: a cell, or a tuple of cells.

    name: of the report's member, in snake_case. definitions: meanings by figure.
    classes: of sites, to be summed beside those that all metrics share.
    sentences: for the report's summary. findings: of what is amiss, for its head;
    none of a fair window, but for chance. comparisons: those of its cells that carry a
    reading, over which the report as a whole may err. panels: of the page, from the
    value and its rows; without them the title stands over one table.
    more_rows: of what the cells can't annotate. of: the type of the value, where that of
    `measure` does not say it.
    """

    name: str
    title: str = ""
    measure: Callable[[Basis], Value]
    definitions: Mapping[str, str] = field(default_factory=dict)
    classes: Callable[[Survey], Sequence[Classes]] = lambda _: ()
    sentences: Callable[[Value], Iterable[str]] = lambda _: ()
    findings: Callable[[Value], Iterable[str]] = lambda _: ()
    comparisons: Callable[[Value], Iterable[Judged]] = lambda _: ()
    more_rows: Callable[[Row, Value], Iterable[Row]] = lambda _of, _value: ()
    panels: Callable[[Value, Sequence[Row]], Iterable[Panel]] | None = None
    of: Any = None

    def rows(self, value: Value) -> list[Row]:
        """Return a row for each figure of the cells, in the order of the cells."""
        of = Row(section=camel(self.name))
        cells: Any = (value,) if is_dataclass(value) else value
        rows = [row for cell in cells for row in cell_rows(of, cell)]
        return [*rows, *self.more_rows(of, value)]

    def lay_out(self, value: Value) -> Iterable[Panel]:
        """Return the sections of the page."""
        rows = self.rows(value)
        if self.panels is None:
            return [Panel(title=self.title, tables={"": rows})]
        return self.panels(value, rows)
