"""The settings of a command: of the environment, and of its own options."""

import os
from typing import Any

import click

from registry.settings import Settings
from registry.settings_reader import SettingsInvalid, read_settings


def settings_or_exit(**given: Any) -> Settings:
    """given: options, None where not given; they win. Raises: click.ClickException."""
    try:
        return read_settings(os.environ, **given)
    except SettingsInvalid as error:
        raise click.ClickException(str(error)) from error
