"""The log refuses records of another time: before its newest entry, or ahead of now.

A clock that went back, or ahead and back, gave records that stand out of time, and a log
that every verifier then calls unsound for good. The tolerance is half of what the rules
of the log allow.
"""

from alembic import op

from migrations.statements import run

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

GUARD = """
CREATE FUNCTION audit.refuse_other_times() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    newest timestamptz := (
        SELECT accepted_at FROM audit.entry ORDER BY leaf_index DESC LIMIT 1
    );
    tolerance CONSTANT interval := '30 seconds';
BEGIN
    IF EXISTS (
        SELECT FROM added WHERE accepted_at < newest - tolerance
            OR accepted_at > clock_timestamp() + tolerance
    ) THEN
        RAISE EXCEPTION 'the clock of its writer is not that of the log'
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$
"""

TRIGGER = """
CREATE TRIGGER of_its_time AFTER INSERT ON audit.pending
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_other_times()
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute(GUARD)
    op.execute(TRIGGER)
    run("REVOKE ALL ON FUNCTION audit.refuse_other_times() FROM PUBLIC")
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run("""
        DROP TRIGGER of_its_time ON audit.pending;
        DROP FUNCTION audit.refuse_other_times();
    """)
    op.execute("RESET ROLE")
