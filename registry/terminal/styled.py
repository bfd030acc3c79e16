"""Colours, tables and progress bars: rich's, or plain text where only the client is."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING or find_spec("rich"):
    from rich.console import Console, RenderableType
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as RemainingColumn
    from rich.table import Table
else:
    from registry.terminal.plain_text import (
        BarColumn,
        MofNCompleteColumn,
        RemainingColumn,
        RenderableType,
        TextColumn,
        escape,
    )
    from registry.terminal.plain_text import PlainConsole as Console
    from registry.terminal.plain_text import PlainProgress as Progress
    from registry.terminal.plain_text import PlainTable as Table

__all__ = [
    "BarColumn",
    "Console",
    "MofNCompleteColumn",
    "Progress",
    "RemainingColumn",
    "RenderableType",
    "Table",
    "TextColumn",
    "escape",
]
