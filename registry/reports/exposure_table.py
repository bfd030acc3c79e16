"""The exposure of sites on a day, as everybody may know it: small cells are withheld.

A day's tables overlap no other day's, and each is computed once, so that none can be taken
off another. What is withheld is told as one sum, unless that sum would give a part of it
away: it then takes up the smallest of the cells that could be told.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from typing import Annotated, NamedTuple

import msgspec
import numpy as np

from registry.errors import Refused
from registry.records.canonical import canonical_json
from registry.records.record import ANONYMOUS
from registry.reports.refusals import EXPOSURE_TABLE_INVALID
from registry.reports.window.aggregate import LOGARITHMIC, aggregate_by_site
from registry.reports.window.columns import Rankings
from registry.sites.identifier import format_site_id

VERSION = "fair-registry-exposure/1"
FORM = "exposure"
"""Name of a table among the forms of a report's record."""
MINIMUM = 10
FEWEST_SITES = 3
"""Sites behind a sum: of two, each knows the other's figure by its own."""
UNIT = 1000
"""Attention of a ranking in units; finer than thousandths would tell the ranks."""

Natural = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]


class SiteCounts(NamedTuple):
    """Exposure of a site on a day. site: its id.

    attention: in thousandths of what one ranking gives, as reports count it.
    apart, chosen_apart: appearances and selections without those of the operator that had
    the most of them, who knows them and would see what the others had.
    """

    site: int
    appearances: int
    attention: int
    selections: int
    apart: int
    chosen_apart: int


class DayCounts(NamedTuple):
    """rankings: of the day; erased: those whose disclosures are no more.

    apart: without the erased, and without those of the operator that had the most.
    """

    rankings: int
    erased: int
    apart: int
    sites: Sequence[SiteCounts]


class SiteRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """selections: None where it is withheld."""

    site: str
    appearances: Natural
    attention: Natural
    selections: Natural | None


