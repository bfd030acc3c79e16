"""SQL of operators: their keys, their contacts, and their counters."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError

from registry.db.engine.engines import Connection
from registry.db.engine.insert_new import insert_new
from registry.db.engine.read_row import read_row
from registry.db.schema.operator_tables import (
    operator,
    operator_api_key,
    operator_contact,
    operator_count,
    operator_nonce,
)
from registry.identity.keys.public_keys import PublicKey
from registry.identity.statements.operator_statement import Contact


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOperator:
    """kid, jwk: of its key, None once it is closed. contact: None then too.

    stated_at: `iat` of its newest statement. api_key_made_at: None if it has none.
    rankings: how many it has requested.
    """

    operator_id: str
    kid: str | None
    jwk: Mapping[str, str] | None
    registered_at: datetime
    stated_at: datetime
    closed_at: datetime | None
    contact: Contact | None
    api_key_made_at: datetime | None
    rankings: int


async def add_operator(
    connection: Connection, key: PublicKey, *, now: datetime, stated_at: datetime
) -> bool:
    """Add an operator; return False if the key is or was one's first key already."""
    its_key = {"operator_id": key.kid, "kid": key.kid, "jwk": key.jwk}
    values = {**its_key, "registered_at": now, "stated_at": stated_at}
    is_new = await insert_new(connection, operator, values)
    if is_new:
        await connection.execute(insert(operator_count).values(operator_id=key.kid))
    return is_new


_SELECT = (
    sa.select(
        operator,
        operator_contact.c.name,
        operator_contact.c.contact,
        operator_contact.c.is_public,
        operator_api_key.c.made_at,
        operator_count.c.rankings,
    )
    .join(operator_count)
    .outerjoin(operator_contact)
    .outerjoin(operator_api_key)
)


async def find_operator(
    connection: Connection, operator_id: str
) -> StoredOperator | None:
    query = _SELECT.where(operator.c.operator_id == operator_id)
    row = (await connection.execute(query)).one_or_none()
    return None if row is None else _operator(row)


async def lock_operator(
    connection: Connection, operator_id: str
) -> StoredOperator | None:
    """Lock an operator until the transaction ends."""
    lock = sa.select(operator.c.operator_id).where(
        operator.c.operator_id == operator_id
    )
    await connection.execute(lock.with_for_update())
    return await find_operator(connection, operator_id)


async def note_statement(
    connection: Connection, operator_id: str, at: datetime
) -> None:
    await connection.execute(_of(operator_id).values(stated_at=at))


async def save_contact(
    connection: Connection, operator_id: str, contact: Contact
) -> None:
    await _upsert(connection, operator_contact, operator_id, asdict(contact))


async def save_key(connection: Connection, operator_id: str, key: PublicKey) -> bool:
    """Save a key; return False if it is, or was at first, another operator's."""
    was = sa.select(operator.c.operator_id).where(
        operator.c.operator_id != operator_id, operator.c.operator_id == key.kid
    )
    if (await connection.execute(was)).first():
        return False
    try:
        await connection.execute(_of(operator_id).values(kid=key.kid, jwk=key.jwk))
    except IntegrityError:
        return False
    return True


async def save_api_key(
    connection: Connection, operator_id: str, digest: bytes, at: datetime
) -> None:
    """digest: SHA-256 of the new one; the former is no more."""
    values = {"digest": digest, "made_at": at}
    await _upsert(connection, operator_api_key, operator_id, values)


async def drop_api_key(connection: Connection, operator_id: str) -> None:
    key = operator_api_key
    await connection.execute(sa.delete(key).where(key.c.operator_id == operator_id))


async def close_operator(
    connection: Connection, operator_id: str, now: datetime
) -> None:
    """The id and its counter stay, all else of it goes."""
    for table in (operator_contact, operator_api_key, operator_nonce):
        await connection.execute(
            sa.delete(table).where(table.c.operator_id == operator_id)
        )
    await connection.execute(_of(operator_id).values(kid=None, jwk=None, closed_at=now))


async def operator_of_api_key(connection: Connection, digest: bytes) -> str | None:
    key = operator_api_key
    query = sa.select(key.c.operator_id).where(key.c.digest == digest)
    return (await connection.execute(query)).scalar_one_or_none()


async def operator_of_kid(
    connection: Connection, kid: str
) -> tuple[str, Mapping[str, str]] | None:
    """Return the id of the operator and its key as a JWK."""
    query = sa.select(operator.c.operator_id, operator.c.jwk).where(
        operator.c.kid == kid
    )
    row = (await connection.execute(query)).one_or_none()
    return None if row is None else (row.operator_id, row.jwk)


# One statement, and it does not wait for the disk: nonces lost in a crash would have
# been of use for five minutes.
USE_NONCE = sa.text("""
    WITH hurried AS (SELECT set_config('synchronous_commit', 'off', true)),
    forgotten AS (
        DELETE FROM registry.operator_nonce
        WHERE operator_id = :operator_id AND expires_at <= :now
    )
    INSERT INTO registry.operator_nonce (operator_id, nonce, expires_at)
    SELECT :operator_id, :nonce, :expires_at FROM hurried
    ON CONFLICT DO NOTHING
""").bindparams(
    sa.bindparam("operator_id", type_=sa.Text),
    sa.bindparam("nonce", type_=sa.Text),
    sa.bindparam("expires_at", type_=sa.DateTime(timezone=True)),
)


async def use_nonce(
    connection: Connection,
    operator_id: str,
    nonce: str,
    expires_at: datetime,
    now: datetime,
) -> bool:
    """Use up a nonce; return False if it was used. Expired ones are deleted.

    connection: `reading`, as the statement is a transaction by itself.
    """
    given = {"operator_id": operator_id, "nonce": nonce}
    used = await connection.execute(
        USE_NONCE, {**given, "expires_at": expires_at, "now": now}
    )
    return bool(used.rowcount)


async def _upsert(
    connection: Connection, table: sa.Table, operator_id: str, values: dict[str, Any]
) -> None:
    inserted = insert(table).values(operator_id=operator_id, **values)
    await connection.execute(
        inserted.on_conflict_do_update(index_elements=["operator_id"], set_=values)
    )


def _of(operator_id: str) -> Any:
    return sa.update(operator).where(operator.c.operator_id == operator_id)


def _operator(row: sa.Row[Any]) -> StoredOperator:
    contact = None
    if row.name is not None:
        contact = Contact(name=row.name, contact=row.contact, is_public=row.is_public)
    return read_row(StoredOperator, row, contact=contact, api_key_made_at=row.made_at)
