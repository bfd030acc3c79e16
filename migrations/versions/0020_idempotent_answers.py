"""Answers of calls with an Idempotency-Key, which their repetition gets again."""

from alembic import op

from migrations.statements import run

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

STATEMENTS = """
CREATE TABLE registry.idempotent_answer (
    call bytea PRIMARY KEY,
    request bytea NOT NULL,
    answer bytea NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX idempotent_answer_expires_at_idx
    ON registry.idempotent_answer (expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON registry.idempotent_answer
    TO registry_api, registry_labeller;
"""

REMOVED = "DROP TABLE registry.idempotent_answer;"


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(STATEMENTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(REMOVED)
    op.execute("RESET ROLE")