class Remainder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sums over what no site is told for; None where even the sum would tell.

    sites, appearances, attention: of sites that are not listed. selections: of these and
    of the listed ones whose own are withheld.
    """

    sites: Natural | None
    appearances: Natural | None
    attention: Natural | None
    selections: Natural | None


class ExposureTable(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """rankings: of the day, in the log. erased: those erased when the table was made.

    sites: in the order of their ids.
    """

    version: str
    day: str
    minimum: Natural
    rankings: Natural
    erased: Natural
    sites: tuple[SiteRow, ...]
    others: Remainder


def count_sites(
    parts: Sequence[Rankings],
    ids: Sequence[int],
    chosen: Iterable[tuple[int, str, int]],
    *,
    is_shared: bool,
) -> list[SiteCounts]:
    """Return the counts of each site that appeared or was chosen, by id.

    ids: by number. chosen: site, operator, and how often it chose the site. is_shared:
    there are others than one operator, from whom something is to be kept.
    """
    attention = UNIT * aggregate_by_site(parts, len(ids))[LOGARITHMIC]
    shown = _tally(_appearances(parts, ids), is_shared=is_shared)
    selected = _tally(chosen, is_shared=is_shared)
    weight = {ids[number]: number for number in np.flatnonzero(attention).tolist()}
    return [
        SiteCounts(
            site,
            appearances := shown.get(site, _NONE).total,
            round(float(attention[weight[site]])) if appearances else 0,
            selected.get(site, _NONE).total,
            shown.get(site, _NONE).apart,
            selected.get(site, _NONE).apart,
        )
        for site in sorted({*shown, *selected})
    ]


class _Amount(NamedTuple):
    """apart: without those of the operator that had the most; nobody's are anybody's."""

    total: int = 0
    largest: int = 0

    @property
    def apart(self) -> int:
        return self.total - self.largest


_NONE = _Amount()


def _tally(
    rows: Iterable[tuple[int, str, int]], *, is_shared: bool
) -> dict[int, _Amount]:
    """rows: site, operator and count; each pair once."""
    amounts: dict[int, _Amount] = {}
    for site, operator, count in rows:
        total, largest = amounts.get(site, _NONE)
        named = count if is_shared and operator != ANONYMOUS else 0
        amounts[site] = _Amount(total + count, max(largest, named))
    return amounts


def _appearances(
    parts: Sequence[Rankings], ids: Sequence[int]
) -> Iterator[tuple[int, str, int]]:
    """Yield site, operator and count, each pair once."""
    counts: Counter[tuple[int, str]] = Counter()
    for part in parts:
        operator = np.repeat(part.operator, part.returned_counts).astype(np.int64)
        pairs, number = np.unique(
            operator * len(ids) + part.returned, return_counts=True
        )
        for pair, count in zip(pairs.tolist(), number.tolist(), strict=True):
            name, site = divmod(pair, len(ids))
            counts[ids[site], part.operators[name]] += count
    return ((site, name, count) for (site, name), count in counts.items())


def make_table(day: date, counts: DayCounts) -> ExposureTable:
    """Return of the counts what may be told."""
    rows = counts.sites
    listed, has_sum = _split([(row.apart, row.appearances, row.site) for row in rows])
    chosen, has_choices = _split(
        [(row.chosen_apart, row.selections, row.site) for row in rows], among=listed
    )
    rest = [row for row in rows if row.appearances and row.site not in listed]
    has_many = counts.apart >= MINIMUM
    return ExposureTable(
        version=VERSION,
        day=day.isoformat(),
        minimum=MINIMUM,
        rankings=counts.rankings,
        erased=counts.erased,
        sites=tuple(
            SiteRow(
                format_site_id(row.site),
                row.appearances,
                row.attention,
                row.selections if row.site in chosen else None,
            )
            for row in rows
            if row.site in listed
        ),
        others=Remainder(
            *(len(rest), sum(row.appearances for row in rest)),
            sum(row.attention for row in rest),
            _hidden(rows, chosen) if has_choices and has_many else None,
        )
        if has_sum and has_many
        else Remainder(None, None, None, None),
    )


def _hidden(rows: Sequence[SiteCounts], chosen: Collection[int]) -> int:
    return sum(row.selections for row in rows if row.site not in chosen)


def _split(
    amounts: Iterable[tuple[int, int, int]], among: Collection[int] | None = None
) -> tuple[frozenset[int], bool]:
    """Return the sites whose amount may be told, and whether the sum of the others may.

    amounts: without the largest operator's, with it, and the site. among: the sites that
    are listed at all.
    """
    ordered = sorted((row for row in amounts if row[1]), reverse=True)
    listed = [
        row
        for row in ordered
        if row[0] >= MINIMUM and (among is None or row[2] in among)
    ]
    large = {site for _, _, site in listed}
    hidden = [apart for apart, _, site in ordered if site not in large]
    while hidden and not _is_enough(hidden) and listed:
        hidden.append(listed.pop()[0])
    may_sum = not hidden or _is_enough(hidden)
    return frozenset(site for _, _, site in listed), may_sum


def _is_enough(apart: Sequence[int]) -> bool:
    return sum(map(bool, apart)) >= FEWEST_SITES and sum(apart) >= MINIMUM


def encode_table(table: ExposureTable) -> bytes:
    """Encode it as canonical JSON."""
    return canonical_json(msgspec.to_builtins(table))


def parse_table(body: bytes) -> ExposureTable:
    """Parse a table whose cells are told as they may be. Raises: Refused."""
    try:
        table = msgspec.json.decode(body, type=ExposureTable)
    except msgspec.MsgspecError as error:
        raise Refused(EXPOSURE_TABLE_INVALID, str(error)) from error
    sites = [row.site for row in table.sites]
    if encode_table(table) != body or sites != sorted(set(sites)):
        raise Refused(EXPOSURE_TABLE_INVALID, "it is not canonical")
    if table.version != VERSION:
        raise Refused(EXPOSURE_TABLE_INVALID, f"it is a {table.version[:40]}")
    if any(_tells_too_much(row, table.rankings) for row in table.sites):
        raise Refused(EXPOSURE_TABLE_INVALID, "a cell can't be")
    return table


def _tells_too_much(row: SiteRow, rankings: int) -> bool:
    """Return whether a cell is below the minimum, or more than there were rankings."""
    small = 0 < (row.selections or 0) < MINIMUM or row.appearances < MINIMUM
    return small or row.appearances > rankings or row.attention > UNIT * row.appearances
