"""What a day's trials of invariance are made of, which the log names by its digest."""

from alembic import op

from migrations.statements import run

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE audit.trial_material (
    day date NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (day)
);
GRANT SELECT (day), INSERT, DELETE ON audit.trial_material TO registry_reporter;
GRANT SELECT ON audit.trial_material TO registry_api, registry_auditor
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(TABLE)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("DROP TABLE audit.trial_material")
