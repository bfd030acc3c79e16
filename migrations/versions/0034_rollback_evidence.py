"""Evidence that the database was put back, of the publisher and of the witnesses.

The web processes read it: they promise nothing that a stopped log will not publish.
"""

from alembic import op

from migrations.statements import run

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

STATEMENTS = """
CREATE TABLE audit.rollback_evidence (
    source text PRIMARY KEY,
    size bigint NOT NULL,
    detail text NOT NULL
);
GRANT SELECT, INSERT, UPDATE ON audit.rollback_evidence
    TO registry_publisher, registry_cosigner;
GRANT SELECT ON audit.rollback_evidence TO registry_api;
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(STATEMENTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run("DROP TABLE audit.rollback_evidence")
    op.execute("RESET ROLE")
