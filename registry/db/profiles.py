"""SQL of ranking profiles: written at ingest, read by the index as the ranker.

A follower asks for what changed since the snapshot it last saw. Transaction ids tell:
everything below the oldest running transaction of that snapshot was visible then, so
rows at or above it are read again, and none is missed whatever the order of commits.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, select, text, update
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine import Connection
from registry.db.prepared import Gathered, Prepared
from registry.db.sites import CURRENT_XID, HORIZON
from registry.db.tables import site, site_profile


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileChange:
    """profile: the encoded profile, or None where the site is no longer listed."""

    site_id: int
    profile: bytes | None
    xid: int


PAGE = 1_000

CHANGED = text("""
    SELECT site_id, CASE WHEN listed THEN profile END AS profile,
        change_xid::text::bigint AS xid
    FROM registry.ranking_profile WHERE change_xid >= CAST(:since AS text)::xid8
""")

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


async def horizon_of(connection: Connection) -> int:
    """What to ask from next time; asked before the changes.

    So a row that commits between the two reads is read again.
    """
    found: int = (await connection.execute(HORIZON)).scalar_one()
    return found


async def changes_since(
    connection: Connection, horizon: int
) -> AsyncIterator[Sequence[ProfileChange]]:
    """Profiles changed at or after the horizon, each once, page by page. 0: all."""
    found = await connection.stream(CHANGED, {"since": str(horizon)})
    async for page in found.partitions(PAGE):
        yield [
            ProfileChange(
                site_id=row.site_id,
                profile=row.profile,
                xid=row.xid,
            )
            for row in page
        ]


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
