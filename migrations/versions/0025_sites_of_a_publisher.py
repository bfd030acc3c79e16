"""An index of a publisher's sites: an entry shows where the others are."""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute(
        "CREATE INDEX site_by_publisher ON registry.site (registrable_domain, site_id)"
    )
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute("DROP INDEX registry.site_by_publisher")
    op.execute("RESET ROLE")
