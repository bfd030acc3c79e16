"""Ids of commands that were taken, in a file that the web processes of a host share.

It has a fixed size: 524,288 ids. A command's place follows from a keyed hash of session and
id, in a set of eight, where the oldest gives way. At the limit of one network that is
hours of commands; nobody without the key can aim at a set, and who is forgotten early
loses this protection, not the session.
"""

import fcntl
import mmap
import os
import struct
import time
from hashlib import blake2b
from pathlib import Path

import structlog

SETS, WAYS = 65_536, 8
FILE_NAME = "wab-seen-1"
_SET = struct.Struct(f"={WAYS}Q{WAYS}I")
_TAG, _SECOND = struct.Struct("=Q"), struct.Struct("=I")
_BYTES = SETS * _SET.size
_LOCK_S = 0.1  # one set of 65,536, where its holder was stopped just then

logger = structlog.get_logger()


class SeenCommands:
    """folder: of the file; None: the ids are this process's own. key: shared, secret."""

    def __init__(self, folder: Path | None, key: bytes) -> None:
        self._key = key[: blake2b.MAX_KEY_SIZE]
        self._file: int | None = None
        self._memory = mmap.mmap(-1, _BYTES)
        if folder is not None:
            self._share(folder)

    def take(self, session: str, command: str) -> bool:
        """Return whether it is new, and remember it. Of two at once, one is new."""
        name = f"{session}\0{command}".encode()
        digest = blake2b(name, digest_size=8, key=self._key).digest()
        tag = int.from_bytes(digest, "little") or 1  # 0: no command
        start = tag % SETS * _SET.size
        locked = self._lock(start)
        try:
            values = _SET.unpack_from(self._memory, start)
            if tag in values[:WAYS]:
                return False
            way = min(range(WAYS), key=values[WAYS:].__getitem__)
            _TAG.pack_into(self._memory, start + _TAG.size * way, tag)
            second = start + _TAG.size * WAYS + _SECOND.size * way
            _SECOND.pack_into(self._memory, second, int(time.time()) % 2**32)
            return True
        finally:
            if locked and self._file is not None:
                fcntl.lockf(self._file, fcntl.LOCK_UN, _SET.size, start)

    def _lock(self, start: int) -> bool:
        """Lock a set; a process that is stopped meanwhile holds up nobody."""
        ends_at = time.monotonic() + _LOCK_S
        while self._file is not None:
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SET.size, start)
            except BlockingIOError:
                if time.monotonic() > ends_at:
                    return False
                os.sched_yield()
            else:
                return True
        return False

    def _share(self, folder: Path) -> None:
        """Map the file; where that can't be, say so and stay by oneself."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            file = os.open(folder / FILE_NAME, flags, 0o600)
            # A write to a mapped page without a block would end the process.
            os.posix_fallocate(file, 0, _BYTES)
            self._memory = mmap.mmap(file, _BYTES)
        except OSError as error:
            logger.warning("commands_not_shared", reason=str(error))
        else:
            self._file = file
