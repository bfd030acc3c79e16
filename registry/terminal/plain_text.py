"""Output without colours, tables without lines: what stands in for rich.

The client alone is installed without it. The classes have of rich's what the light
commands use, and `styled` gives them rich's names.
"""

import re
import sys
from collections.abc import Callable
from typing import Any, Self

_OWN = r"/?(?:bold|cyan|dim|green|red|yellow)?\]"
_TAG = re.compile(rf"(\\?)\[{_OWN}")
OTHER_TAG = re.compile(rf"(?<!\\)((?:\\\\)*)\[(?=[a-z#/@][^\[]*?\])(?!{_OWN})")
"""Tags that rich knows and no text of ours has, such as links."""
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that steer a terminal, or the direction of what follows."""


def escape(text: str) -> str:
    """Protect what looks like a tag."""
    return _TAG.sub(lambda tag: "\\" + tag[0], text)


def _stripped(tag: re.Match[str]) -> str:
    return tag[0][1:] if tag[1] else ""


class PlainConsole:
    is_terminal = False

    def __init__(self, *, stderr: bool = False, **_: Any) -> None:
        self._is_stderr = stderr

    def print(
        self, *parts: object, markup: bool = True, end: str = "\n", **_: Any
    ) -> None:
        texts = (_TAG.sub(_stripped, str(row)) if markup else str(row) for row in parts)
        line = CONTROL.sub("\ufffd", " ".join(texts))
        (sys.stderr if self._is_stderr else sys.stdout).write(line + end)

    def print_line(self, text: object) -> None:
        self.print(text)


class PlainTable:
    """Rows of cells, each column as wide as its widest."""

    def __init__(self, *headings: str, title: str = "", **_: Any) -> None:
        self._title = title
        self._rows: list[tuple[str, ...]] = [headings] if headings else []

    def add_column(self, heading: str = "", **_: Any) -> None:
        self._rows = [(*(self._rows[0] if self._rows else ()), heading)]

    def add_row(self, *cells: object) -> None:
        self._rows.append(tuple(map(str, cells)))

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self._rows, strict=False)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in self._rows]
        return "\n".join(filter(None, [self._title, *lines]))


class PlainProgress:
    """Shows nothing: standard error may be a file."""

    def __init__(self, *_: object, **__: Any) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_task(self, *_: object, **__: Any) -> int:
        return 0

    def update(self, *_: object, **__: Any) -> None:
        pass

    advance = update
    stop = update


def column(*_: object, **__: Any) -> None:
    """Make no column of a progress bar."""


BarColumn: Callable[..., Any] = column
MofNCompleteColumn: Callable[..., Any] = column
RemainingColumn: Callable[..., Any] = column
TextColumn: Callable[..., Any] = column
RenderableType = object
