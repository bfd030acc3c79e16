"""Direct benefit and trust signatures (WAB 9.5, 9.6) among what answers show."""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

CLAIMS = """
'[]'
|| coalesce(listing #> '{site,name}', '""')
|| coalesce(listing #> '{site,category}', '""')
|| coalesce(listing #> '{site,location}', 'null')
|| coalesce(listing -> 'place', 'null')
|| coalesce(listing #> '{site,commission_percent}', 'null')
|| coalesce(listing #> '{site,is_independent}', 'null')
"""
FURTHER = """
jsonb_insert(
    %s || coalesce(listing #> '{site,direct_benefit}', '""'),
    '{-1}', coalesce(listing #> '{site,trust_signatures}', '[]'), true
)
"""
WITH_ACTIONS = """
jsonb_insert(
    %s, '{-1}', jsonb_path_query_array(listing, '$.site.actions[*].name'), true
)
"""
FORMER = WITH_ACTIONS % CLAIMS
SHORT = WITH_ACTIONS % (FURTHER % CLAIMS)


def upgrade() -> None:
    _replace(SHORT)


def downgrade() -> None:
    _replace(FORMER)


def _replace(short: str) -> None:
    op.execute("SET ROLE registry_owner")
    op.execute("SET statement_timeout = 0")
    op.execute("ALTER TABLE registry.site DROP COLUMN short")
    op.execute(
        f"ALTER TABLE registry.site ADD COLUMN short jsonb "
        f"GENERATED ALWAYS AS ({short}) STORED"
    )
    op.execute("RESET statement_timeout")
    op.execute("RESET ROLE")
