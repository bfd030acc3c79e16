"""A folder of the log's parts, by their paths: what is published, and what is to be.

New parts are staged in a folder inside and come out by rename, once it is known that
they belong to the signed tree. A run that is killed leaves staged parts or published
ones, both whole or, if staged, found out by the next run; the checkpoint is the last.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree

STAGED = ".staged"
LOCK = ".lock"


class FolderBusy(OSError):
    """A folder to which another process publishes."""


class LogFolder:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._staged = folder / STAGED
        self._used: set[str] = set()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder; the kernel releases it when the process dies.

        Raises: FolderBusy.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / LOCK).open("wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise FolderBusy(
                    f"another process publishes to {self.folder}"
                ) from error
            yield

    def read(self, path: str) -> bytes | None:
        """Return the staged file, else the published one."""
        with suppress(FileNotFoundError, NotADirectoryError):
            content = (self._staged / path).read_bytes()
            self._used.add(path)
            return content
        return self.read_published(path)

    def read_published(self, path: str) -> bytes | None:
        with suppress(FileNotFoundError, NotADirectoryError):
            return (self.folder / path).read_bytes()
        return None

    def stage(self, path: str, content: bytes) -> None:
        target = self._staged / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        self._used.add(path)

    def publish(self, last: str, content: bytes) -> None:
        """All staged parts that were read or written, then `last`; each by rename.

        What a run that was killed left and this one had no use for is dropped.
        """
        (self._staged / last).parent.mkdir(parents=True, exist_ok=True)
        (self._staged / last).write_bytes(content)
        os.sync()  # before anything names them
        for path in sorted(self._used):
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            (self._staged / path).replace(target)
        self._used.clear()
        (self._staged / last).replace(self.folder / last)
        self.drop_staged()

    def drop_staged(self) -> None:
        rmtree(self._staged, ignore_errors=True)

    def drop_folders(self, paths: Iterable[str]) -> None:
        for path in paths:
            rmtree(self.folder / path, ignore_errors=True)
