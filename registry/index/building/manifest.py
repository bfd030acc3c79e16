"""IndexManifest: the names of an index's files, replaced in one step."""

import zlib
from pathlib import Path

import msgspec

from registry.index.segments.array_file import FileDamaged

MANIFEST = "manifest.json"
LOCK = "lock"
"""File that the one writer of a folder holds; its time is that of the last heartbeat."""


class Since(msgspec.Struct, frozen=True):
    """source: the database. horizon: all below it is in, see `db.sites.profiles`."""

    source: str = ""
    horizon: int = 0


class IndexManifest(msgspec.Struct, frozen=True, kw_only=True):
    """Names of files. parts: segments. state: what changes with every index.

    members: of the panel in a part, by its name, where not all of its rows are. What
    follows only a builder needs that takes up where this one ended. rows: of large
    parts, by their names. code: that made the files. since: what they hold.
    """

    policy: str
    generation: str
    parts: tuple[str, ...]
    members: dict[str, str]
    state: str
    rows: dict[str, str] = {}
    code: str = ""
    since: Since = Since()

    @property
    def segments(self) -> set[str]:
        return {*self.parts, *self.members.values()}

    @property
    def files(self) -> set[str]:
        return {*self.segments, *self.rows.values(), self.state}


def read_manifest(folder: Path) -> IndexManifest | None:
    """Read the manifest; None where there is none. Raises: FileDamaged, OSError."""
    try:
        encoded = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    content, _, checksum = encoded.rpartition(b"\n")
    if checksum != _checksum_of(content):
        raise FileDamaged(f"{MANIFEST} is not what was written")
    try:
        return msgspec.json.decode(content, type=IndexManifest)
    except msgspec.DecodeError as error:
        raise FileDamaged(f"{MANIFEST} is none: {error}") from error


def _checksum_of(content: bytes) -> bytes:
    return b"%08x" % zlib.crc32(content)


def stamp_of(folder: Path) -> tuple[int, ...]:
    """Another with every manifest; empty where none can be seen."""
    try:
        status = (folder / MANIFEST).stat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


def publish(folder: Path, manifest: IndexManifest) -> None:
    """Publish a manifest; the files that it names are durable before."""
    new_file = folder / f"{MANIFEST}.new"
    content = msgspec.json.encode(manifest)
    new_file.write_bytes(content + b"\n" + _checksum_of(content))
    new_file.replace(folder / MANIFEST)
