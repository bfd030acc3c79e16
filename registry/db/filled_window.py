"""A window of made-up rankings put into the tables by COPY, for `bench report`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from registry.db.engine import Connection, Engine, driver_errors

SITES = text("""
    INSERT INTO registry.site (site_id, host, registrable_domain, status, seq, listing,
        declarations, category, conformance, registered_at, updated_at, changed_at,
        proved_at, proof_source)
    SELECT id, 'site-' || number || '.test', 'domain-' || number / 2 || '.test',
        'active', 1, '{}', '{}', category, 'strict', at, at, at, at, ''
    FROM unnest(CAST(:ids AS bigint[]), CAST(:categories AS text[]),
        CAST(:registered AS timestamptz[])) WITH ORDINALITY
        AS one (id, category, at, number)
""")

LABELS = text("""
    INSERT INTO disclosure.label (site_id, told_by, told_at, valid_from, size,
        independence, commission_percent, source)
    SELECT id, 'registration', at, at, nullif(size, 'unknown'),
        nullif(independence, 'unknown'), commission, 'registration'
    FROM unnest(CAST(:ids AS bigint[]), CAST(:registered AS timestamptz[]),
        CAST(:sizes AS text[]), CAST(:independences AS text[]),
        CAST(:commissions AS double precision[]))
        AS one (id, at, size, independence, commission)
""")


COUNT = text("SELECT count(*) FROM audit.entry")


class FilledSites(NamedTuple):
    """Columns. ids: of sites. The last four are None where a site declared nothing."""

    ids: Sequence[int]
    categories: Sequence[str]
    registered: Sequence[datetime]
    sizes: Sequence[str]
    independences: Sequence[str]
    commissions: Sequence[float | None]


async def count_filled(engine: Engine) -> int:
    """Rankings that are in the tables so far."""
    async with engine.connect() as connection:
        return int((await connection.execute(COUNT)).scalar_one())


async def fill_sites(engine: Engine, sites: FilledSites) -> None:
    ids = list(sites.ids)
    async with engine.begin() as connection:
        await connection.execute(
            SITES,
            {
                "ids": ids,
                "categories": list(sites.categories),
                "registered": list(sites.registered),
            },
        )
        await connection.execute(
            LABELS,
            {
                "ids": ids,
                "registered": list(sites.registered),
                "sizes": list(sites.sizes),
                "independences": list(sites.independences),
                "commissions": list(sites.commissions),
            },
        )


async def fill_rankings(
    connection: Connection,
    entries: Sequence[tuple[Any, ...]],
    rankings: Sequence[tuple[Any, ...]],
    selections: Sequence[tuple[Any, ...]],
) -> None:
    """Rows of audit.entry, audit.ranking and audit.selection, in their columns' order."""
    driver: Any = (await connection.get_raw_connection()).driver_connection
    with driver_errors():
        async with driver.transaction():
            for table, rows in (
                ("entry", entries),
                ("ranking", rankings),
                ("selection", selections),
            ):
                await driver.copy_records_to_table(
                    table, schema_name="audit", records=rows
                )


async def analyze(engine: Engine) -> None:
    """As autovacuum would by and by."""
    async with engine.connect() as connection:
        autocommit = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await autocommit.execute(text("ANALYZE"))
