"""A policy is logged again whenever other code ranks by it."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    # No code has the digest '': what was logged before is logged again by its own code.
    op.execute("ALTER TABLE audit.policy ADD COLUMN code text NOT NULL DEFAULT ''")
    op.execute("""
        ALTER TABLE audit.policy ALTER COLUMN code DROP DEFAULT,
            DROP CONSTRAINT policy_pkey, ADD PRIMARY KEY (digest, code)
    """)
    op.execute("RESET ROLE")


def downgrade() -> None:
    """Fails where a policy was logged twice: what is logged stays."""
    op.execute("SET ROLE registry_owner")
    op.execute("""
        ALTER TABLE audit.policy DROP CONSTRAINT policy_pkey, DROP COLUMN code,
            ADD PRIMARY KEY (digest)
    """)
    op.execute("RESET ROLE")
