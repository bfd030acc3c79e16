"""The audit log of commands (WAB §8.3): a file a day, a line a command, bounded.

It holds who, when, which method and how it ended; no parameter, no query, no address. An
agent is an operator's id or a keyed hash of the session. An id of a command that is no
counter and no UUID could hold words, and is hashed too.
"""

import hashlib
import hmac
import os
import re
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import structlog

RETENTION = timedelta(days=30)
DAY_BYTES = 32 << 20
_OPAQUE_ID = re.compile(
    r"([A-Za-z]{1,8}[_-])?[0-9]{1,20}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)

logger = structlog.get_logger()


class CommandEntry(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """An entry, with the members that §8.3 names. origin: of a page, "" of others."""

    timestamp: datetime
    command_id: str
    method: str
    agent_id: str
    origin: str
    status: str
    latency_ms: float
    error_code: str | None = None
    transport: str = "http"


class CommandLog:
    """folder: of the files; all web processes of a host append to them.

    Beyond DAY_BYTES a day nothing is written: the log must not fill the disk.
    """

    def __init__(self, folder: Path, key: bytes, *, day_bytes: int = DAY_BYTES) -> None:
        self._folder = folder
        self._key = key
        self._day_bytes = day_bytes
        self._day: date | None = None
        self._file: int | None = None

    def write(self, entry: CommandEntry) -> None:
        """Append the entry. A failure to write goes to the process's own log."""
        try:
            file = self._file_of(entry.timestamp.date())
            if os.fstat(file).st_size < self._day_bytes:
                os.write(file, msgspec.json.encode(entry) + b"\n")
        except OSError as error:
            logger.warning("command_not_logged", reason=str(error))

    def pseudonym(self, text: str) -> str:
        return hmac.digest(
            self._key, b"wab log\0" + text.encode(), hashlib.sha256
        ).hex()[:16]

    def name_command(self, command_id: Any) -> str:
        """Return the id where it can't hold words, else its keyed hash."""
        text = str(command_id)
        if _OPAQUE_ID.fullmatch(text):
            return text
        return f"hmac:{self.pseudonym(text)}"

    def _file_of(self, day: date) -> int:
        if self._file is None or day != self._day:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._file is not None:
                os.close(self._file)
                self._file = None
            self._drop_old(day)
            flags = (
                os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            )
            self._file = os.open(self._folder / f"{day}.jsonl", flags, 0o600)
            self._day = day
        return self._file

    def _drop_old(self, day: date) -> None:
        oldest = f"{day - RETENTION}.jsonl"
        for path in self._folder.glob("????-??-??.jsonl"):
            if path.name < oldest:
                path.unlink(missing_ok=True)
