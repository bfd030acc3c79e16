"""The manifest of an archive: its window, its files, and the log that covers it.

Signed as a detached JWS over its bytes, with the key of the registry's promises.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec

from registry.errors import Refused
from registry.records.canonical import canonical_json
from registry.reports.archive.refusals import ARCHIVE_DAMAGED
from registry.reports.invariance import TrialCount

MANIFEST, SIGNATURE = "manifest.json", "manifest.json.jws"
ARCHIVE_TYP = "fairness-archive+jws"
SITES, LABELS, DECLARED = "sites.parquet", "labels.parquet", "declared.parquet"
MAX_MANIFEST_BYTES = 4_000_000

_NAME = re.compile(
    r"(sites|labels|declared)\.parquet|rankings/day=\d{4}-\d{2}-\d{2}/rankings\.parquet"
)
_NAMED = {SITES, LABELS}
_MINUTE = r"^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]Z$"

Natural = Annotated[int, msgspec.Meta(ge=0)]
Minute = Annotated[str, msgspec.Meta(pattern=_MINUTE)]


class ArchivedFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """File of an archive. name: below the folder. sha256: in hex."""

    name: str
    sha256: str
    rows: Natural


class Manifest(
    msgspec.Struct, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """Manifest of an archive. start, end: minutes of the window, the latter not in it.

    checkpoint: the signed note of the tree that holds every record of the archive. erased:
    rankings of which nothing is disclosed any more. trials: of invariance, of each run
    in the window what was tried. swap_salts: of each run, see `digest_swaps`; none in
    older archives.
    """

    version: Literal["fairness-archive/2"] = "fairness-archive/2"
    start: Minute = msgspec.field(name="from")
    end: Minute = msgspec.field(name="to")
    checkpoint: str
    rankings: Natural
    erased: Natural
    selections: Natural
    sites: Natural
    trials: list[list[TrialCount]]
    swap_salts: list[str] = []
    files: list[ArchivedFile]

    @property
    def start_at(self) -> datetime:
        return datetime.fromisoformat(self.start).astimezone(UTC)

    @property
    def end_at(self) -> datetime:
        return datetime.fromisoformat(self.end).astimezone(UTC)

    @property
    def names(self) -> list[str]:
        """Names of the files of rankings, in the order of their days."""
        return sorted({file.name for file in self.files} - _NAMED - {DECLARED})

    @property
    def has_declared(self) -> bool:
        """Return whether it has what sites declared: older archives do not."""
        return any(file.name == DECLARED for file in self.files)


def encode_manifest(manifest: Manifest) -> bytes:
    return canonical_json(msgspec.to_builtins(manifest))


def parse_manifest(data: bytes) -> Manifest:
    """Raises: Refused."""
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
        (manifest.start_at, manifest.end_at)  # noqa: B018 — they must be what they say
    except (ValueError, OverflowError) as error:
        raise Refused(ARCHIVE_DAMAGED, f"{MANIFEST}: {error}") from error
    names = [file.name for file in manifest.files]
    if not all(map(_NAME.fullmatch, names)) or len(set(names)) < len(names):
        raise Refused(ARCHIVE_DAMAGED, f"{MANIFEST} names files of another kind")
    if not set(names) > _NAMED:
        raise Refused(ARCHIVE_DAMAGED, f"{MANIFEST} does not name all files")
    return manifest
