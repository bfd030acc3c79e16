"""SQL of labels: statements on sites for reports, with author and validity.

Rows are added and never changed, so that the labels of any past instant can be read.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeVar

from sqlalchemy import bindparam, text

from registry.db.engine.engines import Connection
from registry.db.engine.prepared import Gathered, Prepared
from registry.db.schema.column_types import RecordId
from registry.db.sites.former_categories import categories_then
from registry.reports.labels import (
    Claims,
    LabelledSite,
    LabelStatement,
    SiteLabel,
    compare_claims,
    rank_statements,
    settle,
)
from registry.sites.identifier import format_site_id
from registry.sites.label import Independence, Label, Size

Value = TypeVar("Value")

_NEWEST_BY_AUTHOR = """
    SELECT DISTINCT ON (site_id, told_by) site_id, told_by, told_at, valid_from,
        observed_on, source, size, independence, chain, commission_percent
    FROM disclosure.label WHERE valid_from <= :at {which}
    ORDER BY site_id, told_by, told_at DESC, label_id DESC
"""
LABELS = text(_NEWEST_BY_AUTHOR.format(which=""))
LABELS_OF_SITES = text(
    _NEWEST_BY_AUTHOR.format(which="AND site_id = ANY (CAST(:site_ids AS bigint[]))")
)
# Only two authors can state the same.
STATED_TWICE = text(
    _NEWEST_BY_AUTHOR.format(
        which="""AND site_id IN (SELECT site_id FROM disclosure.label
            WHERE valid_from <= :at GROUP BY site_id
            HAVING min(told_by) <> max(told_by))"""
    )
)

POSITIONS = text("""
    SELECT site_id, position FROM (
        SELECT site_id, row_number() OVER (ORDER BY site_id) - 1 AS position
        FROM registry.site WHERE registered_at <= :at
    ) AS registered WHERE site_id = ANY (CAST(:site_ids AS bigint[]))
""")

HISTORY = text("""
    SELECT site_id, told_by, told_at, valid_from, observed_on, source, size,
        independence, chain, commission_percent
    FROM disclosure.label WHERE site_id = :site_id AND valid_from <= :at
    ORDER BY label_id DESC LIMIT :most
""")

# A statement that repeats its author's last is not added, nor is an empty first one.
_SAVE_OWN = Prepared(
    text("""
    INSERT INTO disclosure.label (site_id, told_by, told_at, valid_from, size,
        independence, chain, commission_percent, source)
    SELECT n.site_id, n.told_by, n.now, n.now, n.size, n.independence, n.chain,
        n.commission_percent, n.source
    FROM (SELECT CAST(:site_id AS bigint) AS site_id, CAST(:stated_by AS text) AS told_by,
        CAST(:now AS timestamptz) AS now, CAST(:size AS text) AS size,
        CAST(:independence AS text) AS independence, CAST(:chain AS text) AS chain,
        CAST(:commission_percent AS double precision) AS commission_percent,
        CAST(:source AS text) AS source) AS n
    WHERE NOT coalesce((
        SELECT (l.size, l.independence, l.chain, l.commission_percent) IS NOT DISTINCT
            FROM (n.size, n.independence, n.chain, n.commission_percent)
        FROM disclosure.label AS l
        WHERE l.site_id = n.site_id AND l.told_by = n.told_by
        ORDER BY l.told_at DESC, l.label_id DESC LIMIT 1
    ), num_nonnulls(n.size, n.independence, n.chain, n.commission_percent) = 0)
""")
)

PUT = text("""
    INSERT INTO disclosure.label (site_id, told_by, told_at, valid_from, observed_on,
        size, independence, chain, commission_percent, source, statement, record_id)
    VALUES (:site_id, :stated_by, :stated_at, :valid_from, :observed_on, :size,
        :independence, :chain, :commission_percent, :source, :statement, :record_id)
    ON CONFLICT (statement) DO NOTHING
""").bindparams(bindparam("record_id", type_=RecordId))

SITE = text("SELECT site_id FROM registry.site WHERE site_id = :site_id")

LISTED = text("""
    SELECT site_id, registrable_domain, category, registered_at FROM registry.site
    WHERE registered_at <= :at AND site_id > :after ORDER BY site_id LIMIT :most
""")


async def labels_at(connection: Connection, at: datetime) -> dict[int, SiteLabel]:
    """Return the labels that counted at an instant, by the sites' numbers, in their order.

    Sites without a statement are left out.
    connection: of a role that may read disclosures.
    """
    statements = await statements_at(connection, at)
    return await asyncio.to_thread(_settle, statements, at)


async def claims_at(connection: Connection, at: datetime) -> dict[int, Claims]:
    """Return the claims of sites of which two authors state the same field."""
    rows = (await connection.execute(STATED_TWICE, {"at": at})).all()
    statements = await asyncio.to_thread(_by_site, rows)
    return await asyncio.to_thread(_claims, statements, at)


async def sites_by_position(
    connection: Connection, at: datetime, values_of_sites: Mapping[int, Value]
) -> dict[int, Value]:
    """Return the values by the sites' positions in the order of those registered by then."""
    values = {"at": at, "site_ids": list(values_of_sites)}
    rows = await connection.execute(POSITIONS, values)
    return {position: values_of_sites[site_id] for site_id, position in rows}


