"""The tables of webhooks: subscriptions, and what could not be delivered."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from registry.db.schema.metadata import instant, registry_table

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
