"""Labels of sites as they were at any time, and who set them."""

from alembic import op

from migrations.statements import run

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# Roles belong to the whole cluster: another database of it may have made them already,
# even at this moment.
CREATE_ROLE = """
DO $$ BEGIN
    CREATE ROLE registry_labeller LOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""

# statement, record_id: of an auditor's label, which is signed and on record.
TABLES = """
CREATE TABLE disclosure.label (
    site_id bigint NOT NULL,
    label_id bigint GENERATED ALWAYS AS IDENTITY,
    told_by text NOT NULL,
    told_at timestamptz NOT NULL,
    valid_from timestamptz NOT NULL,
    observed_on date,
    size text CONSTRAINT label_size_known
        CHECK (size IN ('micro', 'small', 'medium', 'large')),
    independence text CONSTRAINT label_independence_known
        CHECK (independence IN ('independent', 'chain')),
    chain text CONSTRAINT label_chain_is_of_a_chain
        CHECK (chain IS NULL OR independence = 'chain'),
    commission_percent double precision,
    source text NOT NULL,
    statement bytea,
    record_id uuid,
    PRIMARY KEY (site_id, label_id),
    CONSTRAINT label_statement_key UNIQUE (statement)
);

INSERT INTO disclosure.label (site_id, told_by, told_at, valid_from, size, independence,
    commission_percent, source)
SELECT site_id, 'registration', declared_at, declared_at, nullif(size, 'unknown'),
    nullif(independence, 'unknown'), commission_percent, source
FROM disclosure.site_label;

DROP TABLE disclosure.site_label;
"""

APPEND_ONLY = """
CREATE FUNCTION disclosure.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'disclosure.% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$
"""

RIGHTS = """
REVOKE ALL ON FUNCTION disclosure.refuse_change() FROM PUBLIC;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON disclosure.label
    FOR EACH STATEMENT EXECUTE FUNCTION disclosure.refuse_change();
ALTER TABLE disclosure.label ENABLE ALWAYS TRIGGER append_only;

GRANT SELECT, INSERT ON disclosure.label TO registry_crawler;
GRANT SELECT ON disclosure.label TO registry_auditor;

-- Whoever puts an auditor's label on record reads no label and no site but its id.
GRANT USAGE ON SCHEMA disclosure, audit, registry TO registry_labeller;
GRANT INSERT ON disclosure.label TO registry_labeller;
GRANT SELECT (statement) ON disclosure.label TO registry_labeller;
GRANT SELECT (site_id) ON registry.site TO registry_labeller;
GRANT SELECT, INSERT, DELETE ON registry.notice TO registry_labeller;
GRANT INSERT (record_id, kind, body, leaf_hash, accepted_at) ON audit.pending
    TO registry_labeller;
"""

BACK = """
CREATE TABLE disclosure.site_label (
    site_id BIGSERIAL NOT NULL,
    size text NOT NULL,
    independence text NOT NULL,
    commission_percent double precision,
    source text NOT NULL,
    declared_at timestamptz NOT NULL,
    PRIMARY KEY (site_id)
);

INSERT INTO disclosure.site_label
SELECT DISTINCT ON (site_id) site_id, coalesce(size, 'unknown'),
    coalesce(independence, 'unknown'), commission_percent, source, valid_from
FROM disclosure.label WHERE told_by = 'registration'
ORDER BY site_id, told_at DESC, label_id DESC;

DROP TABLE disclosure.label;
DROP FUNCTION disclosure.refuse_change();
GRANT SELECT, INSERT, UPDATE ON disclosure.site_label TO registry_crawler;
GRANT SELECT ON disclosure.site_label TO registry_auditor;
"""


def upgrade() -> None:
    op.execute(CREATE_ROLE)
    op.execute("SET ROLE registry_owner")
    run(TABLES)
    op.execute(APPEND_ONLY)
    run(RIGHTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(BACK)
    op.execute("RESET ROLE")
