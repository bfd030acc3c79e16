"""The commands that work without a registry."""

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from registry.cli import main
from registry.identity.keys.jwk import parse_jwks
from registry.identity.keys.private_keys import private_key_pem
from registry.identity.statements.jws import parse_compact, verify_jws
from registry.settings_reader import read_settings
from registry.tlog.note import parse_vkey
from tests.unit.identity.fixed_keys import fixed_key


def test_a_made_key_signs_what_its_published_half_verifies(tmp_path: Path) -> None:
    for alg in ("Ed25519", "ES256"):
        key, jwks = tmp_path / f"{alg}.pem", tmp_path / f"{alg}.json"
        ran = CliRunner().invoke(
            main, ["keygen", "--alg", alg, "--out", str(key), "--jwks", str(jwks)]
        )
        assert ran.exit_code == 0, ran.output
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        signed = CliRunner().invoke(
            main, ["sign", "--key", str(key)], input=json.dumps({"sub": "shop.test"})
        )
        assert signed.exit_code == 0, signed.output
        (public,) = parse_jwks(jwks.read_bytes())
        jws = verify_jws(parse_compact(signed.output.strip().encode()), public)
        assert jws.payload == {"sub": "shop.test"}
        assert jws.alg == alg


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text("precious")
    ran = CliRunner().invoke(
        main, ["keygen", "--out", str(key), "--jwks", str(tmp_path / "keys.json")]
    )
    assert ran.exit_code != 0
    assert key.read_text() == "precious"
    assert not (tmp_path / "keys.json").exists()


def test_a_payload_that_is_no_json_is_told_so(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    CliRunner().invoke(
        main, ["keygen", "--out", str(key), "--jwks", str(tmp_path / "keys.json")]
    )
    signed = CliRunner().invoke(main, ["sign", "--key", str(key)], input="{sub}")
    assert signed.exit_code == 1
    assert "no JSON" in signed.output


def test_keys_land_in_the_users_folder_and_nothing_in_the_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "clone"
    here.mkdir()
    monkeypatch.chdir(here)
    environment = {"XDG_CONFIG_HOME": str(tmp_path)}
    ran = CliRunner().invoke(main, ["keygen", "shop.test"], env=environment)
    assert ran.exit_code == 0, ran.output
    key = tmp_path / "fair-registry" / "keys" / "shop.test.pem"
    assert str(key) in ran.output
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    assert not any(here.iterdir())
    assert "agent-registry-keys.json" not in ran.output


def test_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    environment = {"XDG_CONFIG_HOME": str(tmp_path)}
    ran = CliRunner().invoke(main, ["keygen", "../key"], env=environment)
    assert ran.exit_code == 2
    assert not any(tmp_path.iterdir())


def test_key_that_others_can_read_is_reported_with_the_way_to_mend_it(
    auditor_key: Path,
) -> None:
    auditor_key.chmod(0o644)
    loose = verifier_key_of(auditor_key, "auditor.example")
    assert loose.exit_code == 0
    assert "0644" in loose.stderr
    assert f"chmod 600 {auditor_key}" in loose.stderr
    auditor_key.chmod(0o600)
    assert verifier_key_of(auditor_key, "auditor.example").stderr == ""


def test_a_key_set_holds_the_keys_of_all_files_once(tmp_path: Path) -> None:
    old, new, published = (tmp_path / name for name in ("old.pem", "new.pem", "set"))
    options = ["keygen", "--out", str(old), "--jwks", str(published)]
    assert CliRunner().invoke(main, options).exit_code == 0
    options = ["keygen", "--out", str(new), "--alg", "ES256"]
    assert CliRunner().invoke(main, options).exit_code == 0
    printed = CliRunner().invoke(main, ["jwks", str(published), str(new), str(old)])
    assert printed.exit_code == 0, printed.output
    assert [key.alg for key in parse_jwks(printed.stdout_bytes)] == ["Ed25519", "ES256"]


def verifier_key_of(key: Path, name: str) -> Result:
    options = ["--key", str(key), "--name", name]
    return CliRunner().invoke(main, ["audit", "verifier-key", *options])


@pytest.fixture
def auditor_key(tmp_path: Path) -> Path:
    key = tmp_path / "auditor.pem"
    key.touch(mode=0o600)
    key.write_bytes(private_key_pem(fixed_key("Ed25519")))
    return key


def test_an_auditors_verifier_key_is_one_that_a_registry_takes(
    auditor_key: Path,
) -> None:
    verifier_key = verifier_key_of(auditor_key, "auditor.example")
    assert verifier_key.exit_code == 0, verifier_key.output
    assert parse_vkey(verifier_key.stdout.strip()).name == "auditor.example"
    environment = {"FAIR_REGISTRY_AUDITORS": verifier_key.stdout.strip()}
    assert read_settings(environment).auditors == verifier_key.stdout.strip()


@pytest.mark.parametrize("name", ["", "two words", "a+b"])
def test_a_name_that_no_verifier_key_has_is_refused(
    auditor_key: Path, name: str
) -> None:
    verifier_key = verifier_key_of(auditor_key, name)
    assert verifier_key.exit_code == 1
    assert "no spaces and no plus" in verifier_key.output


def test_a_registry_that_is_away_is_reported_in_one_line() -> None:
    ran = CliRunner().invoke(
        main, ["search", "--registry", "http://127.0.0.1:9", "bread"]
    )
    assert ran.exit_code == 1
    assert "can't be reached" in ran.output
    assert "Traceback" not in ran.output


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["serve", "--port", "18093"], id="serve"),
        pytest.param(["db", "migrate"], id="migrate"),
        pytest.param(["invariance"], id="invariance"),
        pytest.param(["moderate", "delist", "a.io", "--reason", "spam"], id="moderate"),
        pytest.param(["lookalikes"], id="lookalikes"),
    ],
)
def test_a_database_that_is_away_is_reported_in_one_line(
    command: list[str], tmp_path: Path
) -> None:
    environment = {
        "FAIR_REGISTRY_DATA": str(tmp_path),
        "FAIR_REGISTRY_DATABASE_URL": "postgresql://owner@127.0.0.1:9/away",
    }
    ran = CliRunner().invoke(main, command, env=environment)
    assert ran.exit_code == 1
    assert ran.output.startswith("Error: ")
    assert "Connect call failed" in ran.output
    assert ran.output.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "environment", "expected"),
    [
        pytest.param(
            ["--host", "0.0.0.0"],
            {"FAIR_REGISTRY_ALLOW_LOOPBACK": "1"},
            "ALLOW_LOOPBACK",
            id="development-in-public",
        ),
    ],
)
def test_what_can_not_be_served_is_refused_before_anything_starts(
    options: list[str],
    environment: dict[str, str],
    expected: str,
    tmp_path: Path,
) -> None:
    command = ["serve", "--port", "18093", "--data", str(tmp_path), *options]
    started = CliRunner().invoke(main, command, env=environment)
    assert started.exit_code == 1
    assert expected in started.output
    assert not any(tmp_path.iterdir())
