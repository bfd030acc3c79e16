import stat
from pathlib import Path

import pytest

from registry import keyring
from registry.identity.keys.jwk import parse_jwks
from registry.identity.keys.private_keys import generate_private_key, private_key_pem

NAME = "registry.example"
URL = f"https://{NAME}"


def test_each_secret_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    keyring.create_keyring(folder, NAME)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    public = {name for name in modes if name.endswith(".vkey")}
    assert public == {"log.vkey", "promise.vkey"}
    assert modes.keys() - public == {"log.pem", "promise.pem", "web.key", "bot.pem"}
    assert {modes[name] for name in modes.keys() - public} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_what_is_there_is_kept_and_what_is_missing_is_made(tmp_path: Path) -> None:
    keyring.create_keyring(tmp_path, NAME)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / "bot.pem").unlink()
    keyring.create_keyring(tmp_path, NAME)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} == {"bot.pem"}


def test_the_crawler_has_a_key_of_its_own(tmp_path: Path) -> None:
    keyring.create_keyring(tmp_path, NAME)
    agent = keyring.load_signature_agent(tmp_path, URL, "ietf-00")
    (bot,) = parse_jwks(agent.directory)
    others = [
        keyring.load_signer(tmp_path, purpose, NAME).private.public_key()
        for purpose in (keyring.LOG, keyring.PROMISE)
    ]
    assert bot.raw not in [other_item.public_bytes_raw() for other_item in others]


def test_a_key_of_another_kind_is_refused(tmp_path: Path) -> None:
    pem = private_key_pem(generate_private_key("ES256"))
    (tmp_path / "bot.pem").write_bytes(pem)
    with pytest.raises(TypeError, match=r"bot\.pem"):
        keyring.load_signature_agent(tmp_path, URL, "ietf-00")


def test_a_logs_name_is_for_life(tmp_path: Path) -> None:
    keyring.create_keyring(tmp_path, NAME)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert keyring.load_log_name(tmp_path) == NAME
    with pytest.raises(keyring.LogRenamed, match=f"LOG_NAME={NAME}"):
        keyring.create_keyring(tmp_path, "other.example")
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
