"""What an answer held and what was chosen from it are disclosures, erased with the query.

Rows of records of version 1, whose order stands in the log, have neither.
"""

from alembic import op

from migrations.statements import run

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

STATEMENTS = """
ALTER TABLE audit.ranking ADD COLUMN answer bytea;
ALTER TABLE audit.selection ADD COLUMN choice bytea;
GRANT UPDATE (answer, returned, sampled, eligible) ON audit.ranking TO registry_eraser;
GRANT SELECT, UPDATE (site_id, choice) ON audit.selection TO registry_eraser;
DROP TRIGGER append_only ON audit.selection;
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON audit.selection
    FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();
ALTER TABLE audit.selection ENABLE ALWAYS TRIGGER append_only;
"""

REMOVED = """
DROP TRIGGER append_only ON audit.selection;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit.selection
    FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();
ALTER TABLE audit.selection ENABLE ALWAYS TRIGGER append_only;
REVOKE ALL ON audit.selection FROM registry_eraser;
ALTER TABLE audit.selection DROP COLUMN choice;
REVOKE UPDATE (returned, sampled, eligible) ON audit.ranking FROM registry_eraser;
ALTER TABLE audit.ranking DROP COLUMN answer;
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(STATEMENTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(REMOVED)
    op.execute("RESET ROLE")
