"""Operators: who runs agents, by key, and how many rankings each has asked for."""

from alembic import op

from migrations.statements import run

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


TABLES = """
CREATE TABLE registry.operator (
    operator_id text NOT NULL,
    kid text,
    jwk jsonb,
    registered_at timestamptz NOT NULL,
    stated_at timestamptz NOT NULL,
    closed_at timestamptz,
    PRIMARY KEY (operator_id),
    UNIQUE (kid)
);

ALTER TABLE registry.operator ADD CONSTRAINT operator_open_has_a_key
    CHECK (num_nonnulls(kid, jwk) = CASE WHEN closed_at IS NULL THEN 2 ELSE 0 END);

-- What they say of themselves, and what their agents show instead of a signature. Both
-- are gone once the account is closed.
CREATE TABLE registry.operator_contact (
    operator_id text NOT NULL,
    name text NOT NULL,
    contact text NOT NULL,
    is_public boolean NOT NULL,
    PRIMARY KEY (operator_id),
    FOREIGN KEY(operator_id) REFERENCES registry.operator (operator_id)
);

CREATE TABLE registry.operator_api_key (
    operator_id text NOT NULL,
    digest bytea NOT NULL,
    made_at timestamptz NOT NULL,
    PRIMARY KEY (operator_id),
    UNIQUE (digest),
    FOREIGN KEY(operator_id) REFERENCES registry.operator (operator_id)
);

-- Of signed requests, so that none is taken twice.
CREATE TABLE registry.operator_nonce (
    operator_id text NOT NULL,
    nonce text NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (operator_id, nonce),
    FOREIGN KEY(operator_id) REFERENCES registry.operator (operator_id)
);

CREATE INDEX operator_nonce_expires ON registry.operator_nonce (operator_id, expires_at);

-- How many rankings each has asked for. It outlives the account: a count that began
-- again would give numbers twice.
CREATE TABLE audit.operator_count (
    operator_id text NOT NULL,
    rankings bigint DEFAULT 0 NOT NULL,
    PRIMARY KEY (operator_id),
    FOREIGN KEY(operator_id) REFERENCES registry.operator (operator_id)
);
"""

RIGHTS = """
GRANT SELECT, INSERT ON registry.operator, audit.operator_count TO registry_api;
GRANT UPDATE (kid, jwk, stated_at, closed_at) ON registry.operator TO registry_api;
GRANT UPDATE (rankings) ON audit.operator_count TO registry_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON registry.operator_contact,
    registry.operator_api_key TO registry_api;
GRANT SELECT, INSERT, DELETE ON registry.operator_nonce TO registry_api;
"""


def upgrade() -> None:
    op.execute("SET ROLE registry_owner")
    run(TABLES, RIGHTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    run(
        "DROP TABLE audit.operator_count; DROP TABLE registry.operator_nonce;"
        "DROP TABLE registry.operator_api_key; DROP TABLE registry.operator_contact;"
        "DROP TABLE registry.operator"
    )
