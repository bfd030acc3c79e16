"""A hash table of fixed size in a file that the web processes of a host share.

The position of a name follows from a keyed hash of it, in a set of eight slots, where a
new name replaces the one with the lowest value. Nobody without the key can aim at a set.
The file holds hashes and values, no names. A process that is stopped while it holds a
lock holds up nobody: the others go on without.
"""

import errno
import fcntl
import mmap
import os
import struct
import time
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar

import structlog

WAYS = 8
_TAG = struct.Struct("=Q")
_FLOCK = struct.Struct("@hhqqi4x")  # of fcntl(2); "@": with the padding of C
_WHOLE_FILE = {
    kind: _FLOCK.pack(kind, os.SEEK_SET, 0, 0, 0)
    for kind in (fcntl.F_WRLCK, fcntl.F_UNLCK)
}

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SetsFormat:
    """value: type of a slot's number, as in `struct`. lock_s: longest wait for a lock.

    The file name ends with the number of the format: processes of two share nothing.
    """

    file_name: str
    sets: int
    value: str
    lock_s: float
    header: bytes = b""


class SharedSets:
    """folder: of the file; None: this process shares with none. key: shared, secret."""

    form: ClassVar[SetsFormat]

    def __init__(self, folder: Path | None, key: bytes) -> None:
        self._key = key[: blake2b.MAX_KEY_SIZE]
        form = self.form
        self._sets, self._header = form.sets, len(form.header)
        self._set = struct.Struct(f"={WAYS}Q{WAYS}{form.value}")
        self._value = struct.Struct(f"={form.value}")
        self._bytes = self._header + form.sets * self._set.size
        self._file: int | None = None
        self.memory = mmap.mmap(-1, self._bytes)
        if folder is not None:
            self._share(folder)

    def tag(self, name: str) -> int:
        digest = blake2b(name.encode(), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest, "little") or 1  # 0: an empty slot

    def slot(self, tag: int) -> tuple[int, float | None]:
        """Return the slot that the tag has, or is to have, and its value, if it has one."""
        start = self._start(tag)
        values = self._set.unpack_from(self.memory, start)
        if tag in values[:WAYS]:
            way = values.index(tag)
            return way, values[WAYS + way]
        return values.index(min(values[WAYS:]), WAYS) - WAYS, None

    def write(self, tag: int, way: int, value: float) -> None:
        """Store each number at once: `pack_into` clears it first, for all to see."""
        tag_at = self._start(tag) + _TAG.size * way
        self.memory[tag_at : tag_at + _TAG.size] = _TAG.pack(tag)
        size = self._value.size
        at = self._start(tag) + _TAG.size * WAYS + size * way
        self.memory[at : at + size] = self._value.pack(value)

    def lock(self, tag: int | None = None) -> bool:
        """Lock the set of a tag, or the whole file. Return whether that was in time."""
        if self._file is None:
            return False
        request = self._request(fcntl.F_WRLCK, tag)
        ends_at = 0.0
        while True:
            try:
                fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, request)
            except BlockingIOError:
                ends_at = ends_at or time.monotonic() + self.form.lock_s
                if time.monotonic() > ends_at:
                    return False
                os.sched_yield()  # to the process that holds it
            else:
                return True

    def unlock(self, tag: int | None = None) -> None:
        if self._file is not None:
            request = self._request(fcntl.F_UNLCK, tag)
            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, request)

    def _request(self, kind: int, tag: int | None) -> bytes:
        if tag is None:
            return _WHOLE_FILE[kind]
        return _FLOCK.pack(kind, os.SEEK_SET, self._start(tag), self._set.size, 0)

    def _start(self, tag: int) -> int:
        return self._header + tag % self._sets * self._set.size

    def _share(self, folder: Path) -> None:
        """Map the file; where that can't be, say so and share with none."""
        path = folder / self.form.file_name
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            file = os.open(path, flags, 0o600)
            try:
                self._lay_out(file)
                self.memory = mmap.mmap(file, self._bytes)
            except OSError:
                os.close(file)
                raise
        except OSError as error:
            logger.warning("table_not_shared", file=str(path), reason=str(error))
        else:
            self._file = file

    def _lay_out(self, file: int) -> None:
        """Give the file all its blocks. Raises: OSError, also if it is something else."""
        fcntl.flock(file, fcntl.LOCK_EX)
        begins = os.pread(file, self._header, 0)
        if begins.strip(b"\0") and begins != self.form.header:
            raise OSError(errno.EEXIST, "it holds something else: remove it")
        # A write to a mapped page without a block would end the process.
        os.posix_fallocate(file, 0, self._bytes)
        os.pwrite(file, self.form.header, 0)
        fcntl.flock(file, fcntl.LOCK_UN)
