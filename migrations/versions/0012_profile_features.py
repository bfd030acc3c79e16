"""A profile is stored with its features, of which an index is built as they are.

Those of the profiles that are stored already are computed here, so that no site leaves
the answers. A profile of a policy of another release is in no answer until a crawler has
made it anew, as before; it has none.
"""

import sqlalchemy as sa
from alembic import op

from migrations.statements import run
from registry.index.columns.features import encode_features
from registry.index.columns.rows import rows_of
from registry.ranking.policy import POLICIES, Policy
from registry.ranking.profile import parse_profile

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

AT_ONCE = 2_000
STATEMENTS = """
ALTER TABLE registry.site_profile ADD COLUMN features bytea NOT NULL DEFAULT '';
-- Features do not shrink, and a profile is to be read without being unpacked.
ALTER TABLE registry.site_profile ALTER COLUMN features SET STORAGE EXTERNAL;
ALTER TABLE registry.site_profile SET (toast_tuple_target = 8160);
CREATE OR REPLACE VIEW registry.ranking_profile WITH (security_invoker = true) AS
    SELECT site_id, listed, profile, change_xid, features FROM registry.site_profile;
GRANT SELECT (features) ON registry.site_profile TO registry_ranker;
"""
BACK = """
DROP VIEW registry.ranking_profile;
CREATE VIEW registry.ranking_profile WITH (security_invoker = true) AS
    SELECT site_id, listed, profile, change_xid FROM registry.site_profile;
GRANT SELECT ON registry.ranking_profile TO registry_ranker;
ALTER TABLE registry.site_profile RESET (toast_tuple_target);
ALTER TABLE registry.site_profile DROP COLUMN features;
"""
NEXT = sa.text("""
    SELECT site_id, profile FROM registry.site_profile
    WHERE policy = :policy AND site_id > :after ORDER BY site_id LIMIT :most
""")
FILL = sa.text("""
    UPDATE registry.site_profile SET features = made.features
    FROM unnest(CAST(:site_ids AS bigint[]), CAST(:features AS bytea[]))
        AS made (site_id, features)
    WHERE site_profile.site_id = made.site_id
""")


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    op.execute("SET statement_timeout = 0")
    run(STATEMENTS)
    for policy in POLICIES.values():
        _fill(policy)
    op.execute("ALTER TABLE registry.site_profile ALTER COLUMN features DROP DEFAULT")
    op.execute("RESET statement_timeout")
    op.execute("RESET ROLE")


def _fill(policy: Policy) -> None:
    connection, after = op.get_bind(), -(2**63)
    asked = {"policy": policy.digest, "most": AT_ONCE}
    while rows := connection.execute(NEXT, asked | {"after": after}).all():
        profiles = [parse_profile(row.profile) for row in rows]
        features = encode_features(rows_of(profiles, policy), policy)
        site_ids = [row.site_id for row in rows]
        connection.execute(FILL, {"site_ids": site_ids, "features": features})
        after = site_ids[-1]


def downgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(BACK)
    op.execute("RESET ROLE")
