"""Reading an archive: that its files are those of its manifest, then its rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from registry.errors import Refused
from registry.identity.keys.public_keys import PublicKey
from registry.identity.statements.detached_jws import verify_detached
from registry.reports.archive.archive_manifest import (
    ARCHIVE_TYP,
    DECLARED,
    LABELS,
    MANIFEST,
    MAX_MANIFEST_BYTES,
    SIGNATURE,
    SITES,
    Manifest,
    parse_manifest,
)
from registry.reports.archive.archive_rows import LATER, TYPES, ArchivedRanking
from registry.reports.archive.duck import parquet_source, view_parquet
from registry.reports.archive.refusals import ARCHIVE_DAMAGED
from registry.reports.archive.writing import digest_file

if TYPE_CHECKING:
    from registry.reports.archive.duck import Duck

BATCH = 2_048
_ROWS = ", ".join(TYPES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    folder: Path
    manifest: Manifest

    def view(self, duck: "Duck") -> None:
        """Offer the files as the views `rankings`, `sites`, `labels` and `declared`."""
        files = [self.folder / name for name in self.manifest.names]
        view_parquet(duck, "rankings", _rankings_source(files))
        view_parquet(duck, "sites", parquet_source([self.folder / SITES]))
        view_parquet(duck, "labels", parquet_source([self.folder / LABELS]))
        if self.manifest.has_declared:
            view_parquet(duck, "declared", parquet_source([self.folder / DECLARED]))


def open_archive(folder: Path, key: PublicKey | None = None) -> Archive:
    """The archive, each file of which is the one that its manifest names.

    key: who must have signed the manifest; without one nobody need. Raises: Refused.
    """
    try:
        with (folder / MANIFEST).open("rb") as file:
            data = file.read(MAX_MANIFEST_BYTES + 1)
        if len(data) > MAX_MANIFEST_BYTES:
            raise Refused(ARCHIVE_DAMAGED, f"{MANIFEST} is too large")
        if key:
            token = (folder / SIGNATURE).read_bytes().strip()
            verify_detached(token, data, key, typ=ARCHIVE_TYP)
        manifest = parse_manifest(data)
        for entry in manifest.files:
            if digest_file(folder / entry.name) != entry.sha256:
                raise Refused(ARCHIVE_DAMAGED, f"{entry.name} is another file")
    except OSError as error:
        raise Refused(ARCHIVE_DAMAGED, f"{error.filename}: {error.strerror}") from error
    return Archive(folder=folder, manifest=manifest)


def iterate_rankings(duck: "Duck", archive: Archive) -> Iterator[ArchivedRanking]:
    """Yield rankings in the order of the log, a batch of rows at a time.

    Raises: Refused, where a row is not whole.
    """
    names = list(TYPES)
    for name in archive.manifest.names:
        source = _rankings_source([archive.folder / name])
        cursor = duck.cursor().execute(f"SELECT {_ROWS} FROM {source}")  # noqa: S608 — of our own names
        while batch := cursor.fetchmany(BATCH):
            for row in batch:
                yield _read(dict(zip(names, row, strict=True)))


def _rankings_source(files: list[Path]) -> str:
    """Return files of rankings as a table; older ones lack the later columns."""
    later = ", ".join(f"NULL::{TYPES[name]} AS {name}" for name in LATER)
    rows = f"SELECT * FROM {parquet_source(files)}"  # noqa: S608 — of our own names
    return f"({rows} UNION ALL BY NAME SELECT {later} WHERE false)"


def _read(values: dict[str, object]) -> ArchivedRanking:
    try:
        return msgspec.convert(values, ArchivedRanking)
    except msgspec.ValidationError as error:
        problem = f"ranking {values['id']} is not whole: {error}"
        raise Refused(ARCHIVE_DAMAGED, problem) from error
