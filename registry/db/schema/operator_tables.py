"""The tables of operators: who runs agents, by key, how many rankings each had, webhooks.

What they say of themselves, their API keys and the nonces of their requests lie apart
from the rest: only the role of the web processes reads them. Beside them stand the
answers that a repeated call gets again, most of which are operators'.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
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

webhook = registry_table(
    "webhook",
    Column("webhook_id", Text, primary_key=True),
    Column(
        "operator_id", Text, ForeignKey("registry.operator.operator_id"), nullable=False
    ),
    Column("url", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("challenge", Text, nullable=False),
    Column("cursor", LargeBinary, nullable=False),
    instant("created_at"),
    instant("delivered_at", nullable=True),
    Column("problem", JSONB(none_as_null=True)),
    Column("failures", Integer, nullable=False, server_default=text("0")),
    instant("due_at", nullable=True),
    instant("leased_until", nullable=True),
    Column("fence", BigInteger, nullable=False, server_default=text("0")),
    Column("registrable_domain", Text, nullable=False),
    Column("network", Text),
    Column("slowness", Integer, nullable=False, server_default=text("0")),
)

webhook_letter = registry_table(
    "webhook_letter",
    Column(
        "webhook_id",
        Text,
        ForeignKey("registry.webhook.webhook_id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("delivery_id", Text, primary_key=True),
    Column("body", Text, nullable=False),
    Column("problem", JSONB, nullable=False),
    Column("attempts", Integer, nullable=False),
    instant("died_at"),
)

idempotent_answer = registry_table(
    "idempotent_answer",
    Column("call", LargeBinary, primary_key=True),
    Column("request", LargeBinary, nullable=False),
    Column("answer", LargeBinary, nullable=False),
    instant("expires_at"),
    Index("idempotent_answer_expires_at_idx", "expires_at"),
)
