"""SQL of ranking profiles: written at ingest, read by the index as the ranker.

A follower asks for what changed since the snapshot it last saw: see `snapshots`.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, select, text, update
from sqlalchemy.dialects.postgresql import insert

from registry.db.copied_rows import CopiedRows, Page
from registry.db.engine import Connection, DriverError, driver_errors
from registry.db.prepared import Gathered, Prepared
from registry.db.sites import CURRENT_XID
from registry.db.snapshots import Unread
from registry.db.tables import site, site_profile


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileChange:
    """profile: the encoded profile, or None where the site is no longer listed."""

    site_id: int
    profile: bytes | None


TakePage = Callable[[Page], Awaitable[None]]
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
    SELECT site_id, CASE WHEN listed THEN profile END AS profile
    FROM registry.ranking_profile WHERE site_id = ANY(:site_ids)
""")
LISTED = "SELECT profile FROM registry.ranking_profile WHERE listed"
# It takes as long as there are sites; a role may set its own limit.
NO_LIMIT = "SET LOCAL statement_timeout = 0"

_CURRENT = Prepared(
    select(site_profile.c.site_id).where(
        site_profile.c.site_id == bindparam("site_id"),
        site_profile.c.policy == bindparam("policy"),
        site_profile.c.listed == bindparam("listed"),
    )
)
_inserting = insert(site_profile).values(
    {name: bindparam(name) for name in ("site_id", "listed", "profile", "policy")}
)
_SAVE = Prepared(
    _inserting.on_conflict_do_update(
        index_elements=[site_profile.c.site_id],
        set_={
            "listed": _inserting.excluded.listed,
            "profile": _inserting.excluded.profile,
            "policy": _inserting.excluded.policy,
            "change_xid": CURRENT_XID,
        },
    )
)


async def source_of(connection: Connection) -> str:
    """Which database it is: another server, database or history has another name."""
    found = (await connection.execute(SOURCE)).one()
    return f"{found.system_identifier}/{found.timeline_id}/{found.database}"


@dataclass(frozen=True, slots=True)
class Changed:
    """sites: with the transaction that changed each. unread: what is left of a part."""

    sites: Sequence[tuple[int, int]]
    unread: Sequence[Unread]


async def read_changes(
    connection: Connection, parts: Sequence[Unread], most: int
) -> Changed:
    """Of each part at most so many, the newest first."""
    asked = {
        "first": [str(part.first) for part in parts],
        "end": [str(part.end[0]) for part in parts],
        "site": [part.end[1] for part in parts],
        "most": most,
    }
    sites: list[tuple[int, int]] = []
    counts = [0] * len(parts)
    last = [part.end for part in parts]
    for row in await connection.execute(CHANGED, asked):
        sites.append((row.site_id, row.xid))
        counts[row.number - 1] += 1
        last[row.number - 1] = (row.xid, row.site_id)
    unread = [
        Unread(part.first, end)
        for part, count, end in zip(parts, counts, last, strict=True)
        if count == most
    ]
    return Changed(sites, unread)


async def profiles_of(
    connection: Connection, site_ids: Sequence[int]
) -> Sequence[ProfileChange]:
    """As they are now."""
    found = await connection.execute(AS_CHANGED, {"site_ids": list(site_ids)})
    return [ProfileChange(site_id=one.site_id, profile=one.profile) for one in found]


async def copy_profiles(connection: Connection, take: TakePage) -> None:
    """Of all listed sites, in pages of about PAGE_BYTES, as one snapshot has them."""
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
    profile: bytes,
    policy: str,
    *,
    listed: bool,
) -> None:
    await _SAVE(
        connection, site_id=site_id, listed=listed, profile=profile, policy=policy
    )


async def is_current(
    connection: Connection, site_id: int, policy: str, *, listed: bool
) -> bool:
    """Whether there is one of the policy, in answers or out of them as it should be."""
    found = await _CURRENT(connection, site_id=site_id, policy=policy, listed=listed)
    return bool(found)


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
    await connection.execute(
        update(site_profile)
        .where(site_profile.c.site_id == site_id)
        .values(listed=False, change_xid=CURRENT_XID)
    )


async def change_profile(connection: Connection, site_id: int, profile: bytes) -> None:
    """New figures for a profile; whether it is listed stays."""
    await connection.execute(
        update(site_profile)
        .where(site_profile.c.site_id == site_id)
        .values(profile=profile, change_xid=CURRENT_XID)
    )
