"""Rejected statements go: their bytes after an hour, their rows after a week.

At the limit a network had 2.6 GB a day of statements that were signed by nobody, for a
week, and a row of each for ever. The digest of the bytes proves them to who has them.
"""

from alembic import op

from migrations.statements import run

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

GUARD = """
CREATE OR REPLACE FUNCTION registry.keep_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.status = 'rejected' AND OLD.decided_at < now() - interval '7 days' THEN
            RETURN OLD;
        END IF;
    ELSIF NEW.token = '' AND OLD.status = 'rejected'
        AND OLD.decided_at < now() - interval '1 hour' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a statement is evidence: it is dropped when it was rejected long ago';
END $$
"""

TRIGGER = """
CREATE TRIGGER keep_rejected BEFORE DELETE ON registry.registration
    FOR EACH ROW EXECUTE FUNCTION registry.keep_statement()
"""

FORMER = """
CREATE OR REPLACE FUNCTION registry.keep_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.token = '' AND OLD.status = 'rejected'
        AND OLD.decided_at < now() - interval '7 days' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a statement is evidence: it is dropped a week after its rejection';
END $$
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute(GUARD)
    op.execute(TRIGGER)
    run("""
        DROP INDEX registry.registration_rejected;
        CREATE INDEX registration_rejected ON registry.registration (decided_at)
            WHERE status = 'rejected';
        GRANT DELETE ON registry.registration TO registry_reporter;
    """)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run("""
        REVOKE DELETE ON registry.registration FROM registry_reporter;
        DROP INDEX registry.registration_rejected;
        CREATE INDEX registration_rejected ON registry.registration (decided_at)
            WHERE status = 'rejected' AND token <> '';
        DROP TRIGGER keep_rejected ON registry.registration;
    """)
    op.execute(FORMER)
    op.execute("RESET ROLE")
