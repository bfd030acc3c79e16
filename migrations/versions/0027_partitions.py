"""Rankings and selections lie in partitions by month, entries in those of 256³ leaves.

Tables that hold something become the first partition as they are. Partitions are added and
dropped by functions of the owner, which one role each may call.
"""

from datetime import UTC, date

from alembic import op
from sqlalchemy import text

from migrations.statements import run

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

# An id is unique in each partition only, where an index of its own keeps it so.
PREPARE = """
DROP TRIGGER append_only ON audit.entry;
DROP TRIGGER append_only ON audit.selection;
ALTER TABLE audit.ranking RENAME TO whole_ranking;
ALTER TABLE audit.selection RENAME TO whole_selection;
ALTER TABLE audit.entry RENAME TO whole_entry;
CREATE TABLE audit.ranking (LIKE audit.whole_ranking INCLUDING ALL)
    PARTITION BY RANGE (record_id);
CREATE TABLE audit.selection (LIKE audit.whole_selection INCLUDING ALL EXCLUDING INDEXES,
    PRIMARY KEY (ranking_id)) PARTITION BY RANGE (ranking_id);
CREATE TABLE audit.entry (LIKE audit.whole_entry INCLUDING ALL EXCLUDING INDEXES,
    PRIMARY KEY (leaf_index)) PARTITION BY RANGE (leaf_index);
CREATE INDEX entries_accepted_at ON audit.entry USING brin (accepted_at);
CREATE INDEX entries_kind ON audit.entry (kind, accepted_at) WHERE kind <> 'ranking';
CREATE INDEX entries_by_leaf_hash ON audit.entry USING hash (leaf_hash);
CREATE TABLE audit.dropped_month (
    month date NOT NULL,
    dropped_at timestamptz NOT NULL,
    PRIMARY KEY (month)
);
ALTER TABLE audit.made_archive ADD COLUMN finished_at timestamptz;
GRANT UPDATE (finished_at) ON audit.made_archive TO registry_auditor;
GRANT SELECT ON audit.dropped_month
    TO registry_auditor, registry_reporter, registry_publisher;
"""

# Rights move to the whole, and nobody has any in a part.
MOVE_RIGHTS = """
DO $$
DECLARE
    granted record;
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['ranking', 'selection', 'entry'] LOOP
        FOR granted IN
            SELECT acl.privilege_type AS privilege, '' AS columns, r.rolname AS role
            FROM pg_class AS c, aclexplode(c.relacl) AS acl
            JOIN pg_roles AS r ON r.oid = acl.grantee
            WHERE c.oid = to_regclass('audit.{source}' || name)
            UNION ALL
            SELECT acl.privilege_type, format('(%I)', a.attname), r.rolname
            FROM pg_attribute AS a, aclexplode(a.attacl) AS acl
            JOIN pg_roles AS r ON r.oid = acl.grantee
            WHERE a.attrelid = to_regclass('audit.{source}' || name)
        LOOP
            CONTINUE WHEN granted.role = 'registry_owner';
            EXECUTE format('GRANT %s %s ON audit.%I TO %I', granted.privilege,
                granted.columns, '{target}' || name, granted.role);
            EXECUTE format('REVOKE %s %s ON audit.%I FROM %I', granted.privilege,
                granted.columns, '{source}' || name, granted.role);
        END LOOP;
    END LOOP;
END $$
"""

GUARD = """
CREATE TRIGGER append_only BEFORE {statement} OR TRUNCATE ON audit.{table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();
ALTER TABLE audit.{table} ENABLE ALWAYS TRIGGER append_only
"""
# The trigger for a statement is met by who changes the whole, this one in the parts.
ROW_GUARD = """
CREATE TRIGGER append_only_row BEFORE {statement} ON audit.{table}
    FOR EACH ROW EXECUTE FUNCTION audit.refuse_change();
ALTER TABLE audit.{table} ENABLE ALWAYS TRIGGER append_only_row
"""
GUARDED = {"entry": "UPDATE OR DELETE", "selection": "DELETE"}

# Ids of records begin with 48 bits of milliseconds.
MONTH_START = """
CREATE FUNCTION audit.month_start(month date) RETURNS uuid LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog AS $$
    SELECT (lpad(to_hex(CAST(extract(epoch FROM CAST(
        date_trunc('month', CAST(month AS timestamp)) AS timestamp)) * 1000 AS bigint)),
        12, '0') || repeat('0', 20))::uuid
$$
"""

