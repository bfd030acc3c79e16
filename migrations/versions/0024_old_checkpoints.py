"""Checkpoints and cosignatures of more than a week ago may be thinned out."""

from alembic import op

from migrations.statements import run

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

YOUNG = """
CREATE FUNCTION audit.refuse_young() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (to_jsonb(OLD) ->> TG_ARGV[0])::timestamptz > now() - interval '7 days' THEN
        RAISE EXCEPTION 'audit.% is append-only for a week', TG_TABLE_NAME
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN OLD;
END $$
"""

GUARD = """
DROP TRIGGER append_only ON audit.{table};
CREATE TRIGGER append_only BEFORE UPDATE OR TRUNCATE ON audit.{table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();
ALTER TABLE audit.{table} ENABLE ALWAYS TRIGGER append_only;
CREATE TRIGGER append_only_for_a_week BEFORE DELETE ON audit.{table}
    FOR EACH ROW EXECUTE FUNCTION audit.refuse_young('{at}');
ALTER TABLE audit.{table} ENABLE ALWAYS TRIGGER append_only_for_a_week;
GRANT SELECT, DELETE ON audit.{table} TO registry_publisher;
"""

FORMER = """
DROP TRIGGER append_only_for_a_week ON audit.{table};
DROP TRIGGER append_only ON audit.{table};
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit.{table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();
ALTER TABLE audit.{table} ENABLE ALWAYS TRIGGER append_only;
REVOKE DELETE ON audit.{table} FROM registry_publisher;
"""

AT = {"checkpoint": "published_at", "cosignature": "cosigned_at"}


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute(YOUNG)
    op.execute("REVOKE ALL ON FUNCTION audit.refuse_young() FROM PUBLIC")
    for table, at in AT.items():
        run(GUARD.format(table=table, at=at))
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    for table in AT:
        run(FORMER.format(table=table))
    op.execute("DROP FUNCTION audit.refuse_young()")
    op.execute("RESET ROLE")
