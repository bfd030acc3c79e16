"""Enumeration of listed sites: by an index, and counted once a minute."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Select, text
from sqlalchemy.dialects import postgresql

from registry.db.engine.engines import Engine
from registry.db.sites import listed_sites as sites
from registry.usecases.sites.listed_entries import LIFE_S, ListedCount
from tests.db.scene import Scene

AFTER = (datetime(2026, 1, 1, tzinfo=UTC), 5)
"""A place of a cursor."""

SITES = """
    INSERT INTO registry.site (site_id, host, registrable_domain, status, seq, listing,
        declarations, category, country, conformance, registered_at, updated_at,
        changed_at, proved_at, proof_source, unlisted_for)
    SELECT n, 'crowd-' || n || '.test', 'crowd-' || n || '.test', 'active', 1, '{}', '{}',
        CASE n % 50 WHEN 0 THEN 'Restaurant' ELSE 'Shop' END,
        CASE n % 50 WHEN 1 THEN 'JO' ELSE 'PE' END, 'strict',
        now() + n * interval '1 s', now(), now(), now(), '',
        CASE n % 10 WHEN 9 THEN 'documents_missing' END
    FROM generate_series(1, 5000) AS n
    ON CONFLICT DO NOTHING
"""


@pytest.fixture
async def crowded(scene: Scene, owner: Engine) -> Scene:
    """A registry of 4,500 listed sites and 500 that are not."""
    await scene.sql(SITES)
    alone = owner.execution_options(isolation_level="AUTOCOMMIT")
    async with alone.connect() as connection:
        await connection.execute(text("VACUUM ANALYZE registry.site"))
    return scene


async def plan_of(scene: Scene, query: Select[Any]) -> str:
    sql = query.compile(
        dialect=postgresql.dialect(),  # type: ignore[no-untyped-call]
        compile_kwargs={"literal_binds": True},
    )
    rows = await scene.sql(f"EXPLAIN {sql}")
    return "\n".join(row[0] for row in rows)


@pytest.mark.parametrize(
    ("given", "index"),
    [
        ({}, "site_listed "),
        ({"after": AFTER}, "site_listed "),
        ({"category": "Restaurant"}, "site_listed_by_category "),
        ({"category": "Restaurant", "after": AFTER}, "site_listed_by_category "),
        ({"country": "JO"}, "site_listed_by_country "),
    ],
)
async def test_the_list_is_read_by_an_index(
    crowded: Scene, given: dict[str, Any], index: str
) -> None:
    plan = await plan_of(crowded, sites.listed_query(20, **given))
    assert f"Scan using {index}" in plan
    assert "Seq Scan" not in plan
    assert "Sort" not in plan


async def test_the_number_is_read_by_an_index(crowded: Scene) -> None:
    plan = await plan_of(crowded, sites.COUNT_LISTED)
    assert "Only Scan using site_listed" in plan
    assert "Seq Scan" not in plan


async def test_the_number_is_counted_once_a_minute(crowded: Scene) -> None:
    now_s = 0.0
    listed = ListedCount(crowded.api, clock=lambda: now_s)
    assert await listed.current() == 4_500
    await crowded.sql("UPDATE registry.site SET status = 'withdrawn' WHERE site_id = 1")
    assert await listed.current() == 4_500
    now_s = LIFE_S
    assert await listed.current() == 4_499
    await crowded.sql("UPDATE registry.site SET status = 'active' WHERE site_id = 1")
