"""Ids of commands that were taken, in a file that the web processes of a host share.

There is room for 524,288 ids, where the oldest of a set gives way. At the limit of one
network that is hours of commands; a client that is forgotten early loses this protection,
not its session.
"""

import time

from registry.interfaces.http.shared_sets import SetsFormat, SharedSets

# The lock is of one set of 65,536, so it is waited for only where its holder was stopped.
FORMAT = SetsFormat("wab-seen-1", 65_536, "I", 0.1)


class SeenCommands(SharedSets):
    """Commands that were taken, by session and id."""

    form = FORMAT

    def take(self, session: str, command: str) -> bool:
        """Return whether it is new, and remember it. Of two at once, one is new."""
        tag = self.tag(f"{session}\0{command}")
        locked = self.lock(tag)
        try:
            way, second = self.slot(tag)
            if second is None:
                self.write(tag, way, int(time.time()) % 2**32)
            return second is None
        finally:
            if locked:
                self.unlock(tag)
