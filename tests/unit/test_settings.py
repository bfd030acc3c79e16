from dataclasses import fields
from pathlib import Path

import pytest

from registry.settings import Settings, SettingsInvalid, as_environment, read_settings


def test_nothing_set_gives_a_registry_on_loopback() -> None:
    settings = read_settings({})
    assert settings.origin == "http://127.0.0.1:8080"
    assert settings.log_origin == "127.0.0.1:8080"
    assert not settings.allow_loopback


def test_what_is_given_wins_over_the_environment() -> None:
    settings = read_settings({"FAIR_REGISTRY_PORT": "9000"}, port=9001, host=None)
    assert settings.port == 9001


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"PORT": "http"}, "PORT"),
        ({"PORT": "0"}, "PORT"),
        ({"PORT": "65536"}, "PORT"),
        ({"ALLOW_LOOPBACK": "maybe"}, "ALLOW_LOOPBACK"),
        ({"ALLOW_LOOPBACK": "1", "HOST": "0.0.0.0"}, "ALLOW_LOOPBACK"),
        ({"ALLOW_LOOPBACK": "1", "HOST": "::"}, "ALLOW_LOOPBACK"),
        ({"ALLOW_LOOPBACK": "1", "HOST": "registry.example"}, "ALLOW_LOOPBACK"),
        ({"HOSTS_FILE": "/etc/hosts"}, "HOSTS_FILE"),
        ({"PUBLIC_URL": "registry.example"}, "PUBLIC_URL"),
        ({"PUBLIC_URL": "https://registry.example/"}, "PUBLIC_URL"),
        ({"PUBLIC_URL": "https://a b"}, "PUBLIC_URL"),
    ],
)
def test_a_setting_that_can_not_be_is_refused_by_name(
    environment: dict[str, str], named: str
) -> None:
    prefixed = {f"FAIR_REGISTRY_{name}": value for name, value in environment.items()}
    with pytest.raises(SettingsInvalid, match=f"FAIR_REGISTRY_{named}"):
        read_settings(prefixed)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_development_mode_goes_with_a_loopback_address(host: str) -> None:
    settings = read_settings({"FAIR_REGISTRY_ALLOW_LOOPBACK": "1"}, host=host)
    assert settings.allow_loopback


def test_a_child_process_reads_the_same_settings() -> None:
    settings = read_settings(
        {},
        data=Path("/srv/data"),
        port=8123,
        allow_loopback=True,
        hosts_file=Path("/tmp/hosts"),
        dns="127.0.0.1:5353",
        public_url="https://registry.example",
    )
    assert read_settings(as_environment(settings)) == settings


def test_every_setting_says_what_it_is() -> None:
    assert all(one.metadata["doc"].endswith(".") for one in fields(Settings))
