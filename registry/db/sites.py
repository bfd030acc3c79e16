"""SQL of listed sites and their keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Table,
    Text,
    bindparam,
    cast,
    func,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine import Connection
from registry.db.prepared import Gathered, Prepared
from registry.db.snapshots import Snapshot, ended_between, snapshot_of
from registry.db.tables import site, site_key
from registry.identity.key_source import KeyReference
from registry.identity.key_trust import KnownKey
from registry.sites.entry import (
    Conflict,
    ShortEntry,
    SiteEntry,
    Unlisted,
    shown_place,
    trust_level,
)
from registry.sites.place import Place
from registry.sites.site import LocationClaim, Site

CURRENT_XID = func.pg_current_xact_id()


def _upsert(table: Table, *keys: str, **computed: Any) -> Prepared:
    """Its parameters are the columns, all of which it writes, but for those computed.

    What PostgreSQL computes itself is not written.
    """
    written = (column.name for column in table.c if column.computed is None)
    names = [name for name in written if name not in computed]
    named: dict[str, Any] = {name: bindparam(name) for name in names}
    statement = insert(table).values(**named, **computed)
    return Prepared(
        statement.on_conflict_do_update(
            index_elements=[table.c[key] for key in keys],
            set_={name: statement.excluded[name] for name in (*named, *computed)},
        )
    )


_FIND = Prepared(select(site).where(site.c.host == bindparam("host")))
_LOCK = Prepared(select(site).where(site.c.host == bindparam("host")).with_for_update())
_LOCK_HOST = Prepared(
    select(
        func.pg_advisory_xact_lock(
            func.hashtextextended(bindparam("host", type_=Text), 0)
        )
    )
)
_OF_HOSTS = site.c.host == func.any(bindparam("hosts", type_=ARRAY(Text)))
_FIND_ALL = Prepared(select(site).where(_OF_HOSTS))
_LOCK_ALL = Prepared(
    select(site).where(_OF_HOSTS).order_by(site.c.host).with_for_update()
)
_KEYS = Prepared(
    select(site_key).where(
        site_key.c.site_id == func.any(bindparam("site_ids", type_=ARRAY(BigInteger)))
    )
)
_CHANGED = Prepared(
    text("""
        SELECT found.site_id
        FROM unnest(CAST(:first AS text[]), CAST(:end AS text[])) AS part (first, ended)
        CROSS JOIN LATERAL (
            SELECT site_id FROM registry.site
            WHERE change_xid >= part.first::xid8 AND change_xid < part.ended::xid8
            LIMIT :most
        ) AS found
        LIMIT :most
    """)
)
_OF_IDS = site.c.site_id == func.any(bindparam("site_ids", type_=ARRAY(BigInteger)))
_SHORT = Prepared(
    select(
        *(site.c.site_id, site.c.host, site.c.status),
        *(site.c.unlisted_for, site.c.moderated),
        cast(site.c.short, Text).label("short"),
    ).where(_OF_IDS)
)
_SAVE_SITE = _upsert(site, "site_id", change_xid=CURRENT_XID)
_SAVE_KEY = _upsert(site_key, "site_id", "source", "kid")


class _Listing(msgspec.Struct):
    """What the column `listing` holds."""

    site: Site
    place: Place | None
    conflicts: tuple[Conflict, ...] = ()


class _Short(msgspec.Struct, array_like=True):
    """What PostgreSQL keeps of a listing for lists and answers: see `tables.SHORT`."""

    name: str
    category: str
    location: LocationClaim | None
    place: Place | None
    commission_percent: float | None
    is_independent: bool | None
    action_names: tuple[str, ...]


_read_short = msgspec.json.Decoder(_Short).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """A public key of a site with what is known of it."""

    known: KnownKey
    jwk: dict[str, str]


async def find_site(connection: Connection, host: str) -> SiteEntry | None:
    rows = await _FIND(connection, host=host)
    return _entry(rows[0]) if rows else None


async def find_declared(
    connection: Connection, hosts: Sequence[str]
) -> dict[str, tuple[SiteEntry, dict[str, Any]]]:
    """By host, those of them that are sites, and what their registrations declared."""
    rows = await _FIND_ALL(connection, hosts=list(hosts))
    return {row.host: (_entry(row), row.declarations) for row in rows}


async def lock_site(connection: Connection, host: str) -> SiteEntry | None:
    """The site, which is this transaction's alone until it ends; also its first entry."""
    if entry := await _lock_row(connection, host):
        return entry
    # A host that is not listed has no row to lock, and two may want to be its first.
    await _LOCK_HOST(connection, host=host)
    return await _lock_row(connection, host)


async def lock_sites(
    connection: Connection, hosts: Sequence[str]
) -> dict[str, SiteEntry]:
    """By host, those that are there; held in one order, so nobody waits in a circle."""
    rows = await _LOCK_ALL(connection, hosts=list(hosts))
    return {row.host: _entry(row) for row in rows}


async def _lock_row(connection: Connection, host: str) -> SiteEntry | None:
    rows = await _LOCK(connection, host=host)
    return _entry(rows[0]) if rows else None


async def find_sites(
    connection: Connection, site_ids: Sequence[int]
) -> dict[int, SiteEntry]:
    rows = await connection.execute(select(site).where(site.c.site_id.in_(site_ids)))
    return {row.site_id: _entry(row) for row in rows}


async def find_short(
    connection: Connection, site_ids: Sequence[int]
) -> list[ShortEntry]:
    """Of those that are there."""
    return [_short(row) for row in await _SHORT(connection, site_ids=list(site_ids))]


