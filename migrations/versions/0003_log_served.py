"""What is done to the log after it is written: cosigned, looked up by hash, erased."""

from alembic import op

from migrations.statements import run

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

LOGIN_ROLES = ("registry_eraser", "registry_cosigner")

# Roles belong to the whole cluster: another database of it may have made them already,
# even at this moment.
CREATE_ROLE = """
DO $$ BEGIN
    CREATE ROLE {name} LOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""

TABLES = """
CREATE TABLE audit.cosignature (
    size bigint NOT NULL,
    witness text NOT NULL,
    line text NOT NULL,
    cosigned_at timestamptz NOT NULL,
    PRIMARY KEY (size, witness)
);

CREATE TABLE audit.erasure (
    record_id uuid NOT NULL,
    first_index bigint NOT NULL,
    last_index bigint NOT NULL,
    is_scheduled boolean NOT NULL,
    erased_at timestamptz NOT NULL,
    PRIMARY KEY (record_id),
    CONSTRAINT erasure_once UNIQUE (first_index, is_scheduled)
);

CREATE INDEX cosignature_witness ON audit.cosignature (witness, size);

-- Who holds a promise knows the leaf hash and nothing else. It is half as large as a
-- tree, and equality is all that is asked.
CREATE INDEX entry_by_leaf_hash ON audit.entry USING hash (leaf_hash);

-- What is erased lies in the file until vacuum has passed, and it is to pass soon.
ALTER TABLE audit.ranking SET (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0
);
"""

GUARD = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit.{table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();
ALTER TABLE audit.{table} ENABLE ALWAYS TRIGGER append_only;
"""

RIGHTS = """
GRANT USAGE ON SCHEMA audit TO registry_eraser, registry_cosigner;

GRANT SELECT ON audit.cosignature, audit.erasure TO registry_api, registry_auditor;

-- The one role that may delete what was logged, and nothing but the disclosures.
GRANT SELECT, UPDATE (query, location, filters, request, scores, terms)
    ON audit.ranking TO registry_eraser;
GRANT SELECT ON audit.entry, audit.pending TO registry_eraser;
GRANT INSERT (record_id, kind, body, leaf_hash, accepted_at) ON audit.pending
    TO registry_eraser;
GRANT SELECT, INSERT ON audit.erasure TO registry_eraser;

-- It is the one that speaks with strangers: of the entries it sees the hashes only.
GRANT SELECT ON audit.checkpoint, audit.tile_hash TO registry_cosigner;
GRANT SELECT (leaf_index, leaf_hash) ON audit.entry TO registry_cosigner;
GRANT SELECT, INSERT ON audit.cosignature TO registry_cosigner;
"""


def upgrade() -> None:
    for role in LOGIN_ROLES:
        op.execute(CREATE_ROLE.format(name=role))
    op.execute("SET ROLE registry_owner")
    run(TABLES)
    for table in ("cosignature", "erasure"):
        run(GUARD.format(table=table))
    run(RIGHTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    run(
        "DROP TABLE audit.cosignature; DROP TABLE audit.erasure;"
        "DROP INDEX audit.entry_by_leaf_hash"
    )
