"""Window of rankings and sites, read from an archive in bounded memory.

The same columns as from the database, to the last number (`reports.window.columns`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from registry.errors import Refused
from registry.records.packed_scores import FACTORS, parse_scores
from registry.reports.archive.duck import open_duck
from registry.reports.archive.label_rows import read_labels
from registry.reports.archive.reading import Archive
from registry.reports.archive.refusals import ARCHIVE_DAMAGED
from registry.reports.archive.site_rows import read_sites
from registry.reports.archive.window_spool import SpooledParts
from registry.reports.arrays import Integers, Numbers
from registry.reports.labels import Claims, compare_claims, rank_statements
from registry.reports.window.columns import (
    NO_SITE,
    SAMPLE_KEY_LENGTH,
    SAMPLED_MAX,
    SCORED_MAX,
    UNREPORTED,
    Observed,
    Rankings,
    ScoredColumns,
    join_tiers,
    make_sites,
    number_names,
)
from registry.reports.window.site_numbers import SiteNumbers
from registry.sites.identifier import ALPHABET, parse_site_id

if TYPE_CHECKING:
    from registry.reports.archive.duck import Duck

PART = 65_536  # rankings: some 100 MB while they are put in columns
MAX_ELIGIBLE = 50_000_000

SAMPLE_MIN = 16  # eligible sites of a ranking that are read at the least

# Of a large sample an even part: $most sites from where the last byte of the id points.
_PART = f"""
    CREATE OR REPLACE TEMP TABLE part AS
    WITH stated AS (
        SELECT *, coalesce(nullif(sampled, []), returned) AS eligible_sites,
            ((instr('{ALPHABET}', id[25]) - 1) % 8 * 32 + instr('{ALPHABET}', id[26]) - 1)
                * len(sampled) // 256 AS first
        FROM rankings WHERE leaf_index BETWEEN $begin AND $last
            AND len(returned) > 0 AND ($operator = '' OR operator = $operator)
    )
    SELECT query_key, operator, category, eligible, returned,
        CASE WHEN selection_index IS NULL THEN {UNREPORTED}
            ELSE coalesce(chosen, {NO_SITE}) END AS chosen,
        CASE WHEN len(eligible_sites) <= $most THEN eligible_sites ELSE list_concat(
            eligible_sites[first + 1 : first + $most],
            eligible_sites[1 : greatest(0, first + $most - len(eligible_sites))])
        END AS sampled
    FROM stated
"""  # noqa: S608 — of our own names
_COLUMNS = """
    SELECT query_key, operator, category, eligible, chosen, len(returned) AS returned,
        len(sampled) AS sampled FROM part
"""
_EMPTY = """
    SELECT count(*) FROM rankings
    WHERE len(returned) = 0 AND query_salt IS NOT NULL AND ($operator = '' OR operator = $operator)
"""
_SCORABLE = """
    rankings WHERE scores_salt IS NOT NULL AND len(returned) > 0
        AND ($operator = '' OR operator = $operator)
"""
# First where to stop, from two columns: those of the scores are the greater part of all.
_LAST_SCORED = f"""
    SELECT max(ending) FROM (SELECT right(id, {SAMPLE_KEY_LENGTH}) AS ending
        FROM {_SCORABLE} ORDER BY ending LIMIT {SCORED_MAX})
"""  # noqa: S608 — of our own names
_SCORED = f"""
    SELECT query_key, located, returned, factors, scores, tiers FROM {_SCORABLE}
        AND right(id, {SAMPLE_KEY_LENGTH}) <= $last
    ORDER BY right(id, {SAMPLE_KEY_LENGTH}), id LIMIT {SCORED_MAX}
