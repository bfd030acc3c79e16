"""Asking the registry as an operator, whose rankings are counted for it: the options."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import httpx

from registry.client import ApiKeyAuth, SigningAuth
from registry.terminal.key_files import load_key

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])


def operator_options(command: AnyCommand) -> AnyCommand:
    """Options of a command that may ask as an operator; see `auth_of`."""
    for option in (
        click.option(
            "--api-key",
            envvar="FAIR_REGISTRY_API_KEY",
            help="Ask as the operator of this key; better set FAIR_REGISTRY_API_KEY.",
        ),
        click.option(
            "--key",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            envvar="FAIR_REGISTRY_OPERATOR_KEY",
            help="Ask as the operator of this private key: each request is signed.",
        ),
    ):
        command = option(command)
    return command


def auth_of(url: str, api_key: str | None, key: Path | None) -> httpx.Auth | None:
    """Return who asks; None for nobody in particular. With both, the API key is shown."""
    if api_key:
        return ApiKeyAuth(api_key)
    return SigningAuth(load_key(key), url) if key else None
