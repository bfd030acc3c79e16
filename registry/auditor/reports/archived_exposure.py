"""Exposure of days held against an archive: exact counts, and the labels of sites.

`audit reproduce-report` holds the archive itself against the log.
"""

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path

import msgspec

from registry.auditor.reports.noise_sums import DEVIATIONS, NoiseSums
from registry.errors import Refused
from registry.identity.keys.public_keys import PublicKey
from registry.reports.archive.duck import open_duck
from registry.reports.archive.observing import observe_archive
from registry.reports.archive.reading import Archive, open_archive
from registry.reports.archive.refusals import REPORT_NOT_REPRODUCIBLE
from registry.reports.archive.site_rows import read_sites
from registry.reports.exposure_table import (
    MINIMUM,
    NOISE,
    UNIT,
    ExposureTable,
    SiteCounts,
    SiteRow,
    count_sites,
)
from registry.reports.window.observation import SiteDisclosure
from registry.sites.identifier import format_site_id, parse_site_id
from registry.usecases.reports.calendar_months import midnight

_ERASED = "SELECT count(*) FROM rankings WHERE query_salt IS NULL"


@dataclass(frozen=True)
class ArchivedExposure:
    """sites: with the labels that counted at the end. sums: of all tables so far."""

    archive: Archive
    sites: list[SiteDisclosure]
    sums: NoiseSums = field(default_factory=NoiseSums)

    @cached_property
    def kinds(self) -> Mapping[int, tuple[str, ...]]:
        return {parse_site_id(site.site_id): _kinds(site) for site in self.sites}

    def differences(self, table: ExposureTable) -> Iterator[str]:
        """Yield what a day's table has otherwise. Raises: Refused.

        Selections of a day are those of earlier answers too: they are not compared.
        """
        rankings, erased, counts = self._count(table.day)
        if table.rankings != rankings:
            yield f"{table.day}: it has {table.rankings} rankings, the archive {rankings}"
        if table.erased > erased:
            yield f"{table.day}: it has {table.erased} erased, the archive {erased}"
        rows = {parse_site_id(row.site): row for row in table.sites}
        since = max(0, erased - table.erased)
        for site in rows.keys() | counts.keys():
            own = counts.get(site, SiteCounts(site))
            subject = f"site {format_site_id(site)}"
            if not _is_plausible(rows.get(site), own, since):
                shown = rows[site].appearances if site in rows else "no"
                gives = f"{shown} appearances, the archive {own.appearances}"
                yield f"{table.day}: {subject} has {gives}"
            elif table.noise:
                kinds = (subject, *self.kinds.get(site, ()))
                self.sums.add(kinds, rows.get(site), own, since)

    def _count(self, day: str) -> tuple[int, int, Mapping[int, SiteCounts]]:
        """Return a day's rankings, of which how many are erased, and what sites got."""
        manifest, name = self.archive.manifest, f"rankings/day={day}/rankings.parquet"
        other = set(manifest.names) - {name}
        files = [file for file in manifest.files if file.name not in other]
        if name not in manifest.names:
            return 0, 0, {}
        of_day = replace(
            self.archive, manifest=msgspec.structs.replace(manifest, files=files)
        )
        ids = [parse_site_id(site.site_id) for site in self.sites]
        with tempfile.TemporaryDirectory(prefix="fair-registry-") as scratch:
            with open_duck(Path(scratch)) as duck:
                of_day.view(duck)
                ((erased,),) = duck.execute(_ERASED).fetchall()
            parts = [*observe_archive(of_day, Path(scratch)).parts]
            counts = count_sites(parts, ids, {})
        rankings = sum(file.rows for file in files if file.name == name)
        return rankings, erased, {row.site: row for row in counts}


def _kinds(site: SiteDisclosure) -> tuple[str, ...]:
    kinds = (site.size, f"{site.independence} (independence)", site.category)
    return tuple(f"sites of {kind}" for kind in kinds)


def open_exposure(
    folder: Path, key: PublicKey, first: date, last: date
) -> ArchivedExposure:
    """Raises: Refused, if it is damaged or its window ends otherwise or begins later."""
    archive = open_archive(folder, key)
    manifest, end_at = archive.manifest, midnight(last + timedelta(days=1))
    if manifest.start_at > midnight(first) or manifest.end_at != end_at:
        detail = f"the archive is of {manifest.start} to {manifest.end}"
        raise Refused(REPORT_NOT_REPRODUCIBLE, detail)
    with (
        tempfile.TemporaryDirectory(prefix="fair-registry-") as scratch,
        open_duck(Path(scratch)) as duck,
    ):
        archive.view(duck)
        return ArchivedExposure(archive, read_sites(duck))


def _is_plausible(row: SiteRow | None, own: SiteCounts, erased: int) -> bool:
    """Return whether noise gives the row. erased: rankings that it may count besides."""
    slack = DEVIATIONS * NOISE.appearances
    if row is None:
        return own.appearances - slack < MINIMUM
    is_seen = -slack <= row.appearances - own.appearances <= slack + erased
    slack = DEVIATIONS * NOISE.attention
    return is_seen and -slack <= row.attention - own.attention <= slack + UNIT * erased
