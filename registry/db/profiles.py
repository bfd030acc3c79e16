"""SQL of ranking profiles: written at ingest, read by the index as the ranker.

A follower asks for what changed since the snapshot it last saw. Transaction ids tell:
everything below the oldest running transaction of that snapshot was visible then, so
rows at or above it are told again, and none is missed whatever the order of commits.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct

from sqlalchemy import bindparam, select, text, update
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine import Connection, DriverError, driver_errors
from registry.db.prepared import Gathered, Prepared
from registry.db.sites import CURRENT_XID, HORIZON
from registry.db.tables import site, site_profile


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileChange:
    """profile: the encoded profile, or None where the site is no longer listed."""

    site_id: int
    profile: bytes | None


@dataclass(frozen=True, slots=True)
class ProfilePage:
    """Encoded profiles. starts, lengths: of each in the content."""

    content: bytes
    starts: Sequence[int]
    lengths: Sequence[int]


TakePage = Callable[[ProfilePage], Awaitable[None]]
PAGE_BYTES = 1 << 24

SOURCE = text("""
    SELECT system_identifier, timeline_id, pg_database.oid AS database
    FROM pg_control_system(), pg_control_checkpoint(), pg_database
    WHERE datname = current_database()
""")
CHANGED = text("""
    SELECT change_xid::text::bigint AS xid, array_agg(site_id) AS site_ids
    FROM registry.ranking_profile WHERE change_xid >= CAST(:since AS text)::xid8
    GROUP BY change_xid ORDER BY change_xid
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


async def horizon_of(connection: Connection) -> int:
    """What to ask from next time; asked before the changes.

    So a row that commits between the two reads is read again.
    """
    found: int = (await connection.execute(HORIZON)).scalar_one()
    return found


async def source_of(connection: Connection) -> str:
    """Which database it is: another server, database or history has another name."""
    found = (await connection.execute(SOURCE)).one()
    return f"{found.system_identifier}/{found.timeline_id}/{found.database}"


async def changed_since(connection: Connection, horizon: int) -> Mapping[int, int]:
    """The transaction that last changed each site at or after the horizon, ascending."""
    found = await connection.execute(CHANGED, {"since": str(horizon)})
    changed: dict[int, int] = {}
    for row in found:  # of each transaction, be it of many thousand sites
        changed |= dict.fromkeys(row.site_ids, row.xid)
    return changed


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
    copied = _Copied()

    async def receive(piece: bytes) -> None:
        if copied.add(piece) >= PAGE_BYTES:
            await take(copied.page())

    with driver_errors():
        async with driver.transaction():
            await driver.execute(NO_LIMIT)
            await driver.copy_from_query(LISTED, output=receive, format="binary")
    await take(copied.page())


class _Copied:
    """What PostgreSQL's binary COPY of one column brings: a header, then the rows."""

    _HEADER_BYTES = 19
    _ROW = Struct(">hi")  # columns, or -1 at the end; bytes of the first

    def __init__(self) -> None:
        self._held = bytearray()
        self._at = self._HEADER_BYTES

    def add(self, piece: bytes) -> int:
        """How many bytes are held now."""
        self._held += piece
        return len(self._held)

    def page(self) -> ProfilePage:
        """All rows that are whole, which are held no longer."""
        starts, lengths, at = [], [], self._at
        while len(self._held) - at >= self._ROW.size:
            _, length = self._ROW.unpack_from(self._held, at)
            start = at + self._ROW.size
            if len(self._held) - start < length:
                break
            starts.append(start)
            lengths.append(length)
            at = start + length
        content = bytes(self._held[:at])
        self._held, self._at = self._held[at:], 0
        return ProfilePage(content, starts, lengths)


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
