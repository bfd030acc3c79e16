"""Archives that a dishonest registry could sign: each is refused, none does harm."""

import shutil
import sys

import duckdb
import pytest

from registry.errors import Refused
from registry.ranking.policy import DEFAULT_POLICY
from registry.reports.archive.archive_manifest import (
    LABELS,
    MANIFEST,
    SITES,
    parse_manifest,
)
from registry.reports.archive.duck import open_duck
from registry.reports.archive.reading import iterate_rankings, open_archive
from registry.reports.archive.writing import digest_file, write_manifest
from registry.usecases.reports.archived_report import report_of_archive
from tests.unit.reports.archive.archived import (
    ALGORITHM,
    KEY,
    PUBLIC,
    TERMS,
    archived,
    played,
)

DAY = "rankings/day=2026-11-20/rankings.parquet"


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    folder = tmp_path_factory.mktemp("honest") / "archive"
    return archived(folder, played(60).rows).folder


def rewrite(folder, file, query):
    """The file anew, by a query over what it was, and signed."""
    new = folder / "new.parquet"
    with duckdb.connect() as duck:
        duck.execute(f"CREATE VIEW old AS SELECT * FROM '{folder / file}'")
        duck.execute(f"COPY ({query}) TO '{new}' (FORMAT parquet, COMPRESSION zstd)")
        ((rows,),) = duck.execute(f"SELECT count(*) FROM '{new}'").fetchall()
    new.replace(folder / file)
    manifest = parse_manifest((folder / MANIFEST).read_bytes())
    for entry in manifest.files:
        entry.sha256 = digest_file(folder / entry.name)
        if entry.name == file:
            entry.rows = rows
    write_manifest(folder, manifest, KEY)


def report_of(folder):
    archive = open_archive(folder, PUBLIC)
    return report_of_archive(archive, ALGORITHM, TERMS, DEFAULT_POLICY)


RANKINGS = [
    ("no columns of ours", "SELECT 1 AS one FROM old"),
    ("a column of another type", "SELECT * REPLACE ('x' AS returned) FROM old"),
    ("a site that is null", "SELECT * REPLACE ([NULL, 101] AS returned) FROM old"),
    ("no operator", "SELECT * REPLACE (NULL AS operator) FROM old"),
    ("no key", "SELECT * REPLACE (NULL AS query_key) FROM old"),
    ("a site that is told nowhere", "SELECT * REPLACE ([7] AS returned) FROM old"),
    (
        "more eligible sites than exist",
        "SELECT * REPLACE (9223372036854775807 AS eligible) FROM old",
    ),
    (
        "an endless list",
        "SELECT * REPLACE (list_resize([101], 5000, 101) AS returned) FROM old",
    ),
    ("twice the same rows", "SELECT * FROM old UNION ALL SELECT * FROM old"),
    (
        "factors of other sites",
        "SELECT * REPLACE ([1]::SMALLINT[] AS factors) FROM old",
    ),
    ("scores that are no JSON", "SELECT * REPLACE ('[' AS scores) FROM old"),
    ("scores of no sites", 'SELECT * REPLACE (\'[{"site":"x"}]\' AS scores) FROM old'),
    (
        "a choice of a site that is told nowhere",
        "SELECT * REPLACE (7 AS chosen, 9 AS selection_index) FROM old",
    ),
]
SITE_ROWS = [
    ("a size of another kind", "SELECT * REPLACE ('huge' AS size) FROM old"),
    ("a site twice", "SELECT * FROM old UNION ALL SELECT * FROM old"),
    ("no sites", "SELECT * FROM old WHERE false"),
    ("no columns", "SELECT 1 AS one"),
    (
        "the end of time",
        "SELECT * REPLACE (TIMESTAMP '290000-01-01' AS registered_at) FROM old",
    ),
]
LABEL_ROWS = [
    ("no columns", "SELECT 1 AS one"),
    ("a size of another kind", "SELECT * REPLACE ('huge' AS size) FROM old"),
    ("nobody who told it", "SELECT * REPLACE (NULL AS told_by) FROM old"),
    ("a word twice", "SELECT * FROM old UNION ALL SELECT * FROM old"),
    ("another order", "SELECT * FROM old ORDER BY site_id DESC"),
    ("no time", "SELECT * REPLACE (NULL::TIMESTAMP AS told_at) FROM old"),
    (
        "the end of time",
        "SELECT * REPLACE (TIMESTAMP '290000-01-01' AS valid_from) FROM old",
    ),
    (
        "all of it",
        "SELECT * REPLACE ('infinity'::DOUBLE AS commission_percent) FROM old",
    ),
    ("no number", "SELECT * REPLACE ('nan'::DOUBLE AS commission_percent) FROM old"),
    (
        "independent of its chain",
        "SELECT * REPLACE ('independent' AS independence, 'a' AS chain) FROM old",
    ),
    ("a text for a day", "SELECT * REPLACE ('soon' AS observed_on) FROM old"),
]


@pytest.mark.parametrize(
    ("file", "query"),
    [
        *(pytest.param(DAY, query, id=name) for name, query in RANKINGS),
        *(pytest.param(SITES, query, id=name) for name, query in SITE_ROWS),
        *(pytest.param(LABELS, query, id=name) for name, query in LABEL_ROWS),
    ],
)
def test_it_gives_no_report(honest, tmp_path, file, query):
    shutil.copytree(honest, tmp_path / "archive")
    rewrite(tmp_path / "archive", file, query)
    with pytest.raises(Refused, match="archive_damaged"):
        report_of(tmp_path / "archive")


@pytest.mark.parametrize(
    "query", [pytest.param(query, id=name) for name, query in RANKINGS[:4]]
)
def test_its_rows_can_not_be_read(honest, tmp_path, query):
    shutil.copytree(honest, tmp_path / "archive")
    rewrite(tmp_path / "archive", DAY, query)
    with pytest.raises(Refused, match="archive_damaged"), open_duck(tmp_path) as duck:
        list(iterate_rankings(duck, open_archive(tmp_path / "archive", PUBLIC)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(
            b'"sites.parquet"', b'"../../secret"', id="a name above the folder"
        ),
        pytest.param(b'"sites.parquet"', b'"/etc/hostname"', id="an absolute name"),
        pytest.param(
            b'"from":"2026-11-20T00:00Z"', b'"from":"2026-13-40T99:99Z"', id="no minute"
        ),
        pytest.param(b'"rankings":60', b'"rankings":-1', id="fewer than none"),
        pytest.param(
            b'"rankings":60', b'"rankings":60,"more":1', id="an unknown member"
        ),
        pytest.param(
            b"fairness-archive/2", b"fairness-archive/1", id="another version"
        ),
        pytest.param(b'"files":[', b'"files":[[' + b"[" * 5000, id="depth"),
    ],
)
def test_its_manifest_is_refused(honest, old, new):
    data = (honest / MANIFEST).read_bytes()
    assert old in data
    with pytest.raises(Refused, match="archive_damaged"):
        parse_manifest(data.replace(old, new))


def test_without_duckdb_it_is_told_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)  # what an import then finds
    with pytest.raises(Refused, match="archive_needs_duckdb") as refusal:
        open_duck(tmp_path).__enter__()
    assert "make archive" in refusal.value.problem.fix
