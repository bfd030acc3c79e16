"""Reading an archive: that its files are those of its manifest, then its rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from registry.errors import Refused
from registry.identity.keys.public_keys import PublicKey
from registry.identity.statements.detached_jws import (
    MAX_SIGNATURE_BYTES,
    verify_detached,
)
from registry.reports.archive import declared_rows, label_rows, site_rows
from registry.reports.archive.archive_manifest import (
    ARCHIVE_TYP,
    DECLARED,
    LABELS,
    MANIFEST,
    MAX_MANIFEST_BYTES,
    SIGNATURE,
    SITES,
    ArchivedFile,
    Manifest,
    parse_manifest,
)
from registry.reports.archive.archive_rows import LATER, TYPES, ArchivedRanking
from registry.reports.archive.duck import (
    open_duck,
    parquet_source,
    read_rows,
    view_parquet,
)
from registry.reports.archive.parquet_layout import verify_layout
from registry.reports.archive.refusals import ARCHIVE_DAMAGED
from registry.reports.archive.writing import digest_file

if TYPE_CHECKING:
    from registry.reports.archive.duck import Duck

BATCH = 64
"""Rows that are objects at once, of at most some 200 KB each."""

_TYPES_OF = {
    SITES: site_rows.TYPES,
    LABELS: label_rows.TYPES,
    DECLARED: declared_rows.TYPES,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    folder: Path
    manifest: Manifest

    def view(self, duck: "Duck") -> None:
        """Offer the files as the views `rankings`, `sites`, `labels` and `declared`."""
        files = [self.folder / name for name in self.manifest.names]
        view_parquet(duck, "rankings", parquet_source(files, TYPES, LATER))
        names = {file.name for file in self.manifest.files}
        for name in names & _TYPES_OF.keys():
            source = parquet_source([self.folder / name], _TYPES_OF[name])
            view_parquet(duck, name.removesuffix(".parquet"), source)


def open_archive(folder: Path, key: PublicKey | None = None) -> Archive:
    """The archive, each file of which is the one that its manifest names.

    key: who must have signed the manifest; without one nobody need. Raises: Refused.
    """
    try:
        data = _read(folder, MANIFEST, MAX_MANIFEST_BYTES)
        if key:
            token = _read(folder, SIGNATURE, MAX_SIGNATURE_BYTES).strip()
            verify_detached(token, data, key, typ=ARCHIVE_TYP)
        manifest = parse_manifest(data)
        with open_duck(folder) as duck:
            for entry in manifest.files:
                _verify_file(duck, folder, entry)
    except OSError as error:
        raise Refused(ARCHIVE_DAMAGED, f"{error.filename}: {error.strerror}") from error
    return Archive(folder=folder, manifest=manifest)


def _read(folder: Path, name: str, most: int) -> bytes:
    with _regular(folder, name).open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Refused(ARCHIVE_DAMAGED, f"{name} is too large")
    return data


def _verify_file(duck: "Duck", folder: Path, entry: ArchivedFile) -> None:
    path = _regular(folder, entry.name)
    if digest_file(path) != entry.sha256:
        raise Refused(ARCHIVE_DAMAGED, f"{entry.name} is another file")
    try:
        verify_layout(duck, path, _TYPES_OF.get(entry.name, TYPES), LATER, entry.rows)
    except ValueError as error:
        raise Refused(ARCHIVE_DAMAGED, f"{entry.name}: {error}") from error


def _regular(folder: Path, name: str) -> Path:
    """Return the path of a file: a link leads elsewhere, a device or pipe has no end."""
    path = folder / name
    if path.resolve() != folder.resolve() / name or not path.is_file():
        raise Refused(ARCHIVE_DAMAGED, f"{name} is no file of the folder")
    return path


def iterate_rankings(duck: "Duck", archive: Archive) -> Iterator[ArchivedRanking]:
    """Yield rankings in the order of the log, a batch of rows at a time.

    Raises: Refused, where a row is not whole.
    """
    for name in archive.manifest.names:
        source = parquet_source([archive.folder / name], TYPES, LATER)
        yield from read_rows(duck.cursor(), source, ArchivedRanking, BATCH)
