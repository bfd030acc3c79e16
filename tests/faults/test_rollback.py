"""A database restored from a backup: no way in lets it go on with its log."""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy.engine import URL

from registry import keyring
from registry.db.engine.embedded import EmbeddedPostgres
from registry.db.engine.engines import Engine, Role
from registry.db.log import entries as log
from registry.records.record import Record
from registry.settings import Settings, as_environment
from registry.sites.identifier import ULID_LENGTH, encode_base32
from tests.faults.test_damage import refusal_of, start_publisher
from tests.ports import free_port
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


async def test_backup_that_is_older_than_the_log_is_refused_by_every_way_in(
    database: URL,
    postgres: EmbeddedPostgres,
    owner: Engine,
    engines: dict[Role, Engine],
    tmp_path: Path,
) -> None:
    settings = Settings(data=tmp_path, port=free_port(), database_url=shown(database))
    keyring.create_keyring(settings.keys, settings.log_origin)
    old_size = await published(settings, owner, engines, range(3))
    for engine in (owner, *engines.values()):
        await engine.dispose()
    postgres.create_database("backup", str(database.database))
    size = await published(settings, owner, engines, range(3, 10))

    restored = replace(settings, database_url=shown(postgres.url("backup")))
    reason = f"has {old_size} entries of the log and {size} were published"
    assert reason in await refusal_of(restored)
    code, output = await run(restored, ["serve"])
    assert (code, reason in output) == (1, True), output
    assert "docs/run.md" in output
    assert "Traceback" not in output
    code, output = await run(restored, ["doctor", "--json"])
    findings = {item["area"]: item for item in json.loads(output)["findings"]}
    assert (code, findings["log"]["state"]) == (1, "act")
    assert reason in findings["log"]["detail"]
    assert "begin a new log" in findings["log"]["fix"]


async def test_a_new_log_begins_with_the_commands_of_the_how_to(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "run.md").read_text()
    block = page.partition("## Begin a new log")[2].partition("```bash\n")[2]
    (tmp_path / ".venv").symlink_to(sys.prefix)
    new = {"NEW_NAME": "registry.example/2", "NEW_DATA": str(tmp_path / "data-2")}
    process = await asyncio.create_subprocess_exec(
        *("bash", "-euo", "pipefail", "-c", block.partition("```")[0]),
        cwd=tmp_path,
        env={
            **os.environ,
            **new,
            "FAIR_REGISTRY_PUBLIC_URL": "https://registry.example",
        },
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    key = (tmp_path / "data-2" / "keys" / "log.vkey").read_text().strip()
    assert (process.returncode, key in output.decode()) == (0, True), output
    assert key.startswith("registry.example/2+")


async def published(
    settings: Settings, owner: Engine, engines: dict[Role, Engine], numbers: range
) -> int:
    """Return the size of the log once a publisher has published these records too."""
    async with engines[Role.API].begin() as connection:
        for number in numbers:
            record = Record(
                id=encode_base32(number, ULID_LENGTH),
                kind="ranking",
                body=b'{"i":%d}' % number,
            )
            await log.accept(connection, record, datetime.now(UTC))
    publisher = await start_publisher(settings)

    async def nothing_waits() -> bool:
        async with owner.connect() as connection:
            return (await log.read_times(connection)).oldest_pending is None

    await until("all of them are published", nothing_waits)
    publisher.terminate()
    assert await publisher.wait() == 0
    async with owner.connect() as connection:
        newest = await log.latest_checkpoint(connection)
    assert newest
    return newest.size


async def run(settings: Settings, arguments: Sequence[str]) -> tuple[int | None, str]:
    """Return the exit code of a command that ends by itself, and what it prints."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "registry", *arguments),
        env={**os.environ, **as_environment(settings), "COLUMNS": "400"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(PATIENCE_S):
        output, _ = await process.communicate()
    return process.returncode, output.decode()


def shown(url: URL) -> str:
    return url.render_as_string(hide_password=False)
