"""Reports and trials of invariance that are kept."""

from alembic import op

from migrations.statements import run

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# Roles belong to the whole cluster: another database of it may have made them already,
# even at this moment.
CREATE_ROLE = """
DO $$ BEGIN
    CREATE ROLE registry_reporter LOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""

TABLES = """
CREATE TABLE audit.kept_report (
    month date NOT NULL CONSTRAINT kept_report_month_begins
        CHECK (month = date_trunc('month', month)),
    record_id uuid NOT NULL,
    made_at timestamptz NOT NULL,
    PRIMARY KEY (month),
    CONSTRAINT kept_report_record_id_key UNIQUE (record_id)
);

-- What was served once is served again, byte for byte.
CREATE TABLE audit.kept_form (
    month date NOT NULL,
    form text NOT NULL,
    body bytea NOT NULL,
    signature text NOT NULL,
    digest bytea NOT NULL,
    size integer NOT NULL,
    PRIMARY KEY (month, form),
    FOREIGN KEY(month) REFERENCES audit.kept_report (month),
    CONSTRAINT kept_form_told_truly
        CHECK (digest = sha256(body) AND size = octet_length(body))
);

CREATE TABLE audit.invariance_run (
    day date NOT NULL,
    finished_at timestamptz NOT NULL,
    generation text NOT NULL,
    policy text NOT NULL,
    code text NOT NULL,
    seed bigint NOT NULL,
    queries integer NOT NULL,
    sites integer NOT NULL,
    trials integer NOT NULL,
    violations integer NOT NULL,
    rate_at_most double precision NOT NULL,
    tallies jsonb NOT NULL,
    examples jsonb NOT NULL,
    PRIMARY KEY (day),
    CONSTRAINT invariance_run_counted CHECK (0 <= violations AND violations <= trials)
);
"""

KEPT = ("kept_report", "kept_form", "invariance_run")

GUARD = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit.{table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();
ALTER TABLE audit.{table} ENABLE ALWAYS TRIGGER append_only;
"""

RIGHTS = """
-- What a report needs is read as the auditor. This role puts down what came out.
GRANT USAGE ON SCHEMA audit TO registry_reporter;
GRANT SELECT, INSERT ON audit.kept_report, audit.kept_form, audit.invariance_run
    TO registry_reporter;
GRANT INSERT (record_id, kind, body, leaf_hash, accepted_at) ON audit.pending
    TO registry_reporter;

GRANT SELECT ON audit.kept_report, audit.kept_form, audit.invariance_run
    TO registry_api, registry_auditor;
"""


def upgrade() -> None:
    op.execute(CREATE_ROLE)
    op.execute("SET ROLE registry_owner")
    run(TABLES)
    for table in KEPT:
        run(GUARD.format(table=table))
    run(RIGHTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    run(
        "DROP TABLE audit.kept_form; DROP TABLE audit.kept_report;"
        "DROP TABLE audit.invariance_run"
    )
