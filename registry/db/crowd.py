"""SQL of a crowd of made-up sites, written at once: what the frontier is measured with.

Only for a database of one's own; the sites have no documents and no owner.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from registry.db.engine import Connection
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
_PROFILE_COLUMNS = ("site_id", "listed", "profile", "policy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A made-up site that searches find.

    listing: JSON. profile: encoded, made under `policy`.
    """

    site_id: int
    host: str
    category: str
    place: Place | None
    listing: bytes
    profile: bytes
    policy: str
    changed_at: datetime


async def copy_sites(
    connection: Connection, made: Sequence[Ranked], now: datetime
) -> None:
    """Entries and profiles, by COPY, committed at once."""
    driver = (await connection.get_raw_connection()).driver_connection
    if driver is None:
        raise RuntimeError("the connection was closed")
    sites, profiles = _site_rows(made, now), _profile_rows(made)
    async with driver.transaction():
        await driver.copy_records_to_table(
            "site", schema_name="registry", columns=_SITE_COLUMNS, records=sites
        )
        await driver.copy_records_to_table(
            "site_profile",
            schema_name="registry",
            columns=_PROFILE_COLUMNS,
            records=profiles,
        )


async def empty_sites(connection: Connection) -> None:
    await connection.execute(EMPTY_SITES)


async def analyze_sites(connection: Connection) -> None:
    await connection.execute(ANALYZE_SITES)


def _site_rows(made: Iterable[Ranked], now: datetime) -> Iterable[tuple[object, ...]]:
    for one in made:
        place = (one.place.name, one.place.country) if one.place else (None, None)
        yield (
            *(one.site_id, one.host, one.host, "active", 1),
            *(one.listing.decode(), "{}", one.category),
            *(*place, "strict", now, now, one.changed_at, now, ""),
        )


def _profile_rows(made: Iterable[Ranked]) -> Iterable[tuple[object, ...]]:
    for one in made:
        yield one.site_id, True, one.profile, one.policy


async def make_crowd(connection: Connection, *, sites: int, now: datetime) -> None:
    """Of each site a crawl and a probe are due, in any order; a proof is in a week."""
    await connection.execute(SITES, {"now": now, "sites": sites})
    await connection.execute(TASKS, {"now": now, "sites": sites})
    await connection.execute(ANALYZE)


async def make_declaring_crowd(
    connection: Connection, *, urls: Sequence[str], now: datetime
) -> None:
    """A site for each URL, of whose host it has to be, with a crawl due of it."""
    await make_crowd(connection, sites=len(urls), now=now)
    await connection.execute(DECLARED, {"urls": urls})
    await connection.execute(ONLY_CRAWLS)
    await connection.execute(ANALYZE)


async def count_crawled(connection: Connection) -> tuple[int, int]:
    """Sites that were visited, and documents that are stored."""
    crawled = (await connection.execute(CRAWLED)).scalar_one()
    return crawled, (await connection.execute(STORED)).scalar_one()


async def withdraw_part(connection: Connection, part: int, of: int) -> int:
    """No longer listed: of so many parts of the sites one. Returns how many sites."""
    gone = await connection.execute(WITHDRAW_PART, {"part": part, "of": of})
    return int(gone.rowcount)


async def profiles_of_part(
    connection: Connection, part: int, of: int, *, limit: int
) -> list[tuple[int, bytes]]:
    """Some listed sites of the part, with their profiles."""
    given = {"part": part, "of": of, "limit": limit}
    found = await connection.execute(PROFILES_OF_PART, given)
    return [(row.site_id, row.profile) for row in found]
