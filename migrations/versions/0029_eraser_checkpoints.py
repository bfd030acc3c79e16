"""The eraser may have cleared pages written to the files, where the login may grant that."""

from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

# Elsewhere files follow at the server's own checkpoints.
CHECKPOINT = """
DO $$ BEGIN
    GRANT pg_checkpoint TO registry_eraser;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'this login may not grant pg_checkpoint to registry_eraser';
END $$
"""


def upgrade() -> None:
    op.execute(CHECKPOINT)


def downgrade() -> None:
    """Leave the membership: it is of the cluster, and another database may need it."""
