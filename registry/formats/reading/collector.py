"""Pausing of the cycle collector while a document is read.

A document of 512 KiB can hold 260,000 containers, none of them in a cycle. Searching them
for cycles again and again takes ten times as long as parsing.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector. Overlapping threads may end it early, which only costs time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
