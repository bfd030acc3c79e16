"""The spine: schemas, roles, tables, the append-only guard and each role's rights."""

from alembic import op

from migrations.statements import run

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

LOGIN_ROLES = (
    "registry_api",
    "registry_ranker",
    "registry_crawler",
    "registry_publisher",
    "registry_auditor",
)

# Roles belong to the whole cluster: another database of it may have made them already,
# even at this moment.
CREATE_ROLE = """
DO $$ BEGIN
    CREATE ROLE {name} {option};
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""

# The owner can't log in; whoever migrates acts as it.
OWNERSHIP = """
DO $$ BEGIN
    EXECUTE format('GRANT CREATE ON DATABASE %I TO registry_owner', current_database());
    EXECUTE format('GRANT registry_owner TO %I', current_user);
END $$
"""

SCHEMAS = """
CREATE SCHEMA registry;
CREATE SCHEMA audit;
CREATE SCHEMA disclosure;
"""

REGISTRY = """
CREATE TABLE registry.challenge (
    host text NOT NULL,
    nonce text NOT NULL,
    issued_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    PRIMARY KEY (host, nonce)
);

CREATE TABLE registry.registration (
    registration_id text NOT NULL,
    host text NOT NULL,
    act text NOT NULL,
    status text NOT NULL,
    kid text NOT NULL,
    seq bigint NOT NULL,
    nonce text NOT NULL,
    token bytea NOT NULL,
    token_digest bytea NOT NULL,
    problems jsonb NOT NULL,
    submitted_at timestamptz NOT NULL,
    decided_at timestamptz,
    due_at timestamptz,
    leased_until timestamptz,
    fence bigint DEFAULT 0 NOT NULL,
    PRIMARY KEY (registration_id)
);

CREATE TABLE registry.site (
    site_id BIGSERIAL NOT NULL,
    host text NOT NULL,
    registrable_domain text NOT NULL,
    status text NOT NULL,
    seq bigint NOT NULL,
    listing jsonb NOT NULL,
    declarations jsonb NOT NULL,
    category text NOT NULL,
    city text,
    country text,
    conformance text NOT NULL,
    semantic_hash bytea,
    registered_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    proved_at timestamptz NOT NULL,
    proof_source text NOT NULL,
    failed_proofs smallint DEFAULT 0 NOT NULL,
    unlisted_for text,
    change_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    PRIMARY KEY (site_id),
    UNIQUE (host)
);

CREATE TABLE registry.document (
    site_id bigint NOT NULL,
    url text NOT NULL,
    version integer NOT NULL,
    format text NOT NULL,
    dialect text NOT NULL,
    conformance text NOT NULL,
    provenance jsonb NOT NULL,
    signature jsonb NOT NULL,
    deviations jsonb NOT NULL,
    semantic_hash bytea NOT NULL,
    body bytea NOT NULL,
    content_type text NOT NULL,
    etag text,
    last_modified text,
    first_fetched_at timestamptz NOT NULL,
    fetched_at timestamptz NOT NULL,
    retired_at timestamptz,
    PRIMARY KEY (site_id, url, version),
    FOREIGN KEY(site_id) REFERENCES registry.site (site_id) ON DELETE CASCADE
);

CREATE TABLE registry.probe (
    site_id bigint NOT NULL,
    observed_at timestamptz NOT NULL,
    outcome text NOT NULL,
    elapsed_ms integer NOT NULL,
    PRIMARY KEY (site_id, observed_at),
    FOREIGN KEY(site_id) REFERENCES registry.site (site_id) ON DELETE CASCADE
);

CREATE TABLE registry.site_key (
    site_id bigint NOT NULL,
    source text NOT NULL,
    kid text NOT NULL,
    jwk jsonb NOT NULL,
    first_seen_at timestamptz NOT NULL,
    standing text NOT NULL,
    last_seen_at timestamptz NOT NULL,
    PRIMARY KEY (site_id, source, kid),
    FOREIGN KEY(site_id) REFERENCES registry.site (site_id) ON DELETE CASCADE
);

CREATE TABLE registry.site_profile (
    site_id bigint NOT NULL,
    listed boolean NOT NULL,
    profile bytea NOT NULL,
    policy text NOT NULL,
    change_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    PRIMARY KEY (site_id),
    FOREIGN KEY(site_id) REFERENCES registry.site (site_id) ON DELETE CASCADE
);

CREATE TABLE registry.task (
    site_id bigint NOT NULL,
    kind text NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    outcome jsonb DEFAULT '{}' NOT NULL,
    due_at timestamptz,
    leased_until timestamptz,
    fence bigint DEFAULT 0 NOT NULL,
    visits double precision DEFAULT 0 NOT NULL,
    unchanged double precision DEFAULT 0 NOT NULL,
    mean_gap_days double precision DEFAULT 0 NOT NULL,
    learnt_at timestamptz,
    hinted_at timestamptz,
    not_before timestamptz,
    standing jsonb DEFAULT '{}' NOT NULL,
    PRIMARY KEY (site_id, kind),
    FOREIGN KEY(site_id) REFERENCES registry.site (site_id) ON DELETE CASCADE
);

