"""What the registry answers for: sites that it moderates, and what auditors attest."""

from alembic import op

from migrations.statements import run

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# Roles belong to the whole cluster: another database of it may have made them already,
# even at this moment.
CREATE_ROLE = """
DO $$ BEGIN
    CREATE ROLE registry_moderator LOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""

TABLES = """
ALTER TABLE registry.site ADD COLUMN moderated text
    CONSTRAINT site_moderated_known CHECK (moderated IN ('quarantined', 'delisted'));

CREATE TABLE audit.attestation (
    digest bytea NOT NULL,
    record_id uuid NOT NULL,
    accepted_at timestamptz NOT NULL,
    PRIMARY KEY (digest)
);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit.attestation
    FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();
ALTER TABLE audit.attestation ENABLE ALWAYS TRIGGER append_only;
"""

RIGHTS = """
-- Whoever moderates can put a site in or out of answers, and change nothing else of it.
GRANT USAGE ON SCHEMA registry, audit TO registry_moderator;
GRANT SELECT ON registry.site, registry.site_profile TO registry_moderator;
GRANT UPDATE (moderated, updated_at, change_xid) ON registry.site TO registry_moderator;
GRANT UPDATE (listed, change_xid) ON registry.site_profile TO registry_moderator;
GRANT SELECT, INSERT, DELETE ON registry.notice TO registry_moderator;
GRANT INSERT (record_id, kind, body, leaf_hash, accepted_at) ON audit.pending
    TO registry_moderator;

GRANT SELECT, INSERT ON audit.attestation TO registry_api;
GRANT SELECT ON audit.attestation TO registry_auditor;
"""


def upgrade() -> None:
    op.execute(CREATE_ROLE)
    op.execute("SET ROLE registry_owner")
    run(TABLES, RIGHTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    run("DROP TABLE audit.attestation; ALTER TABLE registry.site DROP COLUMN moderated")
