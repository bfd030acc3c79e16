"""The tables of operators: who runs agents, by key, how many rankings each had, webhooks.

What they say of themselves, their API keys and the nonces of their requests lie apart
from the rest: only the role of the web processes reads them. Beside them stand the
answers that a repeated call gets again, most of which are operators'.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from registry.db.schema.metadata import (
    INSTANT,
    audit_table,
    from_zero,
    optional,
    registry_table,
    required,
)


def _operator_key() -> sa.Column[str]:
    owner = sa.ForeignKey("registry.operator.operator_id")
    return sa.Column("operator_id", sa.Text, owner, primary_key=True)


operator = registry_table(
    "operator",
    sa.Column("operator_id", sa.Text, primary_key=True),
    sa.Column("kid", sa.Text, unique=True),
    *required(INSTANT, "registered_at", "stated_at"),
    *optional(JSONB(none_as_null=True), "jwk"),
    *optional(INSTANT, "closed_at"),
)

operator_contact = registry_table(
    "operator_contact",
    _operator_key(),
    *required(sa.Text, "name", "contact"),
    *required(sa.Boolean, "is_public"),
)

operator_api_key = registry_table(
    "operator_api_key",
    _operator_key(),
    sa.Column("digest", sa.LargeBinary, nullable=False, unique=True),
    *required(INSTANT, "made_at"),
)

operator_nonce = registry_table(
    "operator_nonce",
    _operator_key(),
    sa.Column("nonce", sa.Text, primary_key=True),
    *required(INSTANT, "expires_at"),
)

operator_count = audit_table(
    "operator_count", _operator_key(), *from_zero(sa.BigInteger, "rankings")
)

webhook = registry_table(
    "webhook",
    sa.Column("webhook_id", sa.Text, primary_key=True),
    sa.Column(
        "operator_id",
        sa.Text,
        sa.ForeignKey("registry.operator.operator_id"),
        nullable=False,
    ),
    *required(sa.Text, "url", "state", "challenge", "registrable_domain"),
    *required(sa.LargeBinary, "cursor"),
    *required(INSTANT, "created_at"),
    *optional(INSTANT, "delivered_at", "due_at", "leased_until"),
    *optional(JSONB(none_as_null=True), "problem"),
    *optional(sa.Text, "network"),
    *from_zero(sa.Integer, "failures"),
    *from_zero(sa.BigInteger, "fence"),
    *from_zero(sa.Integer, "slowness"),
)

webhook_letter = registry_table(
    "webhook_letter",
    sa.Column(
        "webhook_id",
        sa.Text,
        sa.ForeignKey("registry.webhook.webhook_id", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column("delivery_id", sa.Text, primary_key=True),
    *required(sa.Text, "body"),
    *required(JSONB, "problem"),
    *required(sa.Integer, "attempts"),
    *required(INSTANT, "died_at"),
)

idempotent_answer = registry_table(
    "idempotent_answer",
    sa.Column("call", sa.LargeBinary, primary_key=True),
    *required(sa.LargeBinary, "request", "answer"),
    *required(INSTANT, "expires_at"),
    sa.Index("idempotent_answer_expires_at_idx", "expires_at"),
)