async def labelled_sites(
    connection: Connection, at: datetime, *, after: int, most: int
) -> list[LabelledSite]:
    """Sites registered by then, labelled or not, in the order of their numbers."""
    values = {"at": at, "after": after, "most": most}
    rows = (await connection.execute(LISTED, values)).all()
    statements = await statements_at(connection, at, [row.site_id for row in rows])
    last = rows[-1].site_id if rows else after
    former = await categories_then(connection, at, after=after, last=last)
    labelled = []
    for row in rows:
        ranked = rank_statements(statements.get(row.site_id, ()), at)
        labelled.append(
            LabelledSite(
                site_id=format_site_id(row.site_id),
                domain=row.registrable_domain,
                category=former.get(row.site_id, row.category),
                registered_at=row.registered_at,
                label=settle(ranked, at),
                claims=compare_claims(ranked),
            )
        )
    return labelled


async def statements_at(
    connection: Connection, at: datetime, site_ids: Sequence[int] | None = None
) -> dict[int, list[LabelStatement]]:
    """Return the last statement of each author of each site, in the order of site ids."""
    values: dict[str, Any] = {"at": at}
    if site_ids is not None:
        values["site_ids"] = list(site_ids)
    query = LABELS if site_ids is None else LABELS_OF_SITES
    rows = (await connection.execute(query, values)).all()
    return await asyncio.to_thread(_by_site, rows)


async def has_site(connection: Connection, site_id: int) -> bool:
    rows = await connection.execute(SITE, {"site_id": site_id})
    return rows.one_or_none() is not None


async def put_label(
    connection: Connection,
    site_id: int,
    statement_label: LabelStatement,
    *,
    statement: bytes,
    record_id: str,
) -> bool:
    """Note what an auditor signed. False if it is there already."""
    values = asdict(statement_label)
    values |= values.pop("label")
    values |= {"statement": sha256(statement).digest(), "record_id": record_id}
    values["site_id"] = site_id
    return bool((await connection.execute(PUT, values)).rowcount)


async def history_of(
    connection: Connection, site_id: int, at: datetime, most: int
) -> list[LabelStatement]:
    """Return all statements on a site by then, the newest first."""
    values = {"site_id": site_id, "at": at, "most": most}
    rows = await connection.execute(HISTORY, values)
    return [_statement(*columns) for _, *columns in rows]


async def save_own_label(
    connection: Connection | Gathered,
    site_id: int,
    label: Label,
    *,
    stated_by: str,
    source: str,
    now: datetime,
) -> None:
    """Note the site's own statement, if it differs from its last one."""
    await _SAVE_OWN(
        connection,
        site_id=site_id,
        stated_by=stated_by,
        now=now,
        source=source,
        **asdict(label),
    )


def _settle(
    statements: Mapping[int, Sequence[LabelStatement]], at: datetime
) -> dict[int, SiteLabel]:
    return {site_id: settle(several, at) for site_id, several in statements.items()}


def _claims(
    statements: Mapping[int, Sequence[LabelStatement]], at: datetime
) -> dict[int, Claims]:
    compared = (
        (site_id, compare_claims(rank_statements(several, at)))
        for site_id, several in statements.items()
    )
    return {site_id: claims for site_id, claims in compared if claims.stated_twice}


def _by_site(rows: Sequence[Any]) -> dict[int, list[LabelStatement]]:
    labels: dict[int, list[LabelStatement]] = {}
    for site_id, *columns in rows:
        labels.setdefault(site_id, []).append(_statement(*columns))
    return labels


def _statement(
    stated_by: str,
    stated_at: datetime,
    valid_from: datetime,
    observed_on: date | None,
    source: str,
    *stated: Any,
) -> LabelStatement:
    """Make a statement of the columns behind the site's, in the order of the queries."""
    return LabelStatement(
        label=_label(*stated),
        stated_by=stated_by,
        stated_at=stated_at,
        valid_from=valid_from,
        observed_on=observed_on,
        source=source,
    )


@lru_cache(maxsize=4_096)  # most sites have one of a few labels
def _label(
    size: Size | None,
    independence: Independence | None,
    chain: str | None,
    commission_percent: float | None,
) -> Label:
    return Label(
        size=size,
        independence=independence,
        chain=chain,
        commission_percent=commission_percent,
    )
