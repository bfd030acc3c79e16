"""Watch over the disk and over the log's queue, so that anonymous askers go without first.

An answer writes some 2 KB that nobody may delete; a full disk would end all of them.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import structlog

from registry.db.engine.engines import Engine
from registry.db.log import entries as log
from registry.observability import ANONYMOUS_TURNED_AWAY, FREE_BYTES
from registry.usecases.background import follow

PAUSE_S = 2.0
RELIEF = 1.1
"""Times the threshold: room enough again. Otherwise each answer would turn the tide."""

Shortage = Literal["disk", "log"]
logger = structlog.get_logger()


def free_bytes_of(folder: Path) -> int:
    return shutil.disk_usage(folder).free


@dataclass(slots=True, eq=False)
class SpareRoom:
    """folder: on the disk that must not run full. engine: of the API's role.

    max_pending: records that may wait for their position in the log.
    """

    engine: Engine
    folder: Path
    min_free_bytes: int
    max_pending: int
    free_bytes: Callable[[Path], int] = free_bytes_of
    shortage: Shortage | None = field(init=False, default=None)

    @property
    def is_short(self) -> bool:
        return self.shortage is not None

    async def run(self) -> None:
        """Look until cancelled."""
        await follow(self.look, pause_s=PAUSE_S, lost="room_not_watched")

    async def look(self) -> None:
        relief = RELIEF if self.is_short else 1.0
        free = self.free_bytes(self.folder)
        async with self.engine.connect() as connection:
            is_behind = await log.more_pending_than(
                connection, int(self.max_pending / relief)
            )
        FREE_BYTES.set(free)
        if free < self.min_free_bytes * relief:
            self._note("disk")
        else:
            self._note("log" if is_behind else None)

    def _note(self, shortage: Shortage | None) -> None:
        if shortage != self.shortage:
            logger.warning("room_for_anonymous_askers", shortage=shortage)
        self.shortage = shortage
        ANONYMOUS_TURNED_AWAY.set(self.is_short)
