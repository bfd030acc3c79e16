"""Shares of the slots for registrations, and statements that are dropped in time.

Whose statement it is, and from where it came, decides who is served next; where it came
from is forgotten with the decision. The bytes of a statement are evidence: no role may
change them, and those of a rejected one are dropped after a week, by the reporter.
"""

from alembic import op

from migrations.statements import run

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

STATEMENTS = """
ALTER TABLE registry.registration ADD COLUMN registrable_domain text;
ALTER TABLE registry.registration ADD COLUMN network text;
CREATE INDEX registration_nonce ON registry.registration (nonce);
CREATE INDEX registration_rejected ON registry.registration (decided_at)
    WHERE status = 'rejected' AND token <> '';
REVOKE UPDATE ON registry.registration FROM registry_crawler;
GRANT UPDATE (status, problems, decided_at, due_at, leased_until, fence, network)
    ON registry.registration TO registry_crawler;
GRANT UPDATE (status, problems, decided_at, network)
    ON registry.registration TO registry_api;
GRANT USAGE ON SCHEMA registry TO registry_reporter;
GRANT SELECT (status, decided_at, token), UPDATE (token)
    ON registry.registration TO registry_reporter;
"""

GUARD = """
CREATE FUNCTION registry.keep_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.token = '' AND OLD.status = 'rejected'
        AND OLD.decided_at < now() - interval '7 days' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a statement is evidence: it is dropped a week after its rejection';
END $$
"""

TRIGGER = """
CREATE TRIGGER keep_statement BEFORE UPDATE OF token ON registry.registration
    FOR EACH ROW EXECUTE FUNCTION registry.keep_statement()
"""

REMOVED = """
DROP TRIGGER keep_statement ON registry.registration;
DROP FUNCTION registry.keep_statement();
REVOKE SELECT (status, decided_at, token), UPDATE (token)
    ON registry.registration FROM registry_reporter;
REVOKE USAGE ON SCHEMA registry FROM registry_reporter;
REVOKE UPDATE (status, problems, decided_at, network)
    ON registry.registration FROM registry_api;
REVOKE UPDATE (status, problems, decided_at, due_at, leased_until, fence, network)
    ON registry.registration FROM registry_crawler;
GRANT UPDATE ON registry.registration TO registry_crawler;
DROP INDEX registry.registration_rejected;
DROP INDEX registry.registration_nonce;
ALTER TABLE registry.registration DROP COLUMN network;
ALTER TABLE registry.registration DROP COLUMN registrable_domain;
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(STATEMENTS)
    op.execute(GUARD)
    op.execute(TRIGGER)
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(REMOVED)
    op.execute("RESET ROLE")
