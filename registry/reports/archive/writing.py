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

from registry.errors import Refused
from registry.identity.keys.private_keys import PrivateKey
from registry.identity.statements.detached_jws import sign_detached
from registry.records.record import format_minute
from registry.reports.archive import archive_rows as rows
from registry.reports.archive import declared_rows, label_rows, site_rows
from registry.reports.archive.archive_manifest import (
    ARCHIVE_TYP,
    DECLARED,
    LABELS,
    MANIFEST,
    SIGNATURE,
    SITES,
    ArchivedFile,
    Manifest,
    encode_manifest,
)
from registry.reports.archive.archive_rows import ArchivedRanking
from registry.reports.archive.duck import open_duck, write_parquet
from registry.reports.archive.refusals import ARCHIVE_EXISTS
from registry.reports.arrays import Integers
from registry.reports.invariance import TrialCount
from registry.reports.labels import LabelStatement
from registry.reports.report_terms import Window
from registry.reports.window.observation import SiteDisclosure
from registry.sites.identifier import format_site_id, parse_site_id

BATCH = 4_096

_encode_lines = msgspec.json.Encoder().encode_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSummary:
    """Members of the manifest beside rankings and sites, see `Manifest`.

    trials: of each run, with its salt. labels: by site, the newest word of each author at
    the window's end.
    """

    window: Window
    checkpoint: str
    trials: Sequence[tuple[Sequence[TrialCount], str]] = ()
    labels: Mapping[int, Sequence[LabelStatement]] = field(default_factory=dict)


class ArchiveWriter:
    """Begin a folder, empty or new; a new one is its owner's alone. Raises: Refused.

    One day at a time: `add` what belongs to it, then `end_day`.
    """

    def __init__(self, folder: Path, sites: Sequence[SiteDisclosure]) -> None:
        if folder.exists() and any(folder.iterdir()):
            raise Refused(ARCHIVE_EXISTS, str(folder))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._lines = folder / "lines.ndjson.draft"
        self._sites = sites
        ids = [parse_site_id(site.site_id) for site in sites]
        self._known = np.sort(np.array(ids, np.int64))
        self._unknown: set[int] = set()
        self._files: list[ArchivedFile] = []
        self._day_rows = self._declared_rows = 0
        self.rankings = self.erased = self.selections = 0

    def add(self, rankings: Sequence[ArchivedRanking]) -> None:
        """Add rankings in the order of the log."""
        with self._lines.open("ab") as file:
            file.write(_encode_lines(rankings))
        self._day_rows += len(rankings)
        self.rankings += len(rankings)
        self.erased += sum(
            len(ranking.unopened) == len(rows.OPENED) for ranking in rankings
        )
        self.selections += sum(
            ranking.selection_index is not None for ranking in rankings
        )
        named = [
            site
            for ranking in rankings
            for site in (*ranking.returned, *ranking.sampled)
        ]
        self._note_unknown(np.array(named, np.int64))

    def end_day(self, day: str) -> None:
        """Write the rankings so far as those of a day, such as 2026-11-20."""
        self._lines.touch()
        name = f"rankings/day={day}/rankings.parquet"
        self._close(name, rows.TYPES, self._day_rows)
        self._day_rows = 0

    def add_declared(self, rows_: Sequence[Mapping[str, object]]) -> None:
        """Add what sites declared, in the order of their ids, behind the last day."""
        with self._lines.open("ab") as file:
            file.write(_encode_lines(rows_))
        self._declared_rows += len(rows_)

    def finish(self, about: WriteSummary, key: PrivateKey) -> Manifest:
        if self._declared_rows:
            self._close(DECLARED, declared_rows.TYPES, self._declared_rows)
        unknown = [
            SiteDisclosure(site_id=format_site_id(site_id))
            for site_id in sorted(self._unknown)
        ]
        sites = [*self._sites, *unknown]
        self._write(SITES, site_rows.TYPES, site_rows.site_rows(sites))
        self._write(LABELS, label_rows.TYPES, label_rows.label_rows(about.labels))
        manifest = Manifest(
            start=format_minute(about.window.start_at),
            end=format_minute(about.window.end_at),
            checkpoint=about.checkpoint,
            rankings=self.rankings,
            erased=self.erased,
            selections=self.selections,
            sites=len(sites),
            trials=[list(run) for run, _ in about.trials],
            swap_salts=[salt for _, salt in about.trials],
            files=self._files,
        )
        write_manifest(self._folder, manifest, key)
        return manifest

    def _note_unknown(self, named: Integers) -> None:
        """Sites that were ranked and are in no other row."""
        distinct = np.unique(named)
        at = np.searchsorted(self._known, distinct)
        known = np.append(self._known, -1)[at] == distinct
        self._unknown.update(distinct[~known].tolist())

    def _write(
        self, name: str, types: Mapping[str, str], lines: Iterable[msgspec.Struct]
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
        entry = ArchivedFile(name=name, sha256=digest_file(file), rows=count)
        self._files.append(entry)


def write_manifest(folder: Path, manifest: Manifest, key: PrivateKey) -> None:
    data = encode_manifest(manifest)
    signature = sign_detached(data, key, typ=ARCHIVE_TYP)
    (folder / SIGNATURE).write_text(signature + "\n", encoding="ascii")
    (folder / MANIFEST).write_bytes(data)


def digest_file(file: Path) -> str:
    """SHA-256, in hex."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
