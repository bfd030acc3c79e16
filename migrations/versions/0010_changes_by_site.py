"""Rows of a transaction come some at a time, so the index of changes holds the site too.

See `registry.db.engine.snapshots`.
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _replace("(change_xid, site_id)")


def downgrade() -> None:
    _replace("(change_xid)")


def _replace(columns: str) -> None:
    op.execute("SET ROLE registry_owner")
    op.execute("DROP INDEX registry.site_profile_change_xid")
    op.execute(
        "CREATE INDEX site_profile_change_xid ON registry.site_profile " + columns
    )
    op.execute("RESET ROLE")
