"""Erased text leaves the files: pages that it stood in are noted, vacuumed and overwritten.

Rows stay in their own table up to a page, and a page keeps room for one emptied row, so
that some row of it can be written there. Archives that are made are noted, as they open
what may be erased later.
"""

from alembic import op

from migrations.statements import run

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

DISCLOSED = ("query", "location", "filters", "request", "scores", "terms", "answer")

TABLES = """
CREATE TABLE audit.erased_page (
    id bigint GENERATED ALWAYS AS IDENTITY,
    relation text NOT NULL,
    page bigint NOT NULL,
    PRIMARY KEY (id)
);
GRANT SELECT, INSERT, DELETE ON audit.erased_page TO registry_eraser;
CREATE TABLE audit.made_archive (
    id bigint GENERATED ALWAYS AS IDENTITY,
    made_at timestamptz NOT NULL,
    start_at timestamptz NOT NULL,
    end_at timestamptz NOT NULL,
    folder text NOT NULL,
    PRIMARY KEY (id)
);
GRANT SELECT, INSERT ON audit.made_archive TO registry_auditor;
ALTER TABLE audit.ranking SET (fillfactor = 98,
    autovacuum_vacuum_insert_scale_factor = 0.01);
ALTER TABLE audit.selection SET (autovacuum_vacuum_insert_scale_factor = 0.01);
"""

# PostgreSQL 17 has the right to vacuum; before it, autovacuum does it when it is due.
MAINTAIN = """
DO $$ BEGIN
    IF current_setting('server_version_num')::int >= 170000 THEN
        EXECUTE '{verb} MAINTAIN ON audit.ranking, audit.selection {to} registry_eraser';
    END IF;
END $$
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(TABLES)
    for column in DISCLOSED:
        op.execute(f"ALTER TABLE audit.ranking ALTER COLUMN {column} SET STORAGE MAIN")
    op.execute(MAINTAIN.format(verb="GRANT", to="TO"))
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute(MAINTAIN.format(verb="REVOKE", to="FROM"))
    for column in DISCLOSED:
        op.execute(
            f"ALTER TABLE audit.ranking ALTER COLUMN {column} SET STORAGE EXTENDED"
        )
    run(
        "DROP TABLE audit.erased_page; DROP TABLE audit.made_archive; ALTER TABLE audit.ranking RESET (fillfactor)"
    )
    op.execute("RESET ROLE")
