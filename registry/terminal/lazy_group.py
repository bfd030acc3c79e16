"""A group of commands, each imported only when it is called.

A file or folder that can't be used ends any of them in one line that names it.

The service, the benches and the archive need half a second of imports that somebody who
signs a registration should not wait for.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click
from typing_extensions import override

OWN_PACKAGES = ("registry", "crawler")
_WHOLE = "pip install 'fair-registry[server]'"


def _absent(name: str) -> click.Command:
    """Return what stands for a command whose packages are not installed."""

    def refuse() -> None:
        raise click.ClickException(f"`{name}` needs more than the client: {_WHOLE}")

    return click.Command(
        name,
        callback=refuse,
        help=f"(needs more than the client: {_WHOLE})",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )


class LazyGroup(click.Group):
    """locations: of each command, by its name, "module:attribute"."""

    def __init__(
        self, *args: Any, locations: Mapping[str, str] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._locations = dict(locations or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self._locations})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Raises: ImportError if the table is wrong."""
        if cmd_name not in self._locations:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self._locations[cmd_name].partition(":")
        try:
            command: click.Command = getattr(import_module(module), attribute)
        except ModuleNotFoundError as missing:
            if (missing.name or "registry").partition(".")[0] in OWN_PACKAGES:
                raise
            return _absent(cmd_name)
        return command

    @override
    def invoke(self, ctx: click.Context) -> Any:
        """Raises: click.ClickException."""
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.filename is None:
                raise
            raise click.ClickException(str(error)) from error
