"""The CSV form: read back by any reader, run by none."""

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.reports.render.comma_separated import COLUMNS, format_csv, neutralise
from registry.reports.render.report_rows import rows_of
from tests.unit.reports.render import reports

STARTS_OF_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


def read(form: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(form.decode(), newline=""), strict=True))


def test_a_line_is_a_figure() -> None:
    report = reports.fair()
    lines = read(format_csv(report))
    assert tuple(lines[0]) == COLUMNS
    assert [line["path"] for line in lines] == [row.path for row in rows_of(report)]


def test_a_figure_stands_with_its_interval_as_in_the_report() -> None:
    report = reports.fair()
    [line] = [
        line
        for line in read(format_csv(report))
        if line["path"] == "dimensions/size/micro/selected/gap"
    ]
    cell = reports.chosen_of_micro(report)
    assert cell.gap is not None
    output = [float(line[name]) for name in ("value", "low", "high")]
    assert output == [cell.gap.value, cell.gap.low, cell.gap.high]
    assert (line["unit"], line["definition"]) == ("points", "gap")
    assert (line["class"], line["queries"]) == ("micro", str(cell.queries))


def test_lines_end_as_rfc_4180_says() -> None:
    form = format_csv(reports.fair())
    assert form.endswith(b"\r\n")
    assert form.count(b"\n") == form.count(b"\r\n")


def test_the_same_report_gives_the_same_bytes() -> None:
    assert format_csv(reports.fair()) == format_csv(reports.fair())


@pytest.mark.parametrize("make", reports.REPORTS)
def test_no_cell_is_a_formula(make: Any) -> None:
    for line in read(format_csv(make())):
        for name, cell in line.items():
            if name in {"value", "low", "high"} and _is_number(cell):
                continue
            assert not cell.startswith(STARTS_OF_FORMULAS), line["path"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("=1+1", "'=1+1", id="equals"),
        pytest.param("+1", "'+1", id="plus"),
        pytest.param("-1", "'-1", id="minus"),
        pytest.param("@SUM(A1)", "'@SUM(A1)", id="at"),
        pytest.param("\t=1", "'\t=1", id="tab"),
        pytest.param("\rx", "'\rx", id="carriage return"),
        pytest.param("\nx", "'\nx", id="line feed"),
        pytest.param("  =1", "'  =1", id="behind spaces"),
        pytest.param("\u00a0=1", "'\u00a0=1", id="behind a no-break space"),
        pytest.param("\uff1d1", "'\uff1d1", id="full width"),
        pytest.param("a=1", "a=1", id="inside"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_what_a_spreadsheet_would_run_is_text(text: str, expected: str) -> None:
    assert neutralise(text) == expected


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_any_text_starts_no_formula_and_is_kept(text: str) -> None:
    output = neutralise(text)
    assert not output.startswith(STARTS_OF_FORMULAS)
    assert output.removeprefix("'") == text.removeprefix("'")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
