"""The table of answers that a repeated call gets again."""

from sqlalchemy import Column, Index, LargeBinary, Table

from registry.db.schema.metadata import instant, metadata

idempotent_answer = Table(
    "idempotent_answer",
    metadata,
    Column("call", LargeBinary, primary_key=True),
    Column("request", LargeBinary, nullable=False),
    Column("answer", LargeBinary, nullable=False),
    instant("expires_at"),
    Index("idempotent_answer_expires_at_idx", "expires_at"),
    schema="registry",
)
