"""Files that are replaced in one step and outlive a loss of power."""

import os
from pathlib import Path


def replace_durably(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Put the content under the name, where the former file is until it lies there whole.

    mode: without it only the owner may read the file, at any time.
    """
    draft = path.with_suffix(f"{path.suffix}.draft")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
