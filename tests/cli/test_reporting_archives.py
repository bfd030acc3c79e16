"""`report --archive`: the report of an archive, told or kept."""

import json
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result

from registry import keyring
from registry.cli import main
from registry.index.sources import digest_of_code
from registry.ranking.policy import DEFAULT_POLICY
from registry.reports.archive.reading import Archive
from registry.reports.render.json_object import format_json
from registry.settings import Settings
from registry.usecases.reports.archived_report import report_of_archive
from tests.unit.reports.archive.archived import ALGORITHM, TERMS, archived, played


def run(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    folder = tmp_path_factory.mktemp("archive") / "archive"
    return archived(folder, played(200).rows)


def test_the_report_is_reported_in_sentences_and_as_json(archive: Archive) -> None:
    result = run("report", "--archive", archive.folder)
    assert result.exit_code == 0, result.output
    assert "2026-11-20T00:00:00Z to 2026-11-22T00:00:00Z" in result.output
    output = json.loads(run("report", "--archive", archive.folder, "--json").stdout)
    algorithm = replace(ALGORITHM, code_digest=digest_of_code())
    built = report_of_archive(archive, algorithm, TERMS, DEFAULT_POLICY)
    assert output == json.loads(format_json(built))


def test_a_form_is_signed_by_whoever_has_the_key(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, data = tmp_path / "report.parquet", tmp_path / "data"
    keep = ("report", "--archive", archive.folder, "--form", "parquet", "--out", file)
    result = run(*keep, "--operator", "op-1")
    assert (result.exit_code, "not signed" in result.output) == (0, True)
    assert not (tmp_path / "report.parquet.jws").exists()

    settings = Settings(data=data)
    keyring.create_keyring(settings.keys, settings.log_origin)
    monkeypatch.delenv("FAIR_REGISTRY_DATA", raising=False)
    assert run(*keep, "--operator", "op-1", "--data", data).exit_code == 0
    key = keyring.load_vkey(settings.keys, keyring.PROMISE)
    check = ("audit", "report-signature", file, "--promise-key", key)
    assert run(*check).exit_code == 0
    with duckdb.connect() as duck:
        output = duck.execute(
            f"SELECT value FROM '{file}' WHERE path = 'counts/rankings'"
        ).fetchone()
    assert output == (
        sum(1 for row in played(200).rows if row.operator == "op-1" and row.returned),
    )


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    result = run("report", "--archive", tmp_path)
    assert (result.exit_code, "archive_damaged" in result.output) == (1, True)
    result = run("report", "--archive", tmp_path, "--from", "2026-11-20T00:00:00Z")
    assert result.exit_code == 2
