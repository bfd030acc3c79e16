"""Reading without the cycle collector.

A document of 512 KiB can hold 260,000 containers, and none of them in a cycle. Looking
for cycles among them, again and again while they are made, takes ten times the parsing.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Threads that overlap may end the pause of one another early; that only costs."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
