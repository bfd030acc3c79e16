"""The salt of the counts of pairs by which the log commits to them; "" for runs of before."""

from alembic import op

from migrations.statements import run

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(
        "ALTER TABLE audit.invariance_run ADD COLUMN swap_salt text NOT NULL DEFAULT ''"
    )
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("ALTER TABLE audit.invariance_run DROP COLUMN swap_salt")
