"""The settings of a command: of the environment, and of its own options."""

import os
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import click

from registry import keyring
from registry.settings import Settings
from registry.settings_reader import SettingsInvalid, is_loopback, read_settings


def settings_or_exit(**given: Any) -> Settings:
    """given: options, None where not given; they win. Raises: click.ClickException."""
    try:
        return read_settings(os.environ, **given)
    except SettingsInvalid as error:
        raise click.ClickException(str(error)) from error


def settings_of_log(settings: Settings) -> Settings:
    """Return the settings with the name that the log has for life, or begins with.

    Raises: click.ClickException where another one is set, or a name that is of this
    machine alone would become that of a registry for others.
    """
    name = keyring.load_log_name(settings.keys)
    is_stated = bool(settings.log_name or settings.public_url)
    if name is None and not is_stated and not _is_of_this_machine(settings):
        raise click.ClickException(
            f"the log would be named {settings.log_origin} for life; set "
            "FAIR_REGISTRY_PUBLIC_URL to the origin under which outsiders will reach "
            "the registry, such as https://registry.example"
        )
    if name is not None and is_stated and name != settings.log_origin:
        raise click.ClickException(str(keyring.LogRenamed(name, settings.log_origin)))
    return settings if name is None else replace(settings, log_name=name)


def make_data_folder(settings: Settings) -> None:
    """Raises: click.ClickException where there can be no such folder."""
    try:
        settings.data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(
            f"FAIR_REGISTRY_DATA (--data): {settings.data} can't be a folder: "
            f"{error.strerror}; name another one"
        ) from error


def _is_of_this_machine(settings: Settings) -> bool:
    database = urlsplit(settings.database_url).hostname or "localhost"
    return is_loopback(settings.host) and is_loopback(database)
