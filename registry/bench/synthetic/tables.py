"""SQL of synthetic sites, written at once into a database of the bench's own.

The sites have no owner, and no document but one that is written with them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from sqlalchemy import text

from registry.db.engine.engines import Connection
from registry.sites.place import Place

SITES = text("""
    INSERT INTO registry.site (site_id, host, registrable_domain, status, seq, listing,
        declarations, category, conformance, registered_at, updated_at, changed_at,
        proved_at, proof_source)
    SELECT number, 'crowd-' || number || '.test', 'crowd-' || number || '.test', 'active',
        1, '{}', '{}', '', 'strict', :now, :now, :now, :now, ''
    FROM generate_series(1, :sites) AS number
""")
TASKS = text("""
    INSERT INTO registry.task (site_id, kind, due_at)
    SELECT site_id, kind,
        CASE kind
            WHEN 'prove' THEN CAST(:now AS timestamptz) + interval '7 days'
            ELSE CAST(:now AS timestamptz) - random() * interval '1 hour'
        END
    FROM generate_series(1, :sites) AS site_id,
        unnest(ARRAY['crawl', 'probe', 'prove']) AS kind
""")
DECLARED = text("""
    UPDATE registry.site SET listing = '{"site": {}, "place": null}',
        declarations = jsonb_build_object('docs', jsonb_build_array(
            jsonb_build_object('url', urls.url)))
    FROM unnest(CAST(:urls AS text[])) WITH ORDINALITY AS urls (url, number)
    WHERE site_id = urls.number
""")
ONLY_CRAWLS = text("DELETE FROM registry.task WHERE kind <> 'crawl'")
CRAWLED = text("SELECT count(*) FROM registry.task WHERE outcome <> '{}'")
STORED = text("SELECT count(*) FROM registry.document")
ANALYZE = text("ANALYZE registry.site, registry.task")
EMPTY_SITES = text("TRUNCATE registry.site CASCADE")
ANALYZE_SITES = text("ANALYZE registry.site, registry.site_profile")
WITHDRAW_PART = text("""
    UPDATE registry.site_profile SET listed = false, change_xid = pg_current_xact_id()
    WHERE listed AND site_id % :of = :part
""")
PROFILES_OF_PART = text("""
    SELECT site_id, profile FROM registry.site_profile
    WHERE listed AND site_id % :of = :part LIMIT :limit
""")

_SITE_COLUMNS = (
    *("site_id", "host", "registrable_domain", "status", "seq", "listing"),
    *("declarations", "category", "city", "country", "conformance", "registered_at"),
    *("updated_at", "changed_at", "proved_at", "proof_source"),
)
_DOCUMENT_COLUMNS = (
    *("site_id", "url", "version", "format", "dialect", "conformance", "content_type"),
    *("provenance", "signature", "deviations", "semantic_hash", "body"),
    *("first_fetched_at", "fetched_at"),
)
_PROFILE_COLUMNS = ("site_id", "listed", "profile", "features", "policy")


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticSite:
    """A site with profile and features, made under `policy`, and its entry as JSON.

    document: its WAB document, if it has one.
    """

    site_id: int
    host: str
    category: str
    place: Place | None
    listing: bytes
    profile: bytes
    features: bytes
    policy: str
    changed_at: datetime
    document: bytes | None = None


async def copy_sites(
    connection: Connection, sites: Sequence[SyntheticSite], now: datetime
) -> None:
    """Write entries and profiles by COPY, committed at once."""
    driver = (await connection.get_raw_connection()).driver_connection
    if driver is None:
        raise RuntimeError("the connection was closed")
    async with driver.transaction():
        await driver.copy_records_to_table(
            "site",
            schema_name="registry",
            columns=_SITE_COLUMNS,
            records=_site_rows(sites, now),
        )
        await driver.copy_records_to_table(
            "site_profile",
            schema_name="registry",
            columns=_PROFILE_COLUMNS,
            records=_profile_rows(sites),
        )
        await driver.copy_records_to_table(
            "document",
            schema_name="registry",
            columns=_DOCUMENT_COLUMNS,
            records=_document_rows(sites),
        )


async def empty_sites(connection: Connection) -> None:
    await connection.execute(EMPTY_SITES)


async def analyze_sites(connection: Connection) -> None:
    await connection.execute(ANALYZE_SITES)


def _site_rows(
    sites: Iterable[SyntheticSite], now: datetime
) -> Iterable[tuple[object, ...]]:
    for site in sites:
        place = (site.place.name, site.place.country) if site.place else (None, None)
        yield (
            *(site.site_id, site.host, site.host, "active", 1),
            *(site.listing.decode(), "{}", site.category),
            *(*place, "strict", now, now, site.changed_at, now, ""),
        )


def _profile_rows(sites: Iterable[SyntheticSite]) -> Iterable[tuple[object, ...]]:
    for site in sites:
        yield site.site_id, True, site.profile, site.features, site.policy


def _document_rows(sites: Iterable[SyntheticSite]) -> Iterable[tuple[object, ...]]:
    for site in sites:
        if site.document is not None:
            yield (
                *(site.site_id, f"https://{site.host}/agent-bridge.json", 1, "wab", ""),
                *("strict", "application/json", "{}", "{}", "[]"),
                *(sha256(site.document).digest(), site.document),
                *(site.changed_at, site.changed_at),
            )


async def insert_sites_with_tasks(
    connection: Connection, *, sites: int, now: datetime
) -> None:
    """Insert sites with a crawl and a probe due, in any order, and a proof in a week."""
    await connection.execute(SITES, {"now": now, "sites": sites})
    await connection.execute(TASKS, {"now": now, "sites": sites})
    await connection.execute(ANALYZE)


async def insert_declaring_sites(
    connection: Connection, *, urls: Sequence[str], now: datetime
) -> None:
    """Insert a site for each URL, of that host, with its crawl due."""
    await insert_sites_with_tasks(connection, sites=len(urls), now=now)
    await connection.execute(DECLARED, {"urls": urls})
    await connection.execute(ONLY_CRAWLS)
    await connection.execute(ANALYZE)


async def count_crawled(connection: Connection) -> tuple[int, int]:
    """Count the sites that were visited, and the documents that are stored."""
    crawled = (await connection.execute(CRAWLED)).scalar_one()
    return crawled, (await connection.execute(STORED)).scalar_one()


async def make_crawls_due(connection: Connection) -> None:
    await connection.execute(
        text("UPDATE registry.task SET due_at = now() WHERE kind = 'crawl'")
    )


async def withdraw_part(connection: Connection, part: int, of: int) -> int:
    """Withdraw part number `part` of `of` parts of the sites; return how many sites."""
    result = await connection.execute(WITHDRAW_PART, {"part": part, "of": of})
    return int(result.rowcount)


async def profiles_of_part(
    connection: Connection, part: int, of: int, *, limit: int
) -> list[tuple[int, bytes]]:
    """Return some listed sites of the part, with their profiles."""
    given = {"part": part, "of": of, "limit": limit}
    result = await connection.execute(PROFILES_OF_PART, given)
    return [(row.site_id, row.profile) for row in result]
