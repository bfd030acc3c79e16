"""Which processes `serve` starts, and on which databases."""

import resource
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from sqlalchemy import text
from sqlalchemy.engine import URL, make_url

from registry.cli.service.database import migrate_or_exit, verify_roles
from registry.cli.service.serve import LEAST_FILES, serve
from registry.cli.service.supervise import parts_of_service
from registry.db.engine.embedded import EmbeddedPostgres
from registry.db.engine.engines import ROLES_LOG_IN, Engine
from registry.settings import Settings, as_environment
from registry.settings_reader import read_settings
from tests.ports import free_port


def test_as_many_crawlers_are_started_as_are_wanted_beside_one_of_the_others() -> None:
    parts = parts_of_service("127.0.0.1", 8080, 1, crawlers=3)
    crawlers = [part for part in parts if list(part.arguments) == ["-m", "crawler"]]
    assert len(parts) == 3 + 4
    assert len({part.name for part in parts}) == len(parts)
    assert len(crawlers) == 3


def test_who_has_witnesses_has_a_process_that_asks_them() -> None:
    asks = ["-m", "crawler.witnesses"]
    for witnessed in (False, True):
        parts = parts_of_service("127.0.0.1", 8080, 1, witnessed=witnessed)
        assert (asks in [list(part.arguments) for part in parts]) is witnessed


def test_each_of_them_is_told_how_many_there_are() -> None:
    settings = read_settings(as_environment(Settings(crawlers=3)))
    assert settings.crawler_shares == 3


@pytest.mark.parametrize("files", [64, LEAST_FILES - 1])
def test_start_with_too_few_files_is_refused_with_the_way_out(
    files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    arguments = ["--port", str(free_port()), "--data", str(tmp_path / "new")]
    run = CliRunner().invoke(serve, arguments)
    assert run.exit_code == 1
    assert f"may open {files} files" in run.output
    assert "ulimit -n" in run.output
    assert not (tmp_path / "new").exists()


def test_a_data_folder_that_can_not_be_is_named_by_its_setting(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    arguments = ["--port", str(free_port()), "--data", str(file / "data")]
    run = CliRunner().invoke(serve, arguments)
    assert run.exit_code == 1
    assert f"FAIR_REGISTRY_DATA (--data): {file}/data can't be a folder" in run.output


@pytest.fixture
async def limited(database: URL, owner: Engine) -> str:
    """The URL of a login that may do next to nothing."""
    async with owner.begin() as connection:
        await connection.execute(text("DROP ROLE IF EXISTS limited"))
        await connection.execute(text("CREATE ROLE limited LOGIN"))
    url = database.difference_update_query(ROLES_LOG_IN).set(username="limited")
    return url.render_as_string(hide_password=False)


async def test_login_that_may_not_act_for_the_parts_is_reported_with_the_way_out(
    database: URL, limited: str
) -> None:
    await verify_roles(database.render_as_string(hide_password=False))
    with pytest.raises(
        click.ClickException, match="may not act as registry_"
    ) as caught:
        await verify_roles(limited)
    assert "superuser" in caught.value.message
    assert "deploy/README.md" in caught.value.message


async def test_login_that_may_not_migrate_is_reported_in_one_line(
    postgres: EmbeddedPostgres, limited: str
) -> None:
    postgres.create_database("unmigrated")
    url = make_url(limited).set(database="unmigrated")
    with pytest.raises(click.ClickException, match="permission denied") as caught:
        await migrate_or_exit(url.render_as_string(hide_password=False))
    assert "superuser" in caught.value.message
    assert "\n" not in caught.value.message
