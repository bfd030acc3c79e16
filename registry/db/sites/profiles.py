"""SQL of ranking profiles: written at ingest, read by the index as the ranker.

A follower asks for what changed since the snapshot it last saw: see `snapshots`.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import bindparam, select, text

from registry.db.engine.copied_rows import CopiedPage, CopiedRows
from registry.db.engine.engines import Connection, DriverError, driver_errors
from registry.db.engine.prepared import Gathered, Prepared
from registry.db.engine.snapshots import UnreadRange
from registry.db.schema.tables import site, site_profile
from registry.db.sites.listed_sites import CURRENT_XID, change_row, upsert


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileChange:
    """Change of a site. stored: features and profile; None where it is not listed."""

    site_id: int
    stored: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProfile:
    """Profile as bytes, with its features, see `index.columns.features`.

    policy: the digest of the one under which both were made.
    """

    profile: bytes
    features: bytes
    policy: str


TakePage = Callable[[CopiedPage], Awaitable[None]]
PAGE_BYTES = 1 << 22

SOURCE = text("""
    SELECT system_identifier, timeline_id, pg_database.oid AS database
    FROM pg_control_system(), pg_control_checkpoint(), pg_database
    WHERE datname = current_database()
""")
# By one index, which no row of another transaction is read for.
CHANGED = text("""
    SELECT part.number, found.site_id, found.xid
    FROM unnest(CAST(:first AS text[]), CAST(:end AS text[]), CAST(:site AS bigint[]))
        WITH ORDINALITY AS part (first_xid, end_xid, end_site, number)
    CROSS JOIN LATERAL (
        SELECT site_id, change_xid::text::bigint AS xid FROM registry.ranking_profile
        WHERE change_xid >= part.first_xid::xid8
            AND (change_xid, site_id) < (part.end_xid::xid8, part.end_site)
        ORDER BY change_xid DESC, site_id DESC LIMIT :most
    ) AS found
    ORDER BY part.number, found.xid DESC, found.site_id DESC
""")
AS_CHANGED = text("""
    SELECT site_id, CASE WHEN listed THEN features || profile END AS stored
    FROM registry.ranking_profile WHERE site_id = ANY(:site_ids)
""")
LISTED = "SELECT features || profile FROM registry.ranking_profile WHERE listed"
# It takes as long as there are sites; a role may set its own limit.
NO_LIMIT = "SET LOCAL statement_timeout = 0"

_CURRENT = Prepared(
    select(site_profile.c.site_id).where(
        site_profile.c.site_id == bindparam("site_id"),
        site_profile.c.policy == bindparam("policy"),
        site_profile.c.listed == bindparam("listed"),
    )
)
_SAVE = upsert(site_profile, "site_id", change_xid=CURRENT_XID)


async def source_of(connection: Connection) -> str:
    """Return the name of this database: another server, database or history has another name."""
    database = (await connection.execute(SOURCE)).one()
    return f"{database.system_identifier}/{database.timeline_id}/{database.database}"


@dataclass(frozen=True, slots=True)
class Changed:
    """sites: with the transaction that changed each. unread: what is left of a part."""

    sites: Sequence[tuple[int, int]]
    unread: Sequence[UnreadRange]


async def read_changes(
    connection: Connection, parts: Sequence[UnreadRange], most: int
) -> Changed:
    """Read the changes of each part, at most so many, the newest first."""
    ranges = {
        "first": [str(part.first) for part in parts],
        "end": [str(part.end[0]) for part in parts],
        "site": [part.end[1] for part in parts],
        "most": most,
    }
    sites: list[tuple[int, int]] = []
    counts = [0] * len(parts)
    last = [part.end for part in parts]
    for row in await connection.execute(CHANGED, ranges):
        sites.append((row.site_id, row.xid))
        counts[row.number - 1] += 1
        last[row.number - 1] = (row.xid, row.site_id)
    unread = [
        UnreadRange(part.first, end)
        for part, count, end in zip(parts, counts, last, strict=True)
        if count == most
    ]
    return Changed(sites, unread)


async def profiles_of(
    connection: Connection, site_ids: Sequence[int]
) -> Sequence[ProfileChange]:
    """Return what is stored of these sites now."""
    rows = await connection.execute(AS_CHANGED, {"site_ids": list(site_ids)})
    return [ProfileChange(site_id=row.site_id, stored=row.stored) for row in rows]


async def copy_profiles(connection: Connection, take: TakePage) -> None:
    """Give features and profiles of all listed sites, as one snapshot has them.

    Pages have about PAGE_BYTES.
    """
    driver = (await connection.get_raw_connection()).driver_connection
    if driver is None:
        raise DriverError("the connection was closed")
    copied = CopiedRows(PAGE_BYTES)

    async def receive(piece: bytes) -> None:
        if copied.add(piece) >= PAGE_BYTES:
            await take(copied.page())

    with driver_errors():
        async with driver.transaction():
            await driver.execute(NO_LIMIT)
            await driver.copy_from_query(LISTED, output=receive, format="binary")
    await take(copied.page())


async def save_profile(
    connection: Connection | Gathered,
    site_id: int,
    stored: StoredProfile,
    *,
    listed: bool,
) -> None:
    await _SAVE(connection, site_id=site_id, listed=listed, **asdict(stored))


async def is_current(
    connection: Connection, site_id: int, policy: str, *, listed: bool
) -> bool:
    """Return whether the profile is of the policy, and in answers as `listed` says."""
    rows = await _CURRENT(connection, site_id=site_id, policy=policy, listed=listed)
    return bool(rows)


async def hosts_of_other_policies(
    connection: Connection, policy: str, *, after: str = "", limit: int
) -> list[str]:
    """The hosts, in their order, whose profiles were made under another policy."""
    query = (
        select(site.c.host)
        .join(site_profile, site_profile.c.site_id == site.c.site_id)
        .where(site_profile.c.policy != policy, site.c.host > after)
        .order_by(site.c.host)
        .limit(limit)
    )
    return list((await connection.execute(query)).scalars())


async def profile_of(connection: Connection, site_id: int) -> bytes | None:
    query = select(site_profile.c.profile).where(site_profile.c.site_id == site_id)
    return (await connection.execute(query)).scalar_one_or_none()


async def lock_profile(
    connection: Connection, site_id: int, policy: str
) -> bytes | None:
    """The profile, held until the transaction ends, if it was made under the policy."""
    query = select(site_profile.c.profile).where(
        site_profile.c.site_id == site_id, site_profile.c.policy == policy
    )
    return (await connection.execute(query.with_for_update())).scalar_one_or_none()


async def unlist(connection: Connection, site_id: int) -> None:
    await change_row(connection, site_profile, site_id, listed=False)


async def change_profile(
    connection: Connection, site_id: int, stored: StoredProfile
) -> None:
    """Write new figures of a profile of the same policy; whether it is listed stays."""
    values = {"profile": stored.profile, "features": stored.features}
    await change_row(connection, site_profile, site_id, **values)
