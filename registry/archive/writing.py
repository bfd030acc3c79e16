"""Writing an archive: a file of rankings for each day, sites, labels, then the manifest.

A folder without a manifest is no archive, so that one which was broken off is none.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np

from registry.archive import label_rows, rows, site_rows
from registry.archive.duck import open_duck, write_parquet
from registry.archive.manifest import (
    ARCHIVE_TYP,
    LABELS,
    MANIFEST,
    SIGNATURE,
    SITES,
    ArchivedFile,
    Manifest,
    encode_manifest,
)
from registry.archive.refusals import ARCHIVE_EXISTS
from registry.archive.rows import ArchivedRanking
from registry.audit.record import format_minute
from registry.errors import Refused
from registry.fairness.arrays import Integers
from registry.fairness.invariance import Tally
from registry.fairness.labels import ToldLabel
from registry.fairness.report.figures import Window
from registry.fairness.window.observation import SiteDisclosure
from registry.identity.detached_jws import sign_detached
from registry.identity.private_keys import PrivateKey
from registry.sites.identifier import parse_site_id, spell_site_id

BATCH = 4_096

_encode_lines = msgspec.json.Encoder().encode_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What stands beside the rankings and sites, see `Manifest`.

    labels: by site, the newest word of each teller at the window's end.
    """

    window: Window
    checkpoint: str
    trials: Sequence[Sequence[Tally]] = ()
    labels: Mapping[int, Sequence[ToldLabel]] = field(default_factory=dict)


class ArchiveWriter:
    """folder: empty, or not there yet; a new one is its owner's alone. Raises: Refused.

    One day at a time: `add` what belongs to it, then `end_day`.
    """

    def __init__(self, folder: Path, sites: Sequence[SiteDisclosure]) -> None:
        if folder.exists() and any(folder.iterdir()):
            raise Refused(ARCHIVE_EXISTS, str(folder))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._lines = folder / "lines.ndjson.draft"
        self._sites = sites
        ids = [parse_site_id(one.site_id) for one in sites]
        self._known = np.sort(np.array(ids, np.int64))
        self._unknown: set[int] = set()
        self._files: list[ArchivedFile] = []
        self._day_rows = 0
        self.rankings = self.erased = self.selections = 0

    def add(self, rankings: Sequence[ArchivedRanking]) -> None:
        """rankings: in the order of the log."""
        with self._lines.open("ab") as file:
            file.write(_encode_lines(rankings))
        self._day_rows += len(rankings)
        self.rankings += len(rankings)
        self.erased += sum(len(one.unopened) == len(rows.OPENED) for one in rankings)
        self.selections += sum(one.selection_index is not None for one in rankings)
        named = [site for one in rankings for site in (*one.returned, *one.sampled)]
        self._note_unknown(np.array(named, np.int64))

    def end_day(self, day: str) -> None:
        """day: as 2026-11-20."""
        self._lines.touch()
        name = f"rankings/day={day}/rankings.parquet"
        self._close(name, rows.TYPES, self._day_rows)
        self._day_rows = 0

    def finish(self, about: Told, key: PrivateKey) -> Manifest:
        unknown = [
            SiteDisclosure(site_id=spell_site_id(one)) for one in sorted(self._unknown)
        ]
        told = [*self._sites, *unknown]
        self._write(SITES, site_rows.TYPES, site_rows.site_lines(told))
        self._write(LABELS, label_rows.TYPES, label_rows.label_lines(about.labels))
        manifest = Manifest(
            start=format_minute(about.window.start_at),
            end=format_minute(about.window.end_at),
            checkpoint=about.checkpoint,
            rankings=self.rankings,
            erased=self.erased,
            selections=self.selections,
            sites=len(told),
            trials=[list(run) for run in about.trials],
            files=self._files,
        )
        write_manifest(self._folder, manifest, key)
        return manifest

    def _note_unknown(self, named: Integers) -> None:
        """Sites that were ranked and are told nowhere else."""
        distinct = np.unique(named)
        place = np.searchsorted(self._known, distinct)
        known = np.append(self._known, -1)[place] == distinct
        self._unknown.update(distinct[~known].tolist())

    def _write(
        self, name: str, types: Mapping[str, str], lines: Iterable[Mapping[str, object]]
    ) -> None:
        count, left = 0, iter(lines)
        with self._lines.open("wb") as file:
            while batch := list(islice(left, BATCH)):
                file.write(_encode_lines(batch))
                count += len(batch)
        self._close(name, types, count)

    def _close(self, name: str, types: Mapping[str, str], count: int) -> None:
        file = self._folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with open_duck(self._folder) as duck:
            write_parquet(duck, self._lines, types, file)
        self._lines.unlink()
        told = ArchivedFile(name=name, sha256=digest_file(file), rows=count)
        self._files.append(told)


def write_manifest(folder: Path, manifest: Manifest, key: PrivateKey) -> None:
    data = encode_manifest(manifest)
    signature = sign_detached(data, key, typ=ARCHIVE_TYP)
    (folder / SIGNATURE).write_text(signature + "\n", encoding="ascii")
    (folder / MANIFEST).write_bytes(data)


def digest_file(file: Path) -> str:
    """SHA-256, in hex."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
