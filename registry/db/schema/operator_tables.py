"""The tables of operators: who runs agents, by key, and how many rankings each had.

What they say of themselves, their API keys and the nonces of their requests lie apart
from the rest: only the role of the web processes reads them.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    LargeBinary,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from registry.db.schema.metadata import audit_table, instant, registry_table


def _operator_key() -> Column[str]:
    owner = ForeignKey("registry.operator.operator_id")
    return Column("operator_id", Text, owner, primary_key=True)


operator = registry_table(
    "operator",
    Column("operator_id", Text, primary_key=True),
    Column("kid", Text, unique=True),
    Column("jwk", JSONB(none_as_null=True)),
    instant("registered_at"),
    instant("stated_at"),
    instant("closed_at", nullable=True),
)

operator_contact = registry_table(
    "operator_contact",
    _operator_key(),
    Column("name", Text, nullable=False),
    Column("contact", Text, nullable=False),
    Column("is_public", Boolean, nullable=False),
)

operator_api_key = registry_table(
    "operator_api_key",
    _operator_key(),
    Column("digest", LargeBinary, nullable=False, unique=True),
    instant("made_at"),
)

operator_nonce = registry_table(
    "operator_nonce",
    _operator_key(),
    Column("nonce", Text, primary_key=True),
    instant("expires_at"),
)

operator_count = audit_table(
    "operator_count",
    _operator_key(),
    Column("rankings", BigInteger, nullable=False, server_default=text("0")),
)