# Storage parameters are no part of the whole.
CREATE_PART = """
CREATE FUNCTION audit.create_part(parent text, part text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog AS $$
BEGIN
    EXECUTE format('CREATE TABLE audit.%I (LIKE audit.%I INCLUDING DEFAULTS '
        'INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION)', part, parent);
    IF parent <> 'ranking' THEN
        EXECUTE format('ALTER TABLE audit.%I ADD UNIQUE (record_id)', part);
    END IF;
    IF parent <> 'entry' THEN
        PERFORM audit.keep_swept(parent, part);
    END IF;
END $$
"""

# What is erased lies in the file until vacuum has passed, and it is to pass soon; a page
# keeps room for one emptied row. PostgreSQL 17 has the right to vacuum.
KEEP_SWEPT = """
CREATE FUNCTION audit.keep_swept(parent text, part text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog AS $$
BEGIN
    EXECUTE format('ALTER TABLE audit.%I SET (autovacuum_vacuum_scale_factor = 0.01, '
        'autovacuum_vacuum_cost_delay = 0, '
        'autovacuum_vacuum_insert_scale_factor = 0.01)', part);
    IF parent = 'ranking' THEN
        EXECUTE format('ALTER TABLE audit.%I SET (fillfactor = 98)', part);
    END IF;
    IF current_setting('server_version_num')::int >= 170000 THEN
        EXECUTE format('GRANT MAINTAIN ON audit.%I TO registry_eraser', part);
    END IF;
END $$
"""

# What came before its month was there lies in the default partition, and moves.
ADD_MONTH = """
CREATE FUNCTION audit.add_month(month date) RETURNS boolean LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog SET lock_timeout = '2s' AS $$
DECLARE
    first date := date_trunc('month', month);
    after date := date_trunc('month', month) + interval '1 month';
    parent text;
    part text;
    has_rows boolean;
BEGIN
    IF to_regclass('audit.ranking' || to_char(first, '_YYYY_MM')) IS NOT NULL THEN
        RETURN false;
    END IF;
    FOREACH parent IN ARRAY ARRAY['ranking', 'selection'] LOOP
        part := parent || to_char(first, '_YYYY_MM');
        PERFORM audit.create_part(parent, part);
        EXECUTE format('LOCK TABLE audit.%I', parent || '_other');
        EXECUTE format('SELECT EXISTS (SELECT FROM audit.%I)', parent || '_other')
            INTO has_rows;
        IF has_rows THEN
            EXECUTE format('ALTER TABLE audit.%I DETACH PARTITION audit.%I',
                parent, parent || '_other');
            EXECUTE format('ALTER TABLE audit.%I RENAME TO moving', parent || '_other');
            PERFORM audit.create_part(parent, parent || '_other');
            EXECUTE format('ALTER TABLE audit.%I ATTACH PARTITION audit.%I DEFAULT',
                parent, parent || '_other');
        END IF;
        EXECUTE format('ALTER TABLE audit.%I ATTACH PARTITION audit.%I '
            'FOR VALUES FROM (%L) TO (%L)', parent, part,
            audit.month_start(first), audit.month_start(after));
        IF has_rows THEN
            EXECUTE format('INSERT INTO audit.%I SELECT * FROM audit.moving', parent);
            DROP TABLE audit.moving;
        END IF;
    END LOOP;
    RETURN true;
EXCEPTION WHEN invalid_object_definition THEN
    RETURN false;  -- it is part of the one that was taken up
END $$
"""

# Only of a month that is over, reported, archived from its first ranking on, and erased.
DROP_MONTH = """
CREATE FUNCTION audit.drop_month(month date) RETURNS boolean LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog SET lock_timeout = '2s' AS $$
DECLARE
    first date := date_trunc('month', month);
    from_at timestamptz := first AT TIME ZONE 'UTC';
    to_at timestamptz := (first + interval '1 month') AT TIME ZONE 'UTC';
    suffix text := to_char(first, '_YYYY_MM');
    least_id uuid;
    is_open boolean;
BEGIN
    IF to_regclass('audit.ranking' || suffix) IS NULL OR now() < to_at THEN
        RETURN false;
    END IF;
    EXECUTE format('SELECT record_id FROM audit.%I ORDER BY record_id LIMIT 1',
        'ranking' || suffix) INTO least_id;
    from_at := least(from_at, to_timestamp(('x' || left(replace(
        CAST(least_id AS text), '-', ''), 12))::bit(48)::bigint / 1000));
    IF NOT coalesce((SELECT range_agg(tstzrange(a.start_at, a.end_at))
        @> tstzrange(from_at, to_at) FROM audit.made_archive AS a
        WHERE finished_at IS NOT NULL), false)
        OR NOT EXISTS (SELECT FROM audit.kept_report AS r WHERE r.month = first)
    THEN
        RETURN false;
    END IF;
    EXECUTE format('SELECT EXISTS (SELECT FROM audit.%I WHERE num_nonnulls(%s) > 0)'
        ' OR EXISTS (SELECT FROM audit.%I WHERE choice IS NOT NULL)',
        'ranking' || suffix, {erased}, 'selection' || suffix) INTO is_open;
    IF is_open THEN
        RETURN false;
    END IF;
    EXECUTE format('DROP TABLE audit.%I', 'ranking' || suffix);
    EXECUTE format('DROP TABLE audit.%I', 'selection' || suffix);
    INSERT INTO audit.dropped_month VALUES (first, now());
    RETURN true;
END $$
"""
ERASED = (
    *("query", "location", "filters", "request", "scores", "terms", "answer"),
    *("query_key", "category", "located"),
)

