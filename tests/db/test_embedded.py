"""The embedded PostgreSQL: nobody else's, one for all its users, and told why it fails."""

import os
import pwd
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from registry.db.engine import bundled_postgres
from registry.db.engine.bundled_postgres import StartFailed
from registry.db.engine.embedded import EmbeddedPostgres, start_embedded
from registry.db.engine.private_files import locked

STRANGER = "nobody"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as others")


def modes_of(folders: list[Path]) -> list[int]:
    return [stat.S_IMODE(folder.stat().st_mode) for folder in folders]


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A folder that nobody else can enter, in another such."""
    outer = tmp_path_factory.mktemp("closed")
    inner = outer / "a"
    inner.mkdir()
    for folder in (outer, inner):
        folder.chmod(0o700)
    return [outer, inner]


@pytest.fixture(scope="module")
def server(closed: list[Path]) -> Iterator[EmbeddedPostgres]:
    opened = start_embedded(closed[-1] / "data")
    yield opened
    opened.close()


def query(server: EmbeddedPostgres, statement: str, user: str | None = None) -> str:
    """Ask as the user of the operating system. Raises: subprocess.CalledProcessError."""
    sockets = server.url().query["host"]
    return subprocess.run(
        [
            bundled_postgres.programs() / "psql",
            *("-h", str(sockets), "-U", "postgres", "-d", "postgres"),
            *("-XAtwc", statement),
        ],
        check=True,
        capture_output=True,
        text=True,
        user=user,
        cwd="/",
    ).stdout.strip()


def test_no_folder_is_opened_for_the_server(
    server: EmbeddedPostgres, closed: list[Path]
) -> None:
    assert server.is_running()
    assert modes_of(closed) == [0o700, 0o700]
    assert modes_of([server._folder]) == [0o700]


def test_server_believes_the_operating_system_alone(server: EmbeddedPostgres) -> None:
    rules = query(server, "SELECT type, auth_method FROM pg_hba_file_rules")
    assert rules == "local|peer"
    assert query(server, "SHOW unix_socket_permissions") == "0700"
    assert query(server, "SHOW listen_addresses") == ""


def test_a_statement_that_fails_leaves_no_row_in_the_servers_log(
    server: EmbeddedPostgres,
) -> None:
    """A row that broke a constraint stood there whole: challenges, addresses with tokens."""
    table = "CREATE TEMPORARY TABLE rows (a text CHECK (a = ''))"
    with pytest.raises(subprocess.CalledProcessError):
        query(server, f"{table}; INSERT INTO rows SELECT reverse('terces')")
    log = server._log.read_text()
    assert 'violates check constraint "rows_a_check"' in log
    assert "secret" not in log


@needs_root
def test_other_users_are_refused_even_where_they_reach_the_socket() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = start_embedded(folder)
        try:
            with pytest.raises(subprocess.CalledProcessError) as caught:
                query(server, "SELECT 1", STRANGER)
            assert "Permission denied" in caught.value.stderr
            for opened in (folder, server._folder, server._folder / ".s.PGSQL.5432"):
                opened.chmod(0o777)
            with pytest.raises(subprocess.CalledProcessError) as caught:
                query(server, "SELECT 1", STRANGER)
            assert "Peer authentication failed" in caught.value.stderr
            server._folder.chmod(0o700)
        finally:
            server.close()


def test_socket_of_a_long_path_lies_in_a_private_folder(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("long") / ("x" * 120)
    server = start_embedded(folder)
    sockets = Path(str(server.url().query["host"]))
    try:
        assert sockets != server._folder
        assert modes_of([sockets]) == [0o700]
        assert sockets.stat().st_uid == server._folder.stat().st_uid
        assert query(server, "SELECT 1") == "1"
    finally:
        server.close()
    assert not sockets.exists()


@needs_root
def test_server_of_root_runs_as_an_account_that_cannot_log_in(
    server: EmbeddedPostgres,
) -> None:
    account = bundled_postgres.account_for(server._folder)
    assert account.pw_uid == server._folder.stat().st_uid != 0
    assert account.pw_shell.endswith(("nologin", "false"))


def test_nothing_that_a_broken_off_program_started_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """initdb's own child wrote into a folder that was being removed."""
    account = pwd.getpwuid(os.getuid())
    program = tmp_path / "initdb"
    program.write_text(f"#!/bin/sh\nsleep 60 & echo $! > {tmp_path}/child\nwait\n")
    program.chmod(0o700)
    monkeypatch.setattr(bundled_postgres, "programs", lambda: tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: account.pw_uid or 1)
    with pytest.raises(StartFailed, match="initdb did not end in 1 s"):
        bundled_postgres.run("initdb", account=account, cluster=tmp_path, timeout_s=1)
    child = int((tmp_path / "child").read_text())
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie"


def test_last_user_stops_the_server(tmp_path: Path) -> None:
    first, second = start_embedded(tmp_path), start_embedded(tmp_path)
    assert first.url() == second.url()
    first.close()
    assert second.is_running()
    second.close()
    assert not second.is_running()


def test_locks_are_in_the_data_folder_and_nobody_elses(
    server: EmbeddedPostgres, closed: list[Path], tmp_path: Path
) -> None:
    locks = [*(closed[-1] / "data").glob(".postgres.*")]
    assert modes_of(locks) == [0o600, 0o600]
    (tmp_path / "elsewhere").touch()
    (tmp_path / "planted").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"), locked(tmp_path / "planted"):
        pass


def test_server_that_cannot_start_tells_its_cause_once(tmp_path: Path) -> None:
    server = start_embedded(tmp_path)
    server.close()
    server._folder.chmod(0o777)
    before = server._log.stat().st_size
    with pytest.raises(StartFailed, match="invalid permissions"):
        start_embedded(tmp_path)
    assert server._log.stat().st_size - before < 1_000
    server._folder.chmod(0o700)
    start_embedded(tmp_path).close()


def test_folder_of_another_version_is_reported_with_the_way_out(tmp_path: Path) -> None:
    server = start_embedded(tmp_path)
    server.close()
    (server._folder / "PG_VERSION").write_text("16\n")
    with pytest.raises(StartFailed, match=r"made by PostgreSQL 16.*docs/run.md"):
        start_embedded(tmp_path)