"""  # noqa: S608 — of our own names


class _KnownSites(SiteNumbers):
    """Numbers of the file of sites: every ranked site has to be in it."""

    @override
    def find(self, ids: Integers) -> Numbers:
        """Raises: Refused, if a site is not in the file."""
        numbers = self.look_up(ids)
        if (numbers < 0).any():
            problem = (
                f"site {ids[numbers < 0][0]} is ranked but not in the file of sites"
            )
            raise Refused(ARCHIVE_DAMAGED, problem)
        return numbers


def observe_archive(archive: Archive, scratch: Path, operator: str = "") -> Observed:
    """The archive's window, of one operator or of all.

    scratch: an empty folder, to be kept until the report is made; it takes some 200
    bytes a ranking. Raises: Refused.
    """
    with open_duck(scratch) as duck:
        archive.view(duck)
        sites = read_sites(duck)
        ids = np.array([parse_site_id(site.site_id) for site in sites], np.int64)
        if len(np.unique(ids)) < len(ids):
            raise Refused(ARCHIVE_DAMAGED, "it has a site twice")
        reader = _Reader(duck, _KnownSites(ids), operator)
        parts = SpooledParts(scratch)
        for part in reader.parts():
            parts.append(part)
        return Observed(parts=parts, scored=reader.scored(), sites=make_sites(sites))


def claims_of_archive(archive: Archive, scratch: Path) -> dict[int, Claims]:
    """Return the claims on sites, by their numbers in `observe_archive`.

    Raises: Refused.
    """
    with open_duck(scratch) as duck:
        archive.view(duck)
        compared = {}
        for site_id, labels in read_labels(duck):
            claims = compare_claims(rank_statements(labels, archive.manifest.end_at))
            if claims.stated_twice:
                compared[site_id] = claims
        sites = duck.execute("SELECT site_id FROM sites").fetchall()
    return {
        number: compared[site_id]
        for number, (site_id,) in enumerate(sites)
        if site_id in compared
    }


@dataclass(frozen=True, slots=True)
class _Reader:
    duck: "Duck"
    numbers: _KnownSites
    operator: str

    def parts(self) -> Iterator[Rankings]:
        """The first counts the rankings without results."""
        leaves = self._fetch("SELECT leaf_index FROM rankings")["leaf_index"]
        if (leaves[1:] <= leaves[:-1]).any():
            raise Refused(ARCHIVE_DAMAGED, "its rankings are not in the log's order")
        most = max(SAMPLE_MIN, SAMPLED_MAX // max(1, len(leaves)))
        (empty,) = self.duck.execute(
            _EMPTY, {"operator": self.operator}
        ).fetchone() or (0,)
        ends = [
            *leaves[PART - 1 : len(leaves) - 1 : PART].tolist(),
            *leaves[-1:].tolist(),
        ]
        del leaves  # 8 bytes a ranking
        begin = 0
        for last in ends:
            span = {"begin": begin, "last": last, "most": most}
            self.duck.execute(_PART, {**span, "operator": self.operator})
            part = self._part(empty)
            if len(part) or part.empty:
                yield part
            begin, empty = last + 1, 0

    def _part(self, empty: int) -> Rankings:
        columns = self._fetch(_COLUMNS)
        if columns["eligible"].max(initial=0) > MAX_ELIGIBLE:
            raise Refused(ARCHIVE_DAMAGED, "more are eligible than a registry has")
        operators, operator = number_names(columns["operator"].tolist())
        categories, category = number_names(columns["category"].tolist())
        return Rankings(
            keys=columns["query_key"],
            operator=operator,
            operators=operators,
            category=category,
            categories=categories,
            returned=self._find("returned"),
            returned_counts=columns["returned"].astype(np.int32),
            sampled=self._find("sampled"),
            sampled_counts=columns["sampled"].astype(np.int32),
            chosen=self._chosen(columns["chosen"]),
            most_eligible=int(columns["eligible"].max(initial=0)),
            empty=empty,
        )

    def scored(self) -> ScoredColumns:
        given = {"operator": self.operator}
        (last,) = self.duck.execute(_LAST_SCORED, given).fetchone() or ("",)
        rows = self.duck.execute(_SCORED, {**given, "last": last or ""}).fetchall()
        read = [_read_scores(*row[2:]) for row in rows]
        sites = [site for order, _, _ in read for site in order]
        factors = np.array(
            [values for _, factors, _ in read for values in factors], np.int64
        )
        return ScoredColumns(
            keys=np.array([row[0] for row in rows], np.uint64),
            counts=np.array([len(order) for order, _, _ in read], np.int32),
            sites=self.numbers.find(np.array(sites, np.int64)),
            factors=factors.reshape(-1, FACTORS),
            tiers=join_tiers([(len(order), tiers) for order, _, tiers in read]),
            located=np.array([row[1] for row in rows], np.bool_),
        )

    def _find(self, lists: str) -> Numbers:
        return self.numbers.find(
            self._fetch(f"SELECT unnest({lists}) AS id FROM part")["id"]  # noqa: S608 — our own name
        )

    def _chosen(self, chosen: Integers) -> Numbers:
        numbers = chosen.astype(np.int32)
        named = chosen >= 0
        numbers[named] = self.numbers.find(chosen[named])
        return numbers

    def _fetch(self, query: str) -> dict[str, Any]:
        """Columns of what has a value in each row. Raises: Refused."""
        columns = self.duck.execute(query).fetchnumpy()
        for name, values in columns.items():
            if np.ma.is_masked(values):
                raise Refused(ARCHIVE_DAMAGED, f"a ranking has no {name}")
        return {name: np.ma.getdata(values) for name, values in columns.items()}


def _read_scores(
    order: list[int],
    factors: list[int] | None,
    scores: str | None,
    tiers: list[int] | None,
) -> tuple[list[int], list[int], list[int]]:
    """Return site ids, their factors, five each, and tiers if stated. Raises: Refused."""
    with Refused.on(ValueError, ARCHIVE_DAMAGED, "scores that are none: {}".format):
        scored = parse_scores(scores) if scores is not None else []
        sites = [parse_site_id(row.site) for row in scored] or order
    values = [factor for row in scored for factor in row.factors] or factors or []
    if len(values) != FACTORS * len(sites) or None in values:
        raise Refused(ARCHIVE_DAMAGED, "scores of other sites than were returned")
    tiers = [row.tier for row in scored if row.tier is not None] or tiers or []
    if len(tiers) not in {0, len(sites)} or not {*tiers} <= {0, 1}:
        raise Refused(ARCHIVE_DAMAGED, "tiers of other sites than were returned")
    return sites, values, tiers