async def changed_since(
    connection: Connection, before: Snapshot, most: int
) -> tuple[list[int], Snapshot]:
    """The ids of sites that changed since then, and when that was asked.

    Of more than `most` some are told: whoever gets as many knows that there are others.
    """
    seen = await snapshot_of(connection)
    parts = ended_between(before, seen)
    if not parts:
        return [], seen
    rows = await _CHANGED(
        connection,
        first=[str(part.first) for part in parts],
        end=[str(part.end[0]) for part in parts],
        most=most,
    )
    return [row.site_id for row in rows], seen


async def list_sites(
    connection: Connection,
    *,
    limit: int,
    after: tuple[datetime, int] | None = None,
    category: str | None = None,
    country: str | None = None,
) -> list[SiteEntry]:
    """Active sites in the order of their registration; unranked."""
    query = select(site).where(
        site.c.status == "active",
        site.c.unlisted_for.is_(None),
        site.c.moderated.is_(None),
    )
    if after is not None:
        query = query.where(tuple_(site.c.registered_at, site.c.site_id) > after)
    if category is not None:
        query = query.where(func.lower(site.c.category) == category.lower())
    if country is not None:
        query = query.where(site.c.country == country)
    query = query.order_by(site.c.registered_at, site.c.site_id).limit(limit)
    return [_entry(row) for row in await connection.execute(query)]


async def count_sites(connection: Connection) -> dict[str, int]:
    rows = await connection.execute(
        select(site.c.status, func.count().label("sites")).group_by(site.c.status)
    )
    return {row.status: row.sites for row in rows}


async def save_site(
    connection: Connection | Gathered, entry: SiteEntry, declarations: dict[str, Any]
) -> None:
    """Write the whole entry; `change_xid` tells followers that it changed."""
    place = entry.place
    values = {
        "site_id": entry.site_id,
        "host": entry.host,
        "registrable_domain": entry.registrable_domain,
        "status": entry.status,
        "seq": entry.seq,
        "listing": _Listing(entry.site, place, entry.conflicts),
        "declarations": declarations,
        "category": entry.site.category,
        "city": place.name if place else None,
        "country": place.country if place else None,
        "conformance": entry.conformance,
        "semantic_hash": entry.semantic_hash,
        "registered_at": entry.registered_at,
        "updated_at": entry.updated_at,
        "changed_at": entry.changed_at,
        "proved_at": entry.proved_at,
        "proof_source": entry.proof_source,
        "failed_proofs": 0,
        "unlisted_for": entry.unlisted_for,
        "moderated": entry.moderated,
        "change_xid": CURRENT_XID,
    }
    await _SAVE_SITE(connection, **values)


async def set_status(
    connection: Connection, site_id: int, status: str, seq: int, now: datetime
) -> None:
    await connection.execute(
        update(site)
        .where(site.c.site_id == site_id)
        .values(status=status, seq=seq, updated_at=now, change_xid=CURRENT_XID)
    )


async def note_unlisted(
    connection: Connection, site_id: int, reason: Unlisted, now: datetime
) -> None:
    """Its documents no longer list it; what was known of it stays."""
    await connection.execute(
        update(site)
        .where(site.c.site_id == site_id)
        .values(unlisted_for=reason, updated_at=now, change_xid=CURRENT_XID)
    )


async def note_proof(connection: Connection, site_id: int, now: datetime) -> None:
    """Control was shown again."""
    await connection.execute(
        update(site)
        .where(site.c.site_id == site_id)
        .values(proved_at=now, failed_proofs=0)
    )


async def keys_of(connection: Connection, site_id: int) -> list[StoredKey]:
    return (await keys_of_sites(connection, [site_id]))[site_id]


async def keys_of_sites(
    connection: Connection, site_ids: Sequence[int]
) -> dict[int, list[StoredKey]]:
    found: dict[int, list[StoredKey]] = {one: [] for one in site_ids}
    for row in await _KEYS(connection, site_ids=list(site_ids)):
        known = KnownKey(
            reference=KeyReference(source_url=row.source, kid=row.kid),
            standing=row.standing,
            first_seen_at=row.first_seen_at,
            last_seen_at=row.last_seen_at,
        )
        found[row.site_id].append(StoredKey(known=known, jwk=row.jwk))
    return found


async def save_key(connection: Connection, site_id: int, key: StoredKey) -> None:
    """Insert what is known of one key, or write over it."""
    known = key.known
    values = {
        "site_id": site_id,
        "source": known.reference.source_url,
        "kid": known.reference.kid,
        "jwk": key.jwk,
        "standing": known.standing,
        "first_seen_at": known.first_seen_at,
        "last_seen_at": known.last_seen_at,
    }
    await _SAVE_KEY(connection, **values)


def _short(row: Any) -> ShortEntry:
    own = _read_short(row.short)
    city, country = shown_place(own.place, own.location)
    return ShortEntry(
        site_id=row.site_id,
        host=row.host,
        name=own.name,
        category=own.category,
        city=city,
        country=country,
        action_names=own.action_names,
        commission_percent=own.commission_percent,
        is_independent=own.is_independent,
        trust_level=trust_level(row.status, row.unlisted_for, row.moderated),
    )


def _entry(row: Any) -> SiteEntry:
    listing = msgspec.convert(row.listing, _Listing)
    return SiteEntry(
        site_id=row.site_id,
        host=row.host,
        registrable_domain=row.registrable_domain,
        status=row.status,
        seq=row.seq,
        site=listing.site,
        place=listing.place,
        conflicts=listing.conflicts,
        conformance=row.conformance,
        semantic_hash=row.semantic_hash,
        registered_at=row.registered_at,
        updated_at=row.updated_at,
        changed_at=row.changed_at,
        proved_at=row.proved_at,
        proof_source=row.proof_source,
        unlisted_for=row.unlisted_for,
        moderated=row.moderated,
    )