ENTRIES_END = """
CREATE FUNCTION audit.entries_end() RETURNS bigint LANGUAGE sql
SET search_path = pg_catalog AS $$
    SELECT coalesce(max(CAST(substring(pg_get_expr(c.relpartbound, c.oid)
        FROM 'TO [(].?([0-9]+)') AS bigint)), 0)
    FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = to_regclass('audit.entry')
$$
"""

ADD_ENTRIES = """
CREATE FUNCTION audit.add_entries(after bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog
SET lock_timeout = '2s' AS $$
DECLARE
    first bigint := audit.entries_end();
BEGIN
    IF after <= first THEN
        RETURN false;
    END IF;
    PERFORM audit.create_part('entry', 'entry_' || first);
    EXECUTE format('ALTER TABLE audit.entry ATTACH PARTITION audit.%I '
        'FOR VALUES FROM (%L) TO (%L)', 'entry_' || first, first, after);
    RETURN true;
END $$
"""

# What others join to stays: all but rankings and selections. Who calls it vouches for the
# files that have the rest; here is held that no month of these entries is there any more.
THIN_ENTRIES = """
CREATE FUNCTION audit.thin_entries(first bigint) RETURNS boolean LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog SET lock_timeout = '2s' AS $$
DECLARE
    part text := 'entry_' || first;
    bounds text;
    after_id uuid;
BEGIN
    SELECT pg_get_expr(relpartbound, oid) INTO bounds FROM pg_class
        WHERE oid = to_regclass('audit.' || part);
    IF bounds IS NULL THEN
        RETURN false;
    END IF;
    EXECUTE format('SELECT audit.month_start(CAST(accepted_at + interval ''1 month'' '
        'AS date)) FROM audit.%I ORDER BY leaf_index DESC LIMIT 1', part) INTO after_id;
    IF after_id IS NULL
        OR EXISTS (SELECT FROM audit.ranking WHERE record_id < after_id)
        OR EXISTS (SELECT FROM audit.selection WHERE ranking_id < after_id)
    THEN
        RETURN false;
    END IF;
    PERFORM audit.create_part('entry', 'staying');
    EXECUTE format('INSERT INTO audit.staying SELECT * FROM audit.%I '
        'WHERE kind NOT IN (''ranking'', ''selection'')', part);
    EXECUTE format('DROP TABLE audit.%I', part);
    EXECUTE format('ALTER TABLE audit.staying RENAME TO %I', part);
    EXECUTE format('ALTER TABLE audit.entry ATTACH PARTITION audit.%I %s', part, bounds);
    RETURN true;
END $$
"""

TAKE_UP = """
ALTER TABLE audit.whole_{parent} RENAME TO {part};
ALTER TABLE audit.{parent} ATTACH PARTITION audit.{part}
    FOR VALUES FROM ({first}) TO ({after})
"""
OTHER = """
SELECT audit.create_part('{parent}', '{parent}_other');
ALTER TABLE audit.{parent} ATTACH PARTITION audit.{parent}_other DEFAULT
"""
SWEPT = """
SELECT audit.keep_swept('{parent}', '{part}');
UPDATE audit.erased_page SET relation = 'audit.{part}' WHERE relation = '{parent}'
"""
FUNCTIONS = (
    *(MONTH_START, KEEP_SWEPT, CREATE_PART, ADD_MONTH),
    DROP_MONTH.format(erased=repr(", ".join(ERASED))),
    *(ENTRIES_END, ADD_ENTRIES, THIN_ENTRIES),
)
RIGHTS = """
REVOKE ALL ON FUNCTION audit.month_start(date), audit.create_part(text, text),
    audit.keep_swept(text, text), audit.add_month(date), audit.drop_month(date),
    audit.entries_end(), audit.add_entries(bigint), audit.thin_entries(bigint)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit.add_month(date), audit.drop_month(date),
    audit.entries_end(), audit.add_entries(bigint), audit.thin_entries(bigint)
    TO registry_publisher;
"""

