"""Operators of agents: taking their signed statements, one transaction each."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from registry.db import operators
from registry.db.engine.engines import Connection
from registry.db.operators import StoredOperator
from registry.db.webhooks import remove_webhooks
from registry.errors import Conflict, Gone, NotFound, Refused
from registry.identity.keys.api_key import RANDOM_BYTES, digest_api_key, format_api_key
from registry.identity.keys.jwk import parse_jwk
from registry.identity.keys.public_keys import PublicKey
from registry.identity.statements.jws import (
    OPERATOR_TYP,
    CompactJws,
    parse_compact,
    verify_jws,
)
from registry.identity.statements.operator_statement import (
    Act,
    OperatorStatement,
    parse_operator_statement,
)
from registry.identity.statements.registered_claims import verify_claims
from registry.usecases import refusals
from registry.usecases.ids import IdSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """Outcome of an operator's statement. api_key: the new one, shown this once."""

    operator: StoredOperator
    api_key: str | None


async def take_statement(
    connection: Connection,
    token: bytes,
    *,
    operator_id: str | None,
    audience: str,
    ids: IdSource,
) -> Stated:
    """Carry out what an operator signed. operator_id: of the address; None: none yet.

    Raises: Refused, Conflict, NotFound, Gone. What is refused leaves nothing behind.
    """
    jws = parse_compact(token, typ=OPERATOR_TYP)
    statement = parse_operator_statement(jws.payload)
    _verify_address(statement, operator_id)
    now = ids.clock()
    verify_claims(statement, audience=audience, now=now)
    carry_out = _register if statement.act == "register" else _change
    await carry_out(connection, jws, statement, now)
    api_key = await _save_api_key(connection, statement, ids)
    operator = await find_operator(connection, statement.operator_id)
    return Stated(operator=operator, api_key=api_key)


def _verify_address(statement: OperatorStatement, operator_id: str | None) -> None:
    if (statement.act == "register") != (operator_id is None):
        raise Refused(refusals.OPERATOR_ADDRESS_WRONG, pointer="/act")
    if operator_id not in {None, statement.operator_id}:
        raise Refused(refusals.OPERATOR_ADDRESS_WRONG, pointer="/sub")


async def find_operator(connection: Connection, operator_id: str) -> StoredOperator:
    """Raises: NotFound."""
    operator = await operators.find_operator(connection, operator_id)
    if operator is None:
        raise NotFound(refusals.OPERATOR_UNKNOWN)
    return operator


async def _register(
    connection: Connection, jws: CompactJws, statement: OperatorStatement, now: datetime
) -> None:
    """The key is in the payload: who can sign with it is the operator."""
    key = _brought(statement)
    if statement.operator_id != key.kid:
        raise Refused(refusals.OPERATOR_SUBJECT_WRONG, pointer="/sub")
    verify_jws(jws, key)
    added = await operators.add_operator(
        connection, key, now=now, stated_at=statement.issued_at
    )
    if not added:
        raise Conflict(refusals.OPERATOR_KNOWN, pointer="/jwk")
    await _say(connection, statement)


async def _change(
    connection: Connection, jws: CompactJws, statement: OperatorStatement, now: datetime
) -> None:
    """Apply a statement; of two at once the second waits, and is refused by its `iat` if that is older."""
    known = await operators.lock_operator(connection, statement.operator_id)
    if known is None:
        raise NotFound(refusals.OPERATOR_UNKNOWN, pointer="/sub")
    if known.jwk is None:
        raise Gone(refusals.OPERATOR_CLOSED, pointer="/sub")
    verify_jws(jws, parse_jwk(dict(known.jwk)))
    if statement.issued_at <= known.stated_at:
        detail = f"The last one was issued at {known.stated_at:%Y-%m-%dT%H:%M:%SZ}."
        raise Conflict(refusals.OPERATOR_STATEMENT_REPLAYED, detail, pointer="/iat")
    await operators.note_statement(connection, known.operator_id, statement.issued_at)
    await _CHANGES[statement.act](connection, statement, now)


async def _say(
    connection: Connection, statement: OperatorStatement, _: datetime | None = None
) -> None:
    if statement.contact is not None:
        await operators.save_contact(
            connection, statement.operator_id, statement.contact
        )


async def _rotate(
    connection: Connection, statement: OperatorStatement, _: datetime
) -> None:
    key = _brought(statement)
    if not await operators.save_key(connection, statement.operator_id, key):
        raise Conflict(refusals.OPERATOR_KNOWN, pointer="/next_jwk")


async def _close(
    connection: Connection, statement: OperatorStatement, now: datetime
) -> None:
    await operators.close_operator(connection, statement.operator_id, now)
    await remove_webhooks(connection, statement.operator_id)


_CHANGES: Mapping[
    Act, Callable[[Connection, OperatorStatement, datetime], Awaitable[None]]
] = {"update": _say, "rotate": _rotate, "close": _close}


def _brought(statement: OperatorStatement) -> PublicKey:
    if statement.key is None:
        raise LookupError(f"the act {statement.act} brings a key")
    return statement.key


async def _save_api_key(
    connection: Connection, statement: OperatorStatement, ids: IdSource
) -> str | None:
    """The new one, if one was asked for: the registry keeps its digest only."""
    operator_id = statement.operator_id
    if statement.api_key is None:
        return None
    if not statement.api_key:
        await operators.drop_api_key(connection, operator_id)
        return None
    api_key = format_api_key(ids.random_bytes(RANDOM_BYTES))
    digest = digest_api_key(api_key)
    await operators.save_api_key(connection, operator_id, digest, ids.clock())
    return api_key
