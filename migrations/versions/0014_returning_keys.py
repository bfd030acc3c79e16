"""Keys that may return to their source, and numbers that leave room for later ones.

A site whose last accepted seq left no number for the next statement could neither be
withdrawn nor have a key revoked; it goes on from the present in milliseconds.
"""

from alembic import op

from migrations.statements import run

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

STATEMENTS = """
ALTER TABLE registry.site_key ADD COLUMN missed_at timestamptz;
UPDATE registry.site SET seq = extract(epoch FROM now()) * 1000
WHERE seq > extract(epoch FROM now() + interval '1 day') * 1000;
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(STATEMENTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute("ALTER TABLE registry.site_key DROP COLUMN missed_at")
    op.execute("RESET ROLE")