ENTRIES = 256**3
"""Of a part: one hash of level 3 covers it."""
MONTHS = ("ranking", "selection")
MONTHS_AHEAD = 3

LAST = """
SELECT (SELECT max(accepted_at) FROM audit.whole_ranking) AS at, now() AS now,
    (SELECT coalesce(max(leaf_index), 0) FROM audit.whole_entry) AS leaf
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute("SET statement_timeout = 0")
    run(PREPARE)
    op.execute(MOVE_RIGHTS.format(source="whole_", target=""))
    for function in FUNCTIONS:
        op.execute(function)
    run(
        RIGHTS,
        *(
            guard.format(table=name, statement=GUARDED[name])
            for name in GUARDED
            for guard in (GUARD, ROW_GUARD)
        ),
    )
    for parent in MONTHS:
        run(OTHER.format(parent=parent))
    _take_up()
    op.execute("RESET statement_timeout")
    op.execute("RESET ROLE")


def _take_up() -> None:
    """Make a table that holds something the first part, of all that is older too."""
    last = op.get_bind().execute(text(LAST)).one()
    month = max(last.at or last.now, last.now).astimezone(UTC).date().replace(day=1)
    after = (last.leaf // ENTRIES + 1) * ENTRIES
    run(TAKE_UP.format(parent="entry", part="entry_0", first=0, after=after))
    if last.at is None:
        run(*(f"DROP TABLE audit.whole_{parent}" for parent in MONTHS))
    else:
        for parent in MONTHS:
            _take_up_months(parent, month)
    for ahead in range(MONTHS_AHEAD):
        at = f"CAST(DATE '{month}' + interval '{ahead} months' AS date)"
        op.execute(f"SELECT audit.add_month({at})")


def _take_up_months(parent: str, month: date) -> None:
    part = f"{parent}_{month:%Y_%m}"
    start = "SELECT audit.month_start(CAST(:month AS date) + 31)"  # of the one after
    after = op.get_bind().execute(text(start), {"month": month}).scalar_one()
    parts = {"parent": parent, "part": part}
    run(TAKE_UP.format(**parts, first="MINVALUE", after=f"'{after}'"))
    run(SWEPT.format(**parts))


FORMER = """
CREATE TABLE audit.whole_{table} (LIKE audit.{table} INCLUDING ALL);
INSERT INTO audit.whole_{table} SELECT * FROM audit.{table}
"""
PUT_BACK = """
DROP TABLE audit.{table};
ALTER TABLE audit.whole_{table} RENAME TO {table}
"""
KEYS = """
ALTER TABLE audit.entry ADD CONSTRAINT entry_record_id_key UNIQUE (record_id);
ALTER TABLE audit.selection ADD CONSTRAINT selection_record_id_key UNIQUE (record_id);
DROP TABLE audit.dropped_month;
ALTER TABLE audit.made_archive DROP COLUMN finished_at;
ALTER INDEX audit.whole_entry_accepted_at_idx RENAME TO entry_accepted_at;
ALTER INDEX audit.whole_entry_kind_accepted_at_idx RENAME TO entry_kind;
ALTER INDEX audit.whole_entry_leaf_hash_idx RENAME TO entry_by_leaf_hash
"""
UNNAMED = """
DROP FUNCTION audit.add_month, audit.drop_month, audit.add_entries,
    audit.thin_entries, audit.entries_end, audit.create_part, audit.keep_swept,
    audit.month_start
"""


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute("SET statement_timeout = 0")
    tables = (*MONTHS, "entry")
    run(*(FORMER.format(table=table) for table in tables))
    op.execute(MOVE_RIGHTS.format(source="", target="whole_"))
    run(*(PUT_BACK.format(table=table) for table in tables), KEYS, UNNAMED)
    run(*(GUARD.format(table=name, statement=GUARDED[name]) for name in GUARDED))
    op.execute(
        "UPDATE audit.erased_page SET relation = split_part("
        "split_part(relation, '.', 2), '_', 1)"
    )
    op.execute("RESET ROLE")
