"""The exposure of sites on a day, as everybody may know it: each count with noise.

A reader who fills cells by searches of his own can subtract those from the table,
whatever its threshold. So no exact count is published: each has a normal draw added, which
the day's key and the site determine, the same for all readers. A day's tables overlap no
other day's, and each is computed once, so that none can be subtracted from another.
"""

import hmac
from collections.abc import Mapping, Sequence
from datetime import date
from statistics import NormalDist
from typing import Annotated, NamedTuple

import msgspec
import numpy as np

from registry.errors import Refused
from registry.records.canonical import canonical_json
from registry.reports.refusals import EXPOSURE_TABLE_INVALID
from registry.reports.window.aggregate import LOGARITHMIC, aggregate_by_site
from registry.reports.window.columns import Rankings
from registry.sites.identifier import format_site_id

VERSION = "fair-registry-exposure/2"
WITHOUT_NOISE = "fair-registry-exposure/1"
"""Version of former tables: exact, with sums in the place of counts below ten."""
FORM = "exposure"
"""Name of a table among the forms of a report's record."""
UNIT = 1000
"""Attention of a ranking in units; finer than thousandths would show the ranks."""
KEY_BYTES = 32

Natural = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
Whole = Annotated[int, msgspec.Meta(gt=-(2**53), lt=2**53)]


class Noise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Standard deviations of what is added to a site's counts."""

    appearances: Natural
    attention: Natural
    selections: Natural


NOISE = Noise(appearances=50, attention=5 * UNIT, selections=10)
"""So wide that a ranking of twenty sites and its choice move all its cells together by 0.15
standard deviations, and the most that one can move, a hundred sites, by 0.25."""
MINIMUM = 4 * NOISE.appearances
"""Appearances, with noise, below which a site has no row: a site that appeared once has one
no more often than three times in 100,000, so that a row does not show an appearance."""
FORMER_MINIMUM = 10
IMPLAUSIBLE = 8
"""Standard deviations that no draw reaches."""


class SiteCounts(NamedTuple):
    """Exposure of a site on a day. site: its id.

    attention: in thousandths of what one ranking gives, as reports count it.
    """

    site: int
    appearances: int = 0
    attention: int = 0
    selections: int = 0


class DayCounts(NamedTuple):
    """rankings: of the day; erased: those whose disclosures are no more."""

    rankings: int
    erased: int
    sites: Sequence[SiteCounts]


class SiteRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """selections: None where a former table withheld it."""

    site: str
    appearances: Natural
    attention: Whole
    selections: Whole | None


class Remainder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sums of former tables over the sites below the minimum; None in those with noise."""

    sites: Natural | None = None
    appearances: Natural | None = None
    attention: Natural | None = None
    selections: Natural | None = None


class ExposureTable(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """rankings: of the day, in the log. erased: those erased when the table was made.

    sites: in the order of their ids. minimum: appearances of a row.
    """

    version: str
    day: str
    minimum: Natural
    noise: Noise | msgspec.UnsetType = msgspec.UNSET
    rankings: Natural
    erased: Natural
    sites: tuple[SiteRow, ...]
    others: Remainder


def count_sites(
    parts: Sequence[Rankings], ids: Sequence[int], chosen: Mapping[int, int]
) -> list[SiteCounts]:
    """Return the counts of each site that appeared or was chosen, by id.

    ids: by number. chosen: how often a site was.
    """
    attention = UNIT * aggregate_by_site(parts, len(ids))[LOGARITHMIC]
    shown = np.zeros(len(ids), np.int64)
    for part in parts:
        shown += np.bincount(part.returned, minlength=len(ids))
    counts = {site: SiteCounts(site, selections=n) for site, n in chosen.items()}
    for number in np.flatnonzero(shown).tolist():
        site, weight = ids[number], round(float(attention[number]))
        selections = chosen.get(site, 0)
        counts[site] = SiteCounts(site, int(shown[number]), weight, selections)
    return [counts[site] for site in sorted(counts)]


def add_noise(counts: SiteCounts, key: bytes) -> SiteCounts:
    """Return the counts of a site with noise, as they are published. key: of the day."""
    digest = hmac.digest(key, counts.site.to_bytes(8, "big"), "sha256")
    words = (int.from_bytes(digest[at : at + 8], "big") >> 12 for at in (0, 8, 16))
    draws = [NormalDist().inv_cdf((word + 0.5) / 2**52) for word in words]
    spreads = msgspec.structs.astuple(NOISE)
    return SiteCounts(
        counts.site,
        *(
            amount + round(spread * draw)
            for amount, spread, draw in zip(counts[1:], spreads, draws, strict=True)
        ),
    )


def make_table(day: date, counts: DayCounts, key: bytes) -> ExposureTable:
    """Return the part of the counts that is published."""
    rows = [add_noise(row, key) for row in counts.sites]
    return ExposureTable(
        version=VERSION,
        day=day.isoformat(),
        minimum=MINIMUM,
        noise=NOISE,
        rankings=counts.rankings,
        erased=counts.erased,
        sites=tuple(
            SiteRow(format_site_id(row.site), *row[1:])
            for row in rows
            if row.appearances >= MINIMUM
        ),
        others=Remainder(),
    )


def encode_table(table: ExposureTable) -> bytes:
    """Encode it as canonical JSON."""
    return canonical_json(msgspec.to_builtins(table))


def parse_table(body: bytes) -> ExposureTable:
    """Parse a table as it is published. Raises: Refused."""
    with Refused.on(msgspec.MsgspecError, EXPOSURE_TABLE_INVALID, str):
        table = msgspec.json.decode(body, type=ExposureTable)
    sites = [row.site for row in table.sites]
    if encode_table(table) != body or sites != sorted(set(sites)):
        raise Refused(EXPOSURE_TABLE_INVALID, "it is not canonical")
    if (table.version, table.minimum, table.noise) not in (
        (VERSION, MINIMUM, NOISE),
        (WITHOUT_NOISE, FORMER_MINIMUM, msgspec.UNSET),
    ):
        raise Refused(EXPOSURE_TABLE_INVALID, f"it is a {table.version[:40]}")
    if any(_cannot_be(row, table) for row in table.sites):
        raise Refused(EXPOSURE_TABLE_INVALID, "a cell can't be")
    if table.noise and table.others != Remainder():
        raise Refused(EXPOSURE_TABLE_INVALID, "it has exact sums")
    return table


def _cannot_be(row: SiteRow, table: ExposureTable) -> bool:
    """Return whether a cell is below the minimum, or more than there were rankings."""
    noise = table.noise or Noise(0, 0, 0)
    is_small = row.appearances < table.minimum or (
        not table.noise and 0 < (row.selections or 0) < table.minimum
    )
    excess = row.appearances - IMPLAUSIBLE * noise.appearances
    weight = row.attention - IMPLAUSIBLE * (noise.attention + UNIT * noise.appearances)
    return is_small or excess > table.rankings or weight > UNIT * row.appearances
