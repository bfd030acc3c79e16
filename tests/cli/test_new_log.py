"""A registry that has begun a new log, as its auditors meet it; docs/run.md has the way."""

from dataclasses import replace
from pathlib import Path

import pytest

from registry.bench.verification import write_log
from registry.tlog.note import format_vkey
from tests.cli.audited import SIGNER, VKEY, publish, run, run_json
from tests.unit.records.history import History

NEW = replace(SIGNER, name="registry.example/2")


@pytest.fixture
def old_state(tmp_path: Path) -> Path:
    """What an auditor has of the old log."""
    old = publish(tmp_path / "old", History().begin().bodies)
    state = tmp_path / "state.json"
    assert run("verify", old, "--key", VKEY, "--state", state).exit_code == 0
    return state


@pytest.fixture
def new(tmp_path: Path) -> Path:
    folder = tmp_path / "new"
    folder.mkdir()
    write_log(folder, iter(History().begin().bodies), NEW)
    return folder


def test_a_state_of_the_old_log_names_both_and_stays(
    old_state: Path, new: Path
) -> None:
    before = old_state.read_bytes()
    code, output = run_json("verify", new, "--key", VKEY, "--state", old_state)
    assert (code, output["code"]) == (1, "log_checkpoint_invalid")
    assert output["detail"] == (
        f"checkpoint: it is of the log {NEW.name}; {SIGNER.name} is followed with this key"
    )
    assert old_state.read_bytes() == before


def test_the_new_log_is_followed_by_its_own_key_and_state(
    old_state: Path, new: Path
) -> None:
    key = format_vkey(NEW.verifier_key)
    state = old_state.with_name("state-2.json")
    done = run("verify", new, "--key", key, "--state", state)
    assert done.exit_code == 0, done.output


def test_a_log_without_a_checkpoint_may_wait_for_its_witnesses(
    new: Path, tmp_path: Path
) -> None:
    (new / "checkpoint").unlink()
    code, output = run_json("verify", new, "--key", format_vkey(NEW.verifier_key))
    assert (code, output["code"]) == (1, "log_part_missing")
    assert "witnesses" in output["detail"]
