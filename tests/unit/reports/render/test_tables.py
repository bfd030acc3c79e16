"""Tables hold each figure once, under a name that tells what it is of."""

from itertools import groupby
from typing import Any

import pytest

from registry.reports.render.flat_tables import in_words, tabulate
from registry.reports.render.report_rows import rows_of
from registry.reports.row_types import Row
from tests.unit.reports.render import reports


def sections(report: Any) -> list[list[Row]]:
    """As the page puts them into tables."""
    rows = sorted(rows_of(report), key=lambda row: row.section)
    tables = groupby(
        rows, lambda row: (row.section, row.section == "breakdowns" and row.part)
    )
    return [[*several] for _, several in tables]


@pytest.mark.parametrize("make", reports.REPORTS)
def test_no_figure_takes_the_place_of_another(make: Any) -> None:
    """Several dimensions have a class of the same name, such as unknown."""
    for rows in sections(make()):
        filled = [cell for line in tabulate(rows).lines for cell in line.cells if cell]
        telling = [row for row in rows if row.value != "" or row.withheld]
        assert len(filled) == len(telling), rows[0].path


def test_classes_of_one_name_are_told_apart() -> None:
    rows = [row for row in rows_of(reports.fair()) if row.section == "merit"]
    names = [line.of for line in tabulate(rows).lines]
    assert ("size", "unknown") in names
    assert ("independence", "unknown") in names


def test_a_table_of_one_dimension_does_not_repeat_it() -> None:
    rows = [
        row
        for row in rows_of(reports.fair())
        if row.section == "dimensions" and row.dimension == "size"
    ]
    assert ("micro", "selected") in [line.of for line in tabulate(rows).lines]


@pytest.mark.parametrize(
    ("section", "is_total"),
    [("terms", True), ("ties", True), ("concentration", False)],
)
def test_what_is_of_the_whole_report_is_known(section: str, is_total: bool) -> None:
    rows = [row for row in rows_of(reports.fair()) if row.section == section]
    assert tabulate(rows).is_total is is_total


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("eligibleShare", "eligible share"),
        ("capability_depth", "capability depth"),
        ("rank10", "rank 10"),
        ("under30Days", "under 30 days"),
        ("hhi", "HHI"),
        ("pValue", "p"),
        ("", ""),
    ],
)
def test_names_are_reported_in_words(name: str, words: str) -> None:
    assert in_words(name) == words
