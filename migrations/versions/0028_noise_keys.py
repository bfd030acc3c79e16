"""The key of each day's noise, for the web processes and the reporter alone."""

from alembic import op

from migrations.statements import run

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

KEYS = """
ALTER TABLE audit.exposure_day ADD COLUMN noise_key bytea;
REVOKE SELECT ON audit.exposure_day FROM registry_auditor;
GRANT SELECT (day, record_id, made_at, body, signature) ON audit.exposure_day
    TO registry_auditor;
"""

FORMER = """
ALTER TABLE audit.exposure_day DROP COLUMN noise_key;
GRANT SELECT ON audit.exposure_day TO registry_auditor;
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(KEYS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(FORMER)
    op.execute("RESET ROLE")
