"""docs/archive.md: the columns and statements that it has are those that there are."""

import re
from pathlib import Path

import duckdb
import pytest

from registry.reports.archive import archive_rows as rows
from registry.reports.archive import label_rows, site_rows
from registry.reports.archive.archive_rows import read_logged
from tests.unit.reports.archive.archived import archived, played

PAGE = (Path(__file__).parents[4] / "docs" / "archive.md").read_text()
STATEMENTS = re.findall(r"^```sql\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def town():
    return played(60)


@pytest.fixture(scope="module")
def folder(town, tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive") / "october"
    archived(folder, town.rows)
    return folder


def test_every_column_is_explained():
    named = set(re.findall(r"`([a-z_]+)`", PAGE))
    assert {*rows.TYPES, *site_rows.TYPES, *label_rows.TYPES} <= named


@pytest.mark.parametrize(
    ("files", "types"),
    [
        pytest.param("rankings/*/*.parquet", rows.TYPES, id="rankings"),
        pytest.param("sites.parquet", site_rows.TYPES, id="sites"),
        pytest.param("labels.parquet", label_rows.TYPES, id="labels"),
    ],
)
def test_columns_have_the_types_that_are_reported(folder, files, types):
    with duckdb.connect() as duck:
        result = duck.execute(
            f"DESCRIBE SELECT * FROM read_parquet('{folder}/{files}', "
            "hive_partitioning = false)"
        ).fetchall()
    assert {name: kind for name, kind, *_ in result} == dict(types)


def test_the_statements_give_what_is_told(folder, town):
    by_size, digests = (
        statement.replace("october", str(folder)) for statement in STATEMENTS
    )
    with duckdb.connect() as duck:
        result = duck.execute(by_size).fetchall()
        assert sum(count for *_, count in result) == sum(
            bool(row.returned) for row in town.rows
        )
        *_, select = digests.split(";\n", 1)
        duck.execute(digests.split(";\n", 1)[0])
        output = duck.execute(select).fetchall()
    assert len(output) > 50
    for index, digest in output:
        assert digest in read_logged(town.bodies[index]).sd
