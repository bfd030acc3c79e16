"""What answers show of a listing, kept beside it: the whole of it need not be read.

PostgreSQL computes it whenever the listing is written, so the two can't differ.
"""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

ADD = """
ALTER TABLE registry.site ADD COLUMN short jsonb GENERATED ALWAYS AS (
    jsonb_insert(
        '[]'
        || coalesce(listing #> '{site,name}', '""')
        || coalesce(listing #> '{site,category}', '""')
        || coalesce(listing #> '{site,location}', 'null')
        || coalesce(listing -> 'place', 'null')
        || coalesce(listing #> '{site,commission_percent}', 'null')
        || coalesce(listing #> '{site,is_independent}', 'null'),
        '{-1}', jsonb_path_query_array(listing, '$.site.actions[*].name'), true
    )
) STORED
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute("SET statement_timeout = 0")
    op.execute(ADD)
    op.execute("RESET statement_timeout")
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute("ALTER TABLE registry.site DROP COLUMN short")
    op.execute("RESET ROLE")
