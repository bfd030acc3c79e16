"""The commands that work without a registry."""

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from registry.cli import main
from registry.identity.jwk import parse_jwks
from registry.identity.jws import parse_compact, verify_jws


def test_a_made_key_signs_what_its_published_half_verifies(tmp_path: Path) -> None:
    for alg in ("Ed25519", "ES256"):
        key, jwks = tmp_path / f"{alg}.pem", tmp_path / f"{alg}.json"
        made = CliRunner().invoke(
            main, ["keygen", "--alg", alg, "--out", str(key), "--jwks", str(jwks)]
        )
        assert made.exit_code == 0, made.output
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
    made = CliRunner().invoke(
        main, ["keygen", "--out", str(key), "--jwks", str(tmp_path / "keys.json")]
    )
    assert made.exit_code != 0
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


def test_a_registry_that_is_away_is_told_in_one_line() -> None:
    asked = CliRunner().invoke(
        main, ["search", "--registry", "http://127.0.0.1:9", "bread"]
    )
    assert asked.exit_code == 1
    assert "can't be reached" in asked.output
    assert "Traceback" not in asked.output


def test_an_encoder_without_its_weights_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.cli.serve.is_installed", lambda _: False)
    started = CliRunner().invoke(
        main,
        ["serve", "--port", "18093", "--data", str(tmp_path)],
        env={"FAIR_REGISTRY_ENCODER": "minilm"},
    )
    assert started.exit_code == 1
    assert "make encoder" in started.output
    assert not any(tmp_path.iterdir())


def test_development_mode_on_a_public_address_is_refused(tmp_path: Path) -> None:
    started = CliRunner().invoke(
        main,
        ["serve", "--host", "0.0.0.0", "--data", str(tmp_path)],
        env={"FAIR_REGISTRY_ALLOW_LOOPBACK": "1"},
    )
    assert started.exit_code == 1
    assert "ALLOW_LOOPBACK" in started.output
    assert not any(tmp_path.iterdir())
