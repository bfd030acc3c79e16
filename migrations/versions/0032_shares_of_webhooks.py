"""Shares of the slots for webhooks: by domain, by network, and by how long receivers take.

The network from which a subscription came is forgotten once its receiver has answered.
Rows of before count by their host.
"""

from alembic import op

from migrations.statements import run

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

STATEMENTS = """
ALTER TABLE registry.webhook ADD COLUMN registrable_domain text;
ALTER TABLE registry.webhook ADD COLUMN network text;
ALTER TABLE registry.webhook ADD COLUMN slowness integer DEFAULT 0 NOT NULL;
UPDATE registry.webhook
    SET registrable_domain = lower(substring(url FROM '^https://([^/:?]+)'));
ALTER TABLE registry.webhook ALTER COLUMN registrable_domain SET NOT NULL;
GRANT UPDATE (network) ON registry.webhook TO registry_api;
GRANT UPDATE (network, slowness) ON registry.webhook TO registry_crawler;
"""

REMOVED = """
ALTER TABLE registry.webhook DROP COLUMN slowness;
ALTER TABLE registry.webhook DROP COLUMN network;
ALTER TABLE registry.webhook DROP COLUMN registrable_domain;
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(STATEMENTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(REMOVED)
    op.execute("RESET ROLE")
