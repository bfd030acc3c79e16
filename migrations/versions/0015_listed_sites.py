"""Indexes of the listed sites in the order of their registration, whole and by category.

The list and its number were read by a scan of the whole table.
"""

from alembic import op

from migrations.statements import run

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

LISTED = "status = 'active' AND unlisted_for IS NULL AND moderated IS NULL"

STATEMENTS = f"""
CREATE INDEX site_listed ON registry.site (registered_at, site_id)
WHERE {LISTED};
CREATE INDEX site_listed_by_category
ON registry.site (lower(category), registered_at, site_id)
WHERE {LISTED};
CREATE INDEX site_listed_by_country
ON registry.site (country, registered_at, site_id)
WHERE {LISTED};
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(STATEMENTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute(
        "DROP INDEX registry.site_listed, registry.site_listed_by_category, "
        "registry.site_listed_by_country"
    )
    op.execute("RESET ROLE")
