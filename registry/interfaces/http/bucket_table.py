"""A fixed number of token buckets, in a file that the web processes of a host share.

A bucket's place follows from a keyed hash of its name, in a set of eight. A name that is
new there takes the place of the bucket that will be full first, and so loses least by
being forgotten; nobody without the key can aim at a set. The file holds hashes and
instants of the machine's monotonic clock, no addresses.

Each write is of eight bytes. The lock keeps two processes from spending the same token;
one that is stopped while it holds the lock holds up nobody: the others go on without.

A bucket is a single number: the instant at which it will be full again, as in the generic
cell rate algorithm (ITU-T I.371, annex A). The clock is passed in.
"""

import errno
import fcntl
import math
import mmap
import os
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import structlog

ROUNDING = 1e-6  # of a token: instants are floats


@dataclass(frozen=True, slots=True)
class Quota:
    """burst: requests at once, at least 1. per_s: those that come back a second."""

    burst: int
    per_s: float

    def times(self, factor: float) -> "Quota":
        return Quota(max(1, round(self.burst * factor)), self.per_s * factor)

    @property
    def window_s(self) -> float:
        """Seconds in which an empty bucket fills."""
        return self.burst / self.per_s

    def tokens(self, full_at: float, now: float) -> float:
        """Return the tokens of a bucket, up to `burst`.

        An instant that no bucket of this limit can have, such as one from before the
        machine's clock began anew, stands for a full bucket.
        """
        missing_s = full_at - now
        if not 0 < missing_s <= self.window_s + 1:
            return self.burst
        return max(0.0, self.burst - missing_s * self.per_s + ROUNDING)

    def spend(self, tokens: float, now: float) -> float:
        """Return the instant at which the bucket is full, after one of its tokens."""
        return now + (self.burst - tokens + 1) / self.per_s


@dataclass(frozen=True, slots=True)
class Allowance:
    """Tokens that a bucket has left after a request. wait_s: until it lets one through."""

    limit: Quota
    tokens: float

    @property
    def left(self) -> int:
        return int(self.tokens)

    @property
    def full_in_s(self) -> int:
        return math.ceil((self.limit.burst - self.tokens) / self.limit.per_s)

    @property
    def wait_s(self) -> int:
        """Return the whole seconds, at least 1, until the bucket has a token."""
        return max(1, math.ceil((1 - self.tokens) / self.limit.per_s))


SETS, WAYS = 8_192, 8
FILE_NAME = "limits-1"  # the form's number: processes of two forms share nothing
_MAGIC = b"FRLIMIT1"
_HEADER = 64
_SET = struct.Struct(f"={WAYS}Q{WAYS}d")
_TAG, _INSTANT = struct.Struct("=Q"), struct.Struct("=d")
_BYTES = _HEADER + SETS * _SET.size
_LOCK_S = 0.002

logger = structlog.get_logger()


class BucketTable:
    """Buckets by name. folder: of the file; None: they are this process's own.

    key: secret, and the same in all processes that share.
    """

    def __init__(self, folder: Path | None, key: bytes) -> None:
        self._key = key[: blake2b.MAX_KEY_SIZE]
        self._file: int | None = None
        self._memory = mmap.mmap(-1, _BYTES)
        if folder is not None:
            self._share(folder)

    def take(
        self, wanted: Sequence[tuple[str, Quota]], now: float
    ) -> tuple[bool, list[Allowance]]:
        """Take a token from all the buckets, or from none if one of them has none left.

        now: seconds, monotonic. Returns whether they were taken, and what is left.
        """
        locked = self._lock()
        try:
            places = [self._place(name) for name, _ in wanted]
            tokens = [
                limit.tokens(full_at, now)
                for (_, limit), (_, _, full_at) in zip(wanted, places, strict=True)
            ]
            taken = min(tokens) >= 1
            if taken:
                for (_, limit), (tag, at, _), had in zip(
                    wanted, places, tokens, strict=True
                ):
                    self._write(tag, at, limit.spend(had, now))
        finally:
            if locked:
                self._unlock()
        return taken, [
            Allowance(limit, had - taken)
            for (_, limit), had in zip(wanted, tokens, strict=True)
        ]

    def _place(self, name: str) -> tuple[int, int, float]:
        """Return the tag, where it stands or is to stand, and when its bucket is full."""
        digest = blake2b(name.encode(), digest_size=8, key=self._key).digest()
        tag = int.from_bytes(digest, "little") or 1  # 0: no bucket
        start = _HEADER + tag % SETS * _SET.size
        values = _SET.unpack_from(self._memory, start)
        try:
            way = values.index(tag, 0, WAYS)
        except ValueError:
            way = min(range(WAYS), key=values[WAYS:].__getitem__)
            return tag, start + _TAG.size * way, 0.0
        return tag, start + _TAG.size * way, values[WAYS + way]

    def _write(self, tag: int, at: int, full_at: float) -> None:
        _TAG.pack_into(self._memory, at, tag)
        _INSTANT.pack_into(self._memory, at + _TAG.size * WAYS, full_at)

    def _lock(self) -> bool:
        if self._file is None:
            return False
        ends_at = 0.0
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                ends_at = ends_at or time.monotonic() + _LOCK_S
                if time.monotonic() > ends_at:
                    return False
                os.sched_yield()  # to whoever holds it
            else:
                return True

    def _unlock(self) -> None:
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _share(self, folder: Path) -> None:
        """Map the file; where that can't be, say so and stay by oneself."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = _open_file(folder / FILE_NAME)
            self._memory = mmap.mmap(file, _BYTES)
        except OSError as error:
            logger.warning("limits_not_shared", folder=str(folder), reason=str(error))
        else:
            self._file = file


def _open_file(path: Path) -> int:
    """Open the file, made if it is not there. Raises: OSError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    file = os.open(path, flags, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        _lay_out(file)
        fcntl.flock(file, fcntl.LOCK_UN)
    except OSError:
        os.close(file)
        raise
    return file


def _lay_out(file: int) -> None:
    """Give the file all its blocks. Raises: OSError, also if it is something else."""
    begins = os.pread(file, len(_MAGIC), 0)
    if begins.strip(b"\0") and begins != _MAGIC:
        raise OSError(errno.EEXIST, "it holds something else: remove it")
    # A write to a mapped page without a block would end the process.
    os.posix_fallocate(file, 0, _BYTES)
    os.pwrite(file, _MAGIC, 0)
