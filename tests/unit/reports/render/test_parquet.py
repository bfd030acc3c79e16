"""The Parquet form: read back, column by column, by a reader that is not ours."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.reports.render.parquet import COLUMNS, format_parquet, write_table
from registry.reports.render.report_rows import rows_of
from registry.reports.row_types import Row
from tests.unit.reports.render import reports

NAMES = [column.name for column in COLUMNS]


def read(form: bytes, folder: Path) -> list[dict[str, Any]]:
    file = folder / "report.parquet"
    file.write_bytes(form)
    with duckdb.connect() as duck:
        rows = duck.execute(f"SELECT * FROM read_parquet('{file}')").fetchall()
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


def cells_of(rows: list[Row]) -> list[dict[str, Any]]:
    return [{column.name: column.cell(row) for column in COLUMNS} for row in rows]


def test_every_figure_comes_back_as_it_was(tmp_path: Path) -> None:
    report = reports.fair()
    rows = list(rows_of(report))
    result = read(format_parquet(report), tmp_path)
    assert result == cells_of(rows)
    assert len(result) > 500
    [line] = [
        difference
        for difference in result
        if difference["path"] == "dimensions/size/micro/selected/gap"
    ]
    assert (line["class"], line["unit"], line["text"]) == ("micro", "points", None)
    assert line["low"] <= line["value"] <= line["high"]


def test_columns_have_types(tmp_path: Path) -> None:
    file = tmp_path / "report.parquet"
    file.write_bytes(format_parquet(reports.fair()))
    with duckdb.connect() as duck:
        rows = duck.execute(f"DESCRIBE SELECT * FROM '{file}'").fetchall()
    kinds = {name: kind for name, kind, *_ in rows}
    assert list(kinds) == NAMES
    assert {name for name, kind in kinds.items() if kind == "DOUBLE"} == {
        *("value", "low", "high")
    }
    assert {name for name, kind in kinds.items() if kind == "BIGINT"} == {
        *("rankings", "queries")
    }


def test_the_same_report_gives_the_same_bytes() -> None:
    assert format_parquet(reports.fair()) == format_parquet(reports.fair())


@pytest.mark.parametrize("count", [0, 1, 2, 127, 128, 300])
def test_any_number_of_rows_comes_back(count: int, tmp_path: Path) -> None:
    rows = [
        Row(section=f"s{number}", value=number if number % 3 else None, low=0.5)
        for number in range(count)
    ]
    assert read(write_table(COLUMNS, rows), tmp_path) == cells_of(rows)


@given(
    st.lists(
        st.builds(
            Row,
            section=st.text(st.characters(exclude_categories=["Cs"])),
            value=st.one_of(
                st.none(),
                st.floats(),
                st.integers(-(2**53), 2**53),
                st.text(st.characters(exclude_categories=["Cs"])),
            ),
            queries=st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
        ),
        max_size=40,
    )
)
def test_any_value_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row]
) -> None:
    result = read(write_table(COLUMNS, rows), tmp_path_factory.mktemp("parquet"))
    assert result == cells_of(rows)


def test_what_is_no_number_is_no_value() -> None:
    row = Row(section="s", value=float("nan"))
    [value] = [column.cell(row) for column in COLUMNS if column.name == "value"]
    assert value is None
    assert replace(row, value=1.0).value == 1.0
