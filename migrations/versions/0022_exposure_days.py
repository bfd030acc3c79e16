"""Daily tables of exposure: what everybody is told, and what each site is told of itself."""

from alembic import op

from migrations.statements import run

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE audit.exposure_day (
    day date NOT NULL,
    record_id uuid NOT NULL,
    made_at timestamptz NOT NULL,
    body bytea NOT NULL,
    signature text NOT NULL,
    PRIMARY KEY (day),
    CONSTRAINT exposure_day_record_id_key UNIQUE (record_id)
);

CREATE TABLE audit.site_exposure (
    site_id bigint NOT NULL,
    day date NOT NULL,
    appearances bigint NOT NULL,
    attention bigint NOT NULL,
    selections bigint NOT NULL,
    PRIMARY KEY (site_id, day)
);

GRANT SELECT, INSERT ON audit.exposure_day, audit.site_exposure TO registry_reporter;
GRANT SELECT ON audit.exposure_day, audit.site_exposure TO registry_api;
GRANT SELECT ON audit.exposure_day TO registry_auditor;
"""

GUARD = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit.{table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();
ALTER TABLE audit.{table} ENABLE ALWAYS TRIGGER append_only;
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(TABLES)
    for table in ("exposure_day", "site_exposure"):
        run(GUARD.format(table=table))
    op.execute("RESET ROLE")


def downgrade() -> None:
    run("DROP TABLE audit.site_exposure; DROP TABLE audit.exposure_day")
