"""A ranking is stored as columns: what its record and its disclosures say, beside them.

The log's entries stay as they are. Each row is filled from its record and from what is
not erased of its disclosures.
"""

from typing import Any

import msgspec
import sqlalchemy
from alembic import op

from migrations.statements import run
from registry.records.disclosure import parse_disclosure
from registry.records.packing import unpack, unpack_disclosure
from registry.records.ranking_columns import (
    category_of,
    pack_sites,
    stored_query_key,
)
from registry.sites.identifier import parse_site_id

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

BLOCK = 5_000

ADD = """
ALTER TABLE audit.ranking RENAME COLUMN eligible TO sampled;
ALTER TABLE audit.ranking
    ADD COLUMN accepted_at timestamptz,
    ADD COLUMN operator text,
    ADD COLUMN eligible bigint,
    ADD COLUMN returned bytea,
    ADD COLUMN query_key bytea,
    ADD COLUMN category text,
    ADD COLUMN located boolean;
"""

READ = sqlalchemy.text("""
    SELECT k.record_id, logged.accepted_at, body, query, filters, location
    FROM audit.ranking AS k CROSS JOIN LATERAL (
        SELECT e.accepted_at, e.body FROM audit.entry AS e WHERE e.record_id = k.record_id
        UNION ALL
        SELECT p.accepted_at, p.body FROM audit.pending AS p
            WHERE p.record_id = k.record_id
    ) AS logged
    WHERE k.record_id > :after ORDER BY k.record_id LIMIT :most
""")

FILL = sqlalchemy.text("""
    UPDATE audit.ranking AS k SET accepted_at = v.accepted_at, operator = v.operator,
        eligible = v.eligible, returned = v.returned, query_key = v.query_key,
        category = v.category, located = v.located
    FROM unnest(CAST(:record_id AS uuid[]), CAST(:accepted_at AS timestamptz[]),
        CAST(:operator AS text[]), CAST(:eligible AS bigint[]),
        CAST(:returned AS bytea[]), CAST(:query_key AS bytea[]),
        CAST(:category AS text[]), CAST(:located AS boolean[]))
        AS v (record_id, accepted_at, operator, eligible, returned, query_key, category,
            located)
    WHERE k.record_id = v.record_id
""")

REQUIRE = """
ALTER TABLE audit.ranking
    ALTER COLUMN accepted_at SET NOT NULL,
    ALTER COLUMN operator SET NOT NULL,
    ALTER COLUMN eligible SET NOT NULL,
    ALTER COLUMN returned SET NOT NULL;
GRANT UPDATE (query_key, category, located) ON audit.ranking TO registry_eraser;
"""


class _Record(msgspec.Struct):
    op: str
    n: int
    order: tuple[str, ...]


_decode = msgspec.json.Decoder(_Record).decode


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute("SET statement_timeout = 0")
    run(ADD)
    _fill(op.get_bind())
    run(REQUIRE)
    op.execute("RESET statement_timeout")
    op.execute("RESET ROLE")


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run("""
        ALTER TABLE audit.ranking
            DROP COLUMN accepted_at, DROP COLUMN operator, DROP COLUMN eligible,
            DROP COLUMN returned, DROP COLUMN query_key, DROP COLUMN category,
            DROP COLUMN located;
        ALTER TABLE audit.ranking RENAME COLUMN sampled TO eligible
    """)
    op.execute("RESET ROLE")


def _fill(connection: sqlalchemy.Connection) -> None:
    after = "00000000-0000-0000-0000-000000000000"
    while rows := connection.execute(READ, {"after": after, "most": BLOCK}).all():
        columns = [_columns(row) for row in rows]
        connection.execute(
            FILL, {name: [row[name] for row in columns] for name in columns[0]}
        )
        after = rows[-1].record_id


def _columns(row: Any) -> dict[str, Any]:
    record = _decode(unpack(row.body))
    location = row.location
    return {
        "record_id": row.record_id,
        "accepted_at": row.accepted_at,
        "operator": record.op,
        "eligible": record.n,
        "returned": pack_sites([parse_site_id(site) for site in record.order]),
        "query_key": stored_query_key(_value("query", row.query)),
        "category": category_of(_value("filters", row.filters)),
        "located": None
        if location is None
        else _value("location", location) is not None,
    }


def _value(name: str, packed: bytes | None) -> object:
    if packed is None:
        return None
    return parse_disclosure(unpack_disclosure(name, packed)).value
