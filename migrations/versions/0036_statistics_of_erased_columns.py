"""The server keeps no statistics of columns that an erasure empties.

ANALYZE copies up to a hundred values of a column into pg_statistic, where they stayed
after the rows were erased, and in its pages after the next ANALYZE.
"""

from alembic import op

from migrations.statements import run

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

EMPTIED = {
    "ranking": (
        *("query", "location", "filters", "request", "scores", "terms", "answer"),
        *("query_key", "category", "located", "returned", "sampled", "eligible"),
    ),
    "selection": ("site_id", "choice"),
}

CREATE_PART = """
CREATE OR REPLACE FUNCTION audit.create_part(parent text, part text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    EXECUTE format('CREATE TABLE audit.%I (LIKE audit.%I INCLUDING DEFAULTS '
        'INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION)', part, parent);{also}
    IF parent <> 'ranking' THEN
        EXECUTE format('ALTER TABLE audit.%I ADD UNIQUE (record_id)', part);
    END IF;
    IF parent <> 'entry' THEN
        PERFORM audit.keep_swept(parent, part);
    END IF;
END $$
"""

# What the whole keeps no statistics of, its parts don't either: LIKE does not copy that.
# Before PostgreSQL 17 a system column's target is 0 too, and can't be set.
WITHOUT_STATISTICS = """
    DECLARE
        emptied name;
    BEGIN
        FOR emptied IN SELECT attname FROM pg_attribute
            WHERE attrelid = to_regclass('audit.' || parent)
                AND attstattarget = 0 AND attnum > 0
        LOOP
            EXECUTE format('ALTER TABLE audit.%I ALTER %I SET STATISTICS 0', part, emptied);
        END LOOP;
    END;"""

# To give a column the type that it has drops its statistics, and writes nothing anew.
FORGET = """
DO $$
DECLARE
    emptied record;
BEGIN
    FOR emptied IN SELECT attname, format_type(atttypid, atttypmod) AS type
        FROM pg_attribute
        WHERE attrelid = to_regclass('audit.{table}')
            AND attstattarget = 0 AND attnum > 0
    LOOP
        EXECUTE format('ALTER TABLE audit.{table} ALTER %I TYPE %s',
            emptied.attname, emptied.type);
    END LOOP;
END $$
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute(CREATE_PART.format(also=WITHOUT_STATISTICS))
    for table in EMPTIED:
        set_statistics(table, 0)
        op.execute(FORGET.format(table=table))
    op.execute("RESET ROLE")
    # Who may not (it is the database owner's right) is warned by the server, and goes on.
    with op.get_context().autocommit_block():
        op.execute("VACUUM (FULL) pg_catalog.pg_statistic")


def set_statistics(table: str, target: int) -> None:
    run(
        *(
            f"ALTER TABLE audit.{table} ALTER {column} SET STATISTICS {target}"
            for column in EMPTIED[table]
        )
    )


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute(CREATE_PART.format(also=""))
    for table in EMPTIED:
        set_statistics(table, -1)
    op.execute("RESET ROLE")
