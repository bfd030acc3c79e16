"""The published logs: sound or tampered with, by the key that signs them all."""

import json
from pathlib import Path

import pytest

from tests.cli.audited import publish, run_json
from tests.unit.records.tampered import FOLDER, LOGS, write

INDEX = json.loads((FOLDER / "logs.json").read_text())


@pytest.mark.parametrize("log", INDEX["logs"], ids=lambda log: log["name"])
def test_each_log_is_judged_as_published(log: dict[str, object]) -> None:
    folder = FOLDER / str(log["name"])
    code, summary = run_json("verify", folder, "--key", INDEX["verifierKey"])
    if log["sound"]:
        assert (code, summary["verified"]) == (0, True)
        return
    assert code == 1
    assert (summary["code"], summary["entryIndex"]) == (log["code"], log["entry"])


def test_a_state_finds_what_a_whole_run_finds(tmp_path: Path) -> None:
    """Read in two runs, the second from the state that the first one saved."""
    for name in ("two_selections_of_one_ranking", "one_id_with_two_bodies"):
        (log,) = (log for log in INDEX["logs"] if log["name"] == name)
        bodies = LOGS[name]()[0].bodies
        folder, state = tmp_path / name, tmp_path / f"{name}.json"
        options = ("verify", folder, "--key", INDEX["verifierKey"], "--state", state)
        publish(folder, bodies[: log["entry"]])
        assert run_json(*options)[0] == 0
        publish(folder, bodies)
        code, summary = run_json(*options)
        assert (code, summary["code"]) == (1, log["code"])


def test_the_published_logs_are_those_of_the_script(tmp_path: Path) -> None:
    """`python -m tests.unit.records.tampered` makes them anew."""
    write(tmp_path)
    written = {p.relative_to(tmp_path): p for p in tmp_path.rglob("*") if p.is_file()}
    stored = {p.relative_to(FOLDER): p for p in FOLDER.rglob("*") if p.is_file()}
    assert written.keys() == stored.keys()
    for path, file in written.items():
        assert file.read_bytes() == stored[path].read_bytes(), path