ALTER TABLE registry.site ADD CONSTRAINT site_status_known
    CHECK (status IN ('active', 'unverified', 'withdrawn'));
ALTER TABLE registry.site ADD CONSTRAINT site_unlisted_for_known
    CHECK (unlisted_for IN ('documents_missing', 'documents_expired'));
ALTER TABLE registry.registration ADD CONSTRAINT registration_status_known
    CHECK (status IN ('verifying', 'active', 'rejected', 'withdrawn'));
ALTER TABLE registry.registration ADD CONSTRAINT registration_act_known
    CHECK (act IN ('register', 'update', 'rotate', 'revoke', 'withdraw'));
ALTER TABLE registry.site_key ADD CONSTRAINT site_key_standing_known
    CHECK (standing IN ('cooling', 'recovering', 'trusted', 'absent', 'revoked'));
ALTER TABLE registry.task ADD CONSTRAINT task_kind_known
    CHECK (kind IN ('crawl', 'probe', 'prove'));

-- An owner's hint brings a crawl forward and nothing else: who could time the probes
-- could be at his best for them.
ALTER TABLE registry.task ADD CONSTRAINT task_hint_is_for_the_crawl
    CHECK (hinted_at IS NULL OR kind = 'crawl');

CREATE INDEX site_change_xid ON registry.site (change_xid);
CREATE INDEX site_profile_change_xid ON registry.site_profile (change_xid);
CREATE UNIQUE INDEX challenge_nonce ON registry.challenge (nonce);
CREATE INDEX challenge_expires_at ON registry.challenge (expires_at);
CREATE INDEX registration_host ON registry.registration (host, submitted_at DESC);
CREATE INDEX registration_due ON registry.registration (due_at NULLS FIRST)
    WHERE status = 'verifying';

-- Since when a task may be leased, the never fetched first. One range of one index, so
-- that a claim reads the rows it gets and no others, neither those leased nor those not
-- yet due. That no lease is a heap-only update is the price of it.
CREATE INDEX task_ready ON registry.task
    ((coalesce(greatest(least(due_at, hinted_at), leased_until), '-infinity')));

CREATE UNIQUE INDEX document_current ON registry.document (site_id, url)
    WHERE retired_at IS NULL;

-- All that the ranker may read: no name, host, label, tier or commission.
CREATE VIEW registry.ranking_profile WITH (security_invoker = true) AS
    SELECT site_id, listed, profile, change_xid FROM registry.site_profile;
"""

DISCLOSURE = """
CREATE TABLE disclosure.site_label (
    site_id BIGSERIAL NOT NULL,
    size text NOT NULL,
    independence text NOT NULL,
    commission_percent double precision,
    source text NOT NULL,
    declared_at timestamptz NOT NULL,
    PRIMARY KEY (site_id)
);
"""

AUDIT = """
CREATE TABLE audit.checkpoint (
    size bigint NOT NULL,
    root bytea NOT NULL,
    note text NOT NULL,
    published_at timestamptz NOT NULL,
    PRIMARY KEY (size)
);

CREATE TABLE audit.day_seed (
    day date NOT NULL,
    secret bytea NOT NULL,
    commitment_id uuid NOT NULL,
    reveal_id uuid,
    PRIMARY KEY (day)
);

CREATE TABLE audit.entry (
    leaf_index bigint NOT NULL,
    record_id uuid NOT NULL,
    kind text NOT NULL,
    body bytea NOT NULL,
    leaf_hash bytea NOT NULL,
    accepted_at timestamptz NOT NULL,
    PRIMARY KEY (leaf_index),
    UNIQUE (record_id)
);

CREATE TABLE audit.pending (
    position bigint GENERATED ALWAYS AS IDENTITY,
    record_id uuid NOT NULL,
    kind text NOT NULL,
    body bytea NOT NULL,
    leaf_hash bytea NOT NULL,
    accepted_at timestamptz NOT NULL,
    PRIMARY KEY (position),
    UNIQUE (record_id)
);

CREATE TABLE audit.policy (
    digest text NOT NULL,
    body bytea NOT NULL,
    record_id uuid NOT NULL,
    effective_at timestamptz NOT NULL,
    PRIMARY KEY (digest)
);

