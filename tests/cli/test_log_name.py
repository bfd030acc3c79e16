"""The name of a log, which it has for life, whatever the settings become."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from registry import keyring
from registry.cli import main
from registry.cli.service.command_settings import settings_of_log
from registry.settings import Settings

NAME, URL = "registry.example", "https://registry.example"


def make_keyring(folder: Path, **variables: str) -> Result:
    environment = {f"FAIR_REGISTRY_{name}": text for name, text in variables.items()}
    environment["FAIR_REGISTRY_DATA"] = str(folder)
    return CliRunner().invoke(main, ["keyring"], env=environment)


def test_another_public_url_is_refused_with_the_way_out(tmp_path: Path) -> None:
    assert make_keyring(tmp_path, PUBLIC_URL=URL).exit_code == 0
    moved = make_keyring(tmp_path, PUBLIC_URL="https://moved.example")
    assert moved.exit_code == 1
    assert f"FAIR_REGISTRY_LOG_NAME={NAME}" in moved.output
    named = {"PUBLIC_URL": "https://moved.example", "LOG_NAME": NAME}
    followed = make_keyring(tmp_path, **named)
    assert followed.exit_code == 0
    assert followed.output.count(f"{NAME}+") == 1
    other = make_keyring(tmp_path, PUBLIC_URL=URL, LOG_NAME="other.example")
    assert other.exit_code == 1


@pytest.mark.parametrize(
    "outside",
    [
        {"HOST": "0.0.0.0"},
        {"HOST": "192.0.2.7"},
        {"HOST": "registry.internal"},
        {"DATABASE_URL": "postgresql://fair@db.internal/registry"},
        {"DATABASE_URL": "postgresql+asyncpg://db:5432/registry"},
    ],
)
def test_outside_loopback_a_name_has_to_be_set(
    outside: dict[str, str], tmp_path: Path
) -> None:
    refused = make_keyring(tmp_path, **outside)
    assert refused.exit_code == 1
    assert "FAIR_REGISTRY_PUBLIC_URL" in refused.output
    assert not (tmp_path / "keys").exists()
    assert make_keyring(tmp_path, **outside, PUBLIC_URL=URL).exit_code == 0
    assert make_keyring(tmp_path, **outside).exit_code == 0, "it has its name now"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_on_this_machine_the_name_outlives_the_port(host: str, tmp_path: Path) -> None:
    first = Settings(data=tmp_path, host=host, port=8080)
    assert settings_of_log(first) == first
    keyring.create_keyring(first.keys, first.log_origin)
    later = settings_of_log(Settings(data=tmp_path, host=host, port=8090))
    assert later.log_origin == first.log_origin
    assert later.origin.endswith(":8090")


def test_a_stated_name_is_compared_even_on_this_machine(tmp_path: Path) -> None:
    first = Settings(data=tmp_path)
    keyring.create_keyring(first.keys, first.log_origin)
    with pytest.raises(click.ClickException, match="for life"):
        settings_of_log(Settings(data=tmp_path, public_url=URL))
