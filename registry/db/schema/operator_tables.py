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
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from registry.db.schema.metadata import instant, metadata


def _operator_key() -> Column[str]:
    owner = ForeignKey("registry.operator.operator_id")
    return Column("operator_id", Text, owner, primary_key=True)


operator = Table(
    "operator",
    metadata,
    Column("operator_id", Text, primary_key=True),
    Column("kid", Text, unique=True),
    Column("jwk", JSONB(none_as_null=True)),
    instant("registered_at"),
    instant("stated_at"),
    instant("closed_at", nullable=True),
    schema="registry",
)

operator_contact = Table(
    "operator_contact",
    metadata,
    _operator_key(),
    Column("name", Text, nullable=False),
    Column("contact", Text, nullable=False),
    Column("is_public", Boolean, nullable=False),
    schema="registry",
)

operator_api_key = Table(
    "operator_api_key",
    metadata,
    _operator_key(),
    Column("digest", LargeBinary, nullable=False, unique=True),
    instant("made_at"),
    schema="registry",
)

operator_nonce = Table(
    "operator_nonce",
    metadata,
    _operator_key(),
    Column("nonce", Text, primary_key=True),
    instant("expires_at"),
    schema="registry",
)

operator_count = Table(
    "operator_count",
    metadata,
    _operator_key(),
    Column("rankings", BigInteger, nullable=False, server_default=text("0")),
    schema="audit",
)
