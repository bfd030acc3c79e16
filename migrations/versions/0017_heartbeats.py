"""Heartbeats of the crawlers, by which the web processes see that one is at work."""

from alembic import op

from migrations.statements import run

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

STATEMENTS = """
CREATE TABLE registry.heartbeat (
    part text PRIMARY KEY,
    beat_at timestamptz NOT NULL
);
GRANT SELECT, INSERT, UPDATE ON registry.heartbeat TO registry_crawler;
GRANT SELECT ON registry.heartbeat TO registry_api;
"""

REMOVED = "DROP TABLE registry.heartbeat;"


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(STATEMENTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(REMOVED)
    op.execute("RESET ROLE")
