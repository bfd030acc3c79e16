"""Webhooks: who wants to be told of changes, and what could not be delivered.

The web processes take subscriptions and nothing else; how far a receiver has been told
is the crawler's, which delivers. The feed reads sites in the order of their changes.
"""

from alembic import op

from migrations.statements import run

revision = "0019"
down_revision = "0017"
branch_labels = None
depends_on = None

STATEMENTS = """
CREATE TABLE registry.webhook (
    webhook_id text PRIMARY KEY,
    operator_id text NOT NULL REFERENCES registry.operator,
    url text NOT NULL,
    state text NOT NULL,
    challenge text NOT NULL,
    cursor bytea NOT NULL,
    created_at timestamptz NOT NULL,
    delivered_at timestamptz,
    problem jsonb,
    failures integer DEFAULT 0 NOT NULL,
    due_at timestamptz,
    leased_until timestamptz,
    fence bigint DEFAULT 0 NOT NULL
);
CREATE INDEX webhook_operator ON registry.webhook (operator_id);
CREATE INDEX webhook_due ON registry.webhook (due_at) WHERE state <> 'suspended';
CREATE TABLE registry.webhook_letter (
    webhook_id text REFERENCES registry.webhook ON DELETE CASCADE,
    delivery_id text,
    body text NOT NULL,
    problem jsonb NOT NULL,
    attempts integer NOT NULL,
    died_at timestamptz NOT NULL,
    PRIMARY KEY (webhook_id, delivery_id)
);
GRANT SELECT, INSERT, DELETE, UPDATE (state, challenge, due_at, failures, problem)
    ON registry.webhook TO registry_api;
GRANT SELECT ON registry.webhook_letter TO registry_api;
GRANT SELECT, UPDATE (state, cursor, delivered_at, problem, failures, due_at,
    leased_until, fence) ON registry.webhook TO registry_crawler;
GRANT SELECT, INSERT, UPDATE, DELETE ON registry.webhook_letter TO registry_crawler;
DROP INDEX registry.site_change_xid;
CREATE INDEX site_change_xid ON registry.site (change_xid, site_id);
"""

REMOVED = """
DROP INDEX registry.site_change_xid;
CREATE INDEX site_change_xid ON registry.site (change_xid);
DROP TABLE registry.webhook_letter;
DROP TABLE registry.webhook;
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(STATEMENTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(REMOVED)
    op.execute("RESET ROLE")
