"""Where a measurement makes its database and files."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from registry.db.embedded import EmbeddedPostgres, start_embedded


@contextmanager
def scratch_folder(kept: Path | None = None) -> Iterator[Path]:
    """The folder to keep, or one that is gone afterwards."""
    if kept is not None:
        yield kept
        return
    folder = Path(tempfile.mkdtemp(prefix="fair-registry-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def scratch_postgres(folder: Path) -> Iterator[EmbeddedPostgres]:
    """A server of one's own, with an empty database."""
    server = start_embedded(folder)
    try:
        server.create_database()
        yield server
    finally:
        server.close()
