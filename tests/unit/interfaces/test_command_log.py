"""The audit log of commands: bounded, and without words of anybody."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from registry.interfaces.wab.command_log import CommandEntry, CommandLog

KEY, NOW = b"k" * 32, datetime(2026, 11, 24, 12, tzinfo=UTC)


def entry(at: datetime = NOW) -> CommandEntry:
    return CommandEntry(
        timestamp=at,
        command_id="cmd_1",
        method="wab.ping",
        agent_id="",
        origin="",
        status="success",
        latency_ms=0.4,
    )


def test_an_entry_has_the_members_of_the_specification(tmp_path: Path) -> None:
    CommandLog(tmp_path, KEY).write(entry())
    [line] = (tmp_path / "2026-11-24.jsonl").read_text().splitlines()
    assert {
        *("timestamp", "commandId", "method", "agentId", "origin", "status"),
        "latencyMs",
    } <= json.loads(line).keys()


@pytest.mark.parametrize(
    "command_id", [1, "7", "cmd_001", "a-9", "550e8400-e29b-41d4-a716-446655440000"]
)
def test_ids_that_hold_no_words_are_reported(
    tmp_path: Path, command_id: object
) -> None:
    assert CommandLog(tmp_path, KEY).name_command(command_id) == str(command_id)


@pytest.mark.parametrize(
    "command_id", ["divorce lawyer", "HIV_test", "a" * 128, "x_1\n", "é1", "cmd_1 2"]
)
def test_ids_that_could_hold_words_are_hashed(tmp_path: Path, command_id: str) -> None:
    name = CommandLog(tmp_path, KEY).name_command(command_id)
    assert name.startswith("hmac:")
    assert command_id not in name
    assert name != CommandLog(tmp_path, b"o" * 32).name_command(command_id)


def test_a_day_has_a_bound_and_old_days_go(tmp_path: Path) -> None:
    log = CommandLog(tmp_path, KEY, day_bytes=1_000)
    for _ in range(100):
        log.write(entry())
    assert (tmp_path / "2026-11-24.jsonl").stat().st_size < 1_300
    for days in (10, 40):
        log.write(entry(NOW + timedelta(days=days)))
    names = sorted(path.name for path in tmp_path.glob("*.jsonl"))
    assert names == ["2026-12-04.jsonl", "2027-01-03.jsonl"]


def test_a_folder_that_can_not_be_written_stops_nobody(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("no folder")
    CommandLog(place, KEY).write(entry())
