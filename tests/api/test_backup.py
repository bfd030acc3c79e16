"""A registry's backup restores it: the log goes on, and what was answered is there."""

import contextlib
import os
import sys
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from registry.cli import main
from registry.db.engine.embedded import start_embedded
from tests.api.test_how_tos import (
    COMMAND,
    block_after,
    free_port,
    run_block,
    running,
    wait_until_ready,
)
from tests.waiting import awaited


def until_logged(origin: str, ranking_id: str) -> int:
    """Return the index of the ranking's record, once the log has it."""

    def index() -> int | None:
        leaf_index: int | None = httpx.get(f"{origin}/v1/rankings/{ranking_id}").json()[
            "leafIndex"
        ]
        return leaf_index

    return awaited(f"{ranking_id} in the log", index)


def verify(origin: str, state: Path) -> None:
    words = ["audit", "verify", "--registry", origin, "--state", str(state)]
    verified = CliRunner().invoke(main, words)
    assert verified.exit_code == 0, verified.output


@pytest.mark.slow
def test_the_backup_of_a_running_registry_restores_it(tmp_path: Path) -> None:
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    serve = [str(COMMAND), "serve", "--port", str(port), "--data"]
    state, first, second = (tmp_path / name for name in ("state.json", "a", "b"))
    first.mkdir()
    (tmp_path / ".venv").symlink_to(sys.prefix)
    with running([*serve, str(first)], {**os.environ}, tmp_path / "first.log"):
        wait_until_ready(origin, tmp_path / "first.log")
        ranking = httpx.get(f"{origin}/v1/search?q=bread").json()["ranking"]["id"]
        index = until_logged(origin, ranking)
        verify(origin, state)
        backup = block_after("run.md", "Running, with the tools")
        run_block(backup + "\necho $PG > pg", tmp_path, DATA=str(first))
    for name in ("registry.dump", "roles.sql", "keys.tar.gz"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0

    with contextlib.closing(start_embedded(tmp_path / "elsewhere")) as server:
        url = server.url("fair_registry")
        programs = (tmp_path / "pg").read_text().strip()
        place = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PGHOST": str(url.query["host"]),
            "PGUSER": "postgres",
        }
        restore = block_after("run.md", "## Restore")
        run_block(restore, tmp_path, DATA=str(second), **place)
        shown = url.render_as_string(hide_password=False)
        environment = {**os.environ, "FAIR_REGISTRY_DATABASE_URL": shown}
        with running([*serve, str(second)], environment, tmp_path / "second.log"):
            wait_until_ready(origin, tmp_path / "second.log")
            assert until_logged(origin, ranking) == index
            verify(origin, state)
