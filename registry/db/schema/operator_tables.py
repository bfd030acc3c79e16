"""The tables of operators: who runs agents, by key, how many rankings each had, webhooks.

What they say of themselves, their API keys and the nonces of their requests lie apart
from the rest: only the role of the web processes reads them. Beside them stand the
answers that a repeated call gets again, most of which are operators'.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from registry.db.schema.metadata import audit_table, instant, registry_table


def _operator_key() -> sa.Column[str]:
    owner = sa.ForeignKey("registry.operator.operator_id")
    return sa.Column("operator_id", sa.Text, owner, primary_key=True)


operator = registry_table(
    "operator",
    sa.Column("operator_id", sa.Text, primary_key=True),
    sa.Column("kid", sa.Text, unique=True),
    sa.Column("jwk", JSONB(none_as_null=True)),
    instant("registered_at"),
    instant("stated_at"),
    instant("closed_at", nullable=True),
)

operator_contact = registry_table(
    "operator_contact",
    _operator_key(),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("contact", sa.Text, nullable=False),
    sa.Column("is_public", sa.Boolean, nullable=False),
)

operator_api_key = registry_table(
    "operator_api_key",
    _operator_key(),
    sa.Column("digest", sa.LargeBinary, nullable=False, unique=True),
    instant("made_at"),
)

operator_nonce = registry_table(
    "operator_nonce",
    _operator_key(),
    sa.Column("nonce", sa.Text, primary_key=True),
    instant("expires_at"),
)

operator_count = audit_table(
    "operator_count",
    _operator_key(),
    sa.Column("rankings", sa.BigInteger, nullable=False, server_default=sa.text("0")),
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
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("challenge", sa.Text, nullable=False),
    sa.Column("cursor", sa.LargeBinary, nullable=False),
    instant("created_at"),
    instant("delivered_at", nullable=True),
    sa.Column("problem", JSONB(none_as_null=True)),
    sa.Column("failures", sa.Integer, nullable=False, server_default=sa.text("0")),
    instant("due_at", nullable=True),
    instant("leased_until", nullable=True),
    sa.Column("fence", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("registrable_domain", sa.Text, nullable=False),
    sa.Column("network", sa.Text),
    sa.Column("slowness", sa.Integer, nullable=False, server_default=sa.text("0")),
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
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("problem", JSONB, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    instant("died_at"),
)

idempotent_answer = registry_table(
    "idempotent_answer",
    sa.Column("call", sa.LargeBinary, primary_key=True),
    sa.Column("request", sa.LargeBinary, nullable=False),
    sa.Column("answer", sa.LargeBinary, nullable=False),
    instant("expires_at"),
    sa.Index("idempotent_answer_expires_at_idx", "expires_at"),
)
