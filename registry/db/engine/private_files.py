"""Files and folders that no other user can access, also where root makes them."""

import fcntl
import os
import pwd
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

LOCK_TIMEOUT_S = 180.0  # longer than it takes to start or stop the server
RETRY_PAUSE_S = 0.2


def open_private(path: Path) -> IO[bytes]:
    """Open a file to lock, which only the owner of its folder and root can open.

    Raises: OSError, where it is another's or a link.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        number = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        number = os.open(path, flags)
    else:
        folder = path.parent.stat()
        if os.geteuid() == 0:
            os.fchown(number, folder.st_uid, folder.st_gid)
    return os.fdopen(number, "r+b", buffering=0)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Raises: TimeoutError if another process does not leave it in time."""
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    with open_private(path) as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise TimeoutError(
                        f"another process keeps {path} locked"
                    ) from error
                time.sleep(RETRY_PAUSE_S)
        yield


def give_to(folder: Path, account: pwd.struct_passwd) -> None:
    """Make a folder that root has just made the account's."""
    if os.geteuid() == 0:
        os.chown(folder, account.pw_uid, account.pw_gid, follow_symlinks=False)


def replace_file(path: Path, text: str) -> None:
    """Replace the file, also where its folder's owner has put a link in its place."""
    number, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(number, "w") as file:
        file.write(text)
        os.fchmod(number, 0o644)
    Path(name).replace(path)


def is_private(folder: Path, uid: int) -> bool:
    """Return whether it is a folder of this user that no other user can enter."""
    with suppress(OSError):
        status = folder.lstat()
        mode = stat.S_IMODE(status.st_mode)
        return stat.S_ISDIR(status.st_mode) and status.st_uid == uid and mode == 0o700
    return False
