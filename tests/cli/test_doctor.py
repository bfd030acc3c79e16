"""`fair-registry doctor`: what stands well, and what must be done."""

import json
import socket
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from registry import keyring
from registry.cli.service import doctor
from registry.cli.service.doctor import Finding, examine_machine, examine_server
from registry.db.engine.engines import Connection, Engine
from registry.db.log.entries import LogTimes
from registry.ranking.policy import POLICIES
from registry.settings import Settings
from registry.tlog.edge import TreeEdge
from registry.usecases.log.sequence import LogDamaged
from tests.ports import free_port


def by_area(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.area: finding for finding in findings}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(data=tmp_path, port=free_port())
    keyring.create_keyring(settings.keys, settings.log_origin)
    return settings


def test_new_installation_has_nothing_that_must_be_done(tmp_path: Path) -> None:
    environment = {
        "FAIR_REGISTRY_DATA": str(tmp_path / "new"),
        "FAIR_REGISTRY_PORT": str(free_port()),
    }
    run = CliRunner().invoke(doctor.doctor, ["--json"], env=environment)
    findings = json.loads(run.output)["findings"]
    areas = {finding["area"]: finding["state"] for finding in findings}
    assert areas.keys() == {"compiled", "encoder", "keys", "port", "database"}
    assert "act" not in areas.values()
    assert run.exit_code == 0
    assert not (tmp_path / "new").exists(), "it only looks"
    shown = CliRunner().invoke(doctor.doctor, env=environment)
    assert "fair-registry serve" in shown.output


def test_encoder_is_named_and_must_be_that_of_the_policy(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    static = replace(settings, encoder="static")
    assert "static" in by_area([*examine_machine(static)])["encoder"].detail
    wanted = replace(static.policy, encoder_digest="sha256:other")
    monkeypatch.setitem(POLICIES, "static", wanted)
    finding = by_area([*examine_machine(static)])["encoder"]
    assert (finding.state, "another encoder" in finding.detail) == ("act", True)


def test_keys_that_others_can_read_must_be_closed(settings: Settings) -> None:
    assert by_area([*examine_machine(settings)])["keys"].state == "good"
    key = settings.keys / "log.pem"
    key.chmod(0o640)
    (finding,) = (
        finding for finding in examine_machine(settings) if finding.area == "keys"
    )
    assert (finding.state, finding.fix) == ("act", f"chmod 600 {key}")


def test_port_that_another_program_holds_is_reported(settings: Settings) -> None:
    with socket.socket() as other:
        other.bind((settings.host, settings.port))
        finding = by_area([*examine_machine(settings)])["port"]
    assert finding.state == "act"
    assert "not answer as a registry" in finding.detail


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ({"status": "ready", "anonymous": "answered"}, "good"),
        ({"detail": "crawler: none has shown work yet", "fix": "start it"}, "act"),
        ([], "act"),
    ],
)
def test_registry_that_runs_there_is_asked_whether_it_is_ready(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, answer: object, state: str
) -> None:
    reply = httpx.Response(200, json=answer)
    monkeypatch.setattr(httpx, "get", lambda *_, **__: reply)
    with socket.socket() as running:
        running.bind((settings.host, settings.port))
        assert by_area([*examine_machine(settings)])["port"].state == state


async def test_server_schema_clock_roles_and_log_are_reported(owner: Engine) -> None:
    findings = by_area([finding async for finding in examine_server(owner)])
    assert findings.keys() == {"database", "schema", "clock", "roles", "log"}
    del findings["log"]  # other tests leave records behind
    assert {finding.state for finding in findings.values()} == {"good"}
    assert findings["database"].detail.startswith("PostgreSQL 18")


async def test_older_schema_must_be_brought_to_the_newest(
    owner: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "newest_revision", lambda: "9999")
    findings = by_area([finding async for finding in examine_server(owner)])
    assert findings["schema"].state == "act"
    assert "migrate" in findings["schema"].fix
    assert "log" not in findings, "an unknown schema is not read"


async def test_log_that_is_damaged_or_stands_still_is_reported(
    owner: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def find_oldest(_: Connection) -> LogTimes:
        return LogTimes(datetime(2026, 1, 1, tzinfo=UTC), None, datetime.now(UTC))

    async def find_damage(*_: object) -> TreeEdge:
        raise LogDamaged("the stored hashes are not those of checkpoint 7")

    monkeypatch.setattr(doctor, "read_times", find_oldest)
    waiting = await doctor.examine_log(owner)
    assert waiting.state == "act"
    assert "publisher" in waiting.fix
    monkeypatch.setattr(doctor, "load_edge", find_damage)
    damaged = await doctor.examine_log(owner)
    assert (damaged.state, damaged.area) == ("act", "log")
    assert "checkpoint 7" in damaged.detail