-- Beside the record of a ranking: one column for each disclosure, null once it is
-- erased, and the sample of the eligible.
CREATE TABLE audit.ranking (
    record_id uuid NOT NULL,
    query bytea,
    location bytea,
    filters bytea,
    request bytea,
    scores bytea,
    terms bytea,
    eligible bytea NOT NULL,
    PRIMARY KEY (record_id)
);

CREATE TABLE audit.selection (
    ranking_id uuid NOT NULL,
    record_id uuid NOT NULL,
    site_id bigint,
    accepted_at timestamptz NOT NULL,
    PRIMARY KEY (ranking_id),
    CONSTRAINT selection_record_id_key UNIQUE (record_id)
);

CREATE TABLE audit.tile_hash (
    level smallint NOT NULL,
    position bigint NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (level, position)
);

-- Entries lie in the order of their acceptance, so a window of time is a range of blocks.
CREATE INDEX entry_accepted_at ON audit.entry USING brin (accepted_at);
CREATE INDEX entry_kind ON audit.entry (kind, accepted_at) WHERE kind <> 'ranking';

-- Every record passes through, so what is dead is swept up often and without a pause.
ALTER TABLE audit.pending SET (autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
"""

APPEND_ONLY = """
CREATE FUNCTION audit.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit.% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$
"""

APPEND_ONLY_TABLES = ("entry", "tile_hash", "checkpoint", "policy", "selection")

GUARD = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit.{table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();
ALTER TABLE audit.{table} ENABLE ALWAYS TRIGGER append_only;
"""

RIGHTS = """
REVOKE ALL ON SCHEMA registry, audit, disclosure FROM PUBLIC;
REVOKE ALL ON FUNCTION audit.refuse_change() FROM PUBLIC;

GRANT USAGE ON SCHEMA registry, audit TO registry_api, registry_crawler,
    registry_auditor;
GRANT USAGE ON SCHEMA registry TO registry_ranker;
GRANT USAGE ON SCHEMA audit TO registry_publisher;
GRANT USAGE ON SCHEMA disclosure TO registry_crawler, registry_auditor;

GRANT SELECT (site_id, listed, profile, change_xid) ON registry.site_profile
    TO registry_ranker;
GRANT SELECT ON registry.ranking_profile TO registry_ranker;

GRANT SELECT ON registry.site, registry.site_key, registry.document, registry.task,
    registry.probe, registry.registration, registry.challenge TO registry_api;
GRANT INSERT ON registry.challenge, registry.registration TO registry_api;
GRANT UPDATE (hinted_at) ON registry.task TO registry_api;
GRANT SELECT ON audit.pending, audit.entry, audit.tile_hash, audit.checkpoint,
    audit.ranking, audit.selection, audit.day_seed, audit.policy TO registry_api;
GRANT INSERT (record_id, kind, body, leaf_hash, accepted_at) ON audit.pending
    TO registry_api, registry_crawler, registry_publisher;
GRANT INSERT ON audit.ranking, audit.selection TO registry_api;

GRANT SELECT, INSERT, UPDATE ON registry.site, registry.site_profile,
    registry.site_key, registry.document, registry.task TO registry_crawler;
GRANT DELETE ON registry.task, registry.challenge TO registry_crawler;
GRANT SELECT, UPDATE ON registry.registration, registry.challenge TO registry_crawler;
GRANT SELECT, INSERT ON registry.probe TO registry_crawler;
GRANT SELECT, INSERT, UPDATE ON disclosure.site_label TO registry_crawler;

GRANT SELECT, DELETE, UPDATE (position) ON audit.pending TO registry_publisher;
GRANT SELECT, INSERT ON audit.entry, audit.tile_hash, audit.checkpoint, audit.policy,
    audit.day_seed TO registry_publisher;
GRANT UPDATE (reveal_id) ON audit.day_seed TO registry_publisher;

GRANT SELECT ON ALL TABLES IN SCHEMA registry, disclosure TO registry_auditor;
GRANT SELECT ON audit.pending, audit.entry, audit.tile_hash, audit.checkpoint,
    audit.ranking, audit.selection, audit.policy TO registry_auditor;
"""


def upgrade() -> None:
    op.execute(CREATE_ROLE.format(name="registry_owner", option="NOLOGIN"))
    for role in LOGIN_ROLES:
        op.execute(CREATE_ROLE.format(name=role, option="LOGIN"))
    op.execute(OWNERSHIP)
    op.execute("SET ROLE registry_owner")
    run(SCHEMAS, REGISTRY, DISCLOSURE, AUDIT)
    op.execute(APPEND_ONLY)
    for table in APPEND_ONLY_TABLES:
        run(GUARD.format(table=table))
    run(RIGHTS)
    op.execute("RESET ROLE")


def downgrade() -> None:
    run(
        "DROP SCHEMA registry CASCADE; DROP SCHEMA audit CASCADE;"
        "DROP SCHEMA disclosure CASCADE;"
    )
