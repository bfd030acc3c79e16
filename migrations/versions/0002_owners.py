"""What a site's owner asks for and is told: refreshes and notices."""

from alembic import op

from migrations.statements import run

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE registry.refresh (
    site_id bigint NOT NULL,
    issued_at timestamptz NOT NULL,
    paid_until timestamptz NOT NULL,
    PRIMARY KEY (site_id),
    FOREIGN KEY(site_id) REFERENCES registry.site (site_id) ON DELETE CASCADE
);

CREATE TABLE registry.notice (
    site_id bigint NOT NULL,
    notice_id bigint GENERATED ALWAYS AS IDENTITY,
    noted_at timestamptz NOT NULL,
    code text NOT NULL,
    detail text NOT NULL,
    fix text NOT NULL,
    url text,
    problem text,
    PRIMARY KEY (site_id, notice_id),
    FOREIGN KEY(site_id) REFERENCES registry.site (site_id) ON DELETE CASCADE
);
"""

RIGHTS = """
GRANT SELECT, INSERT, UPDATE ON registry.refresh TO registry_api;
GRANT SELECT ON registry.notice TO registry_api, registry_auditor;
GRANT SELECT ON registry.refresh TO registry_auditor;
GRANT SELECT, INSERT, DELETE ON registry.notice TO registry_crawler;
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(TABLES, RIGHTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    run("DROP TABLE registry.notice; DROP TABLE registry.refresh")
