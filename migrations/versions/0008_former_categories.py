"""Categories of sites as they were, so that a report of a past window comes out again."""

from alembic import op

from migrations.statements import run

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TABLES = """
-- The category that a site had until an instant, and at that instant no longer.
CREATE TABLE disclosure.former_category (
    site_id bigint NOT NULL,
    until timestamptz NOT NULL,
    category text NOT NULL,
    PRIMARY KEY (site_id, until)
);
"""

# Of two changes at one instant the first tells what the category was before it.
KEEP = """
CREATE FUNCTION disclosure.keep_category() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO disclosure.former_category (site_id, until, category)
    VALUES (OLD.site_id, NEW.updated_at, OLD.category) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$
"""

RIGHTS = """
REVOKE ALL ON FUNCTION disclosure.keep_category() FROM PUBLIC;
CREATE TRIGGER keep_category AFTER UPDATE OF category ON registry.site
    FOR EACH ROW WHEN (OLD.category <> NEW.category)
    EXECUTE FUNCTION disclosure.keep_category();

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE
    ON disclosure.former_category
    FOR EACH STATEMENT EXECUTE FUNCTION disclosure.refuse_change();
ALTER TABLE disclosure.former_category ENABLE ALWAYS TRIGGER append_only;

GRANT INSERT ON disclosure.former_category TO registry_crawler;
GRANT SELECT ON disclosure.former_category TO registry_auditor;
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(TABLES)
    op.execute(KEEP)
    run(RIGHTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    run(
        "DROP TRIGGER keep_category ON registry.site;"
        "DROP TABLE disclosure.former_category;"
        "DROP FUNCTION disclosure.keep_category()"
    )
