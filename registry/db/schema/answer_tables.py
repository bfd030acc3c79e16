"""The table of answers that a repeated call gets again."""

from sqlalchemy import Column, Index, LargeBinary

from registry.db.schema.metadata import instant, registry_table

idempotent_answer = registry_table(
    "idempotent_answer",
    Column("call", LargeBinary, primary_key=True),
    Column("request", LargeBinary, nullable=False),
    Column("answer", LargeBinary, nullable=False),
    instant("expires_at"),
    Index("idempotent_answer_expires_at_idx", "expires_at"),
)
