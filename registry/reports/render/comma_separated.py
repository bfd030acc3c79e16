"""The report as CSV (RFC 4180): a header, then a line a figure.

UTF-8, lines end in CR LF. Numbers are as in the JSON form, nothing is rounded further.
"""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

from registry.reports.model import FairnessReport
from registry.reports.render.report_rows import rows_of
from registry.reports.row_types import Row, Value

MEDIA_TYPE = "text/csv"
COLUMNS = (
    *("path", "section", "part", "dimension", "class", "measure", "figure"),
    *("value", "low", "high", "unit", "rankings", "queries", "withheld", "definition"),
)
# What a spreadsheet takes for the start of a formula, and their full-width twins.
_FORMULA = tuple("=+-@|%\uff1d\uff0b\uff0d\uff20")
_CONTROL = ("\t", "\r", "\n")


def format_csv(report: FairnessReport) -> bytes:
    return write_csv(COLUMNS, map(_values, rows_of(report)))


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> bytes:
    """Write a table. rows: values in the order of the columns."""
    written = io.StringIO(newline="")
    lines = csv.writer(written, lineterminator="\r\n")
    lines.writerow(columns)
    lines.writerows(map(_format, row) for row in rows)
    return written.getvalue().encode()


def _values(row: Row) -> Sequence[Value]:
    part = "=".join(row.part)
    return (
        *(row.path, row.section, part, row.dimension, row.kind, row.measure),
        *(row.figure, row.value, row.low, row.high, row.unit, row.rankings),
        *(row.queries, row.withheld, row.definition),
    )


def _format(value: Value) -> str:
    """A number as it is; a text that a spreadsheet would run, after an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, str):
        return neutralise(value)
    return repr(value) if math.isfinite(value) else ""


@lru_cache(maxsize=1024)  # most cells of a report say one of a few dozen things
def neutralise(text: str) -> str:
    """Spreadsheets drop white space in front, so it hides no formula from this."""
    runs = text.startswith(_CONTROL) or text.lstrip().startswith(_FORMULA)
    return f"'{text}" if runs else text
