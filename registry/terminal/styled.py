"""Colours, tables and progress bars: rich's, or plain text where only the client is."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from registry.terminal.plain_text import CONTROL, OTHER_TAG

if TYPE_CHECKING or find_spec("rich"):
    from rich.console import Console as RichConsole
    from rich.console import RenderableType
    from rich.errors import MarkupError
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as RemainingColumn
    from rich.table import Table
    from rich.text import Text

    class Console(RichConsole):
        """Console of rich, in which no text of others steers the terminal."""

        def render_str(self, text: str, **options: Any) -> Text:
            text = CONTROL.sub("\ufffd", text)
            if options.get("markup") is False:
                return super().render_str(text, **options)
            try:
                return super().render_str(OTHER_TAG.sub(r"\1\1\[", text), **options)
            except MarkupError:  # the end of a tag that text of ours never began
                return Text(text)

        def print_line(self, text: object) -> None:
            """Print one line however long it is."""
            self.print(text, soft_wrap=True)
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
