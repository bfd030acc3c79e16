"""Our own mistakes as they are logged: what kind and where, never what was said.

The message of an exception may hold what the caller sent: queries, tokens, receipts.
"""

import traceback
from pathlib import PurePath

FRAMES = 6


def place_of(error: BaseException) -> dict[str, object]:
    """The error's class, and the innermost frames as `file:line function`."""
    while isinstance(error, BaseExceptionGroup):  # the first says enough
        error = error.exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    return {
        "kind": type(error).__name__,
        "at": [
            f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames
        ],
    }


def _short(filename: str) -> str:
    return "/".join(PurePath(filename).parts[-2:])
