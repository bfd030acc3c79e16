"""The tables, as SQLAlchemy Core sees them; the migrations make them.

Schemas: `registry` (what is listed), `audit` (what was answered and chosen),
`disclosure` (labels for reports, which the ranker's role cannot read). Every key starts
with the shard key: the site, or nothing for the log, which is one sequence.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from registry.db.schema.column_types import Packed, RecordId, Xid8
from registry.db.schema.metadata import audit_table, disclosure_table, registry_table
from registry.db.schema.metadata import instant as _instant


def _site_key() -> sa.Column[int]:
    return sa.Column(
        "site_id",
        sa.BigInteger,
        sa.ForeignKey("registry.site.site_id", ondelete="CASCADE"),
        primary_key=True,
    )


def _change_xid() -> sa.Column[int]:
    """The transaction that last changed the row; followers read on from it."""
    default = sa.text("pg_current_xact_id()")
    return sa.Column("change_xid", Xid8, nullable=False, server_default=default)


def _lease() -> list[sa.Column[object]]:
    """Columns of a row that crawlers lease: a fence counts the leases given."""
    return [
        _instant("due_at", nullable=True),
        _instant("leased_until", nullable=True),
        sa.Column("fence", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    ]


SHORT = """
jsonb_insert(
    jsonb_insert(
        '[]'
        || coalesce(listing #> '{site,name}', '""')
        || coalesce(listing #> '{site,category}', '""')
        || coalesce(listing #> '{site,location}', 'null')
        || coalesce(listing -> 'place', 'null')
        || coalesce(listing #> '{site,commission_percent}', 'null')
        || coalesce(listing #> '{site,is_independent}', 'null')
        || coalesce(listing #> '{site,direct_benefit}', '""'),
        '{-1}', coalesce(listing #> '{site,trust_signatures}', '[]'), true
    ),
    '{-1}', jsonb_path_query_array(listing, '$.site.actions[*].name'), true
)
"""
"""Part of a listing that answers show; its kilobytes are not read for it."""

site = registry_table(
    "site",
    sa.Column("site_id", sa.BigInteger, primary_key=True),
    sa.Column("host", sa.Text, nullable=False, unique=True),
    sa.Column("registrable_domain", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("listing", JSONB, nullable=False),
    sa.Column("declarations", JSONB, nullable=False),
    sa.Column("category", sa.Text, nullable=False),
    sa.Column("city", sa.Text),
    sa.Column("country", sa.Text),
    sa.Column("conformance", sa.Text, nullable=False),
    sa.Column("semantic_hash", sa.LargeBinary),
    _instant("registered_at"),
    _instant("updated_at"),
    _instant("changed_at"),
    _instant("proved_at"),
    sa.Column("proof_source", sa.Text, nullable=False),
    sa.Column(
        "failed_proofs", sa.SmallInteger, nullable=False, server_default=sa.text("0")
    ),
    sa.Column("unlisted_for", sa.Text),
    sa.Column("moderated", sa.Text),
    _change_xid(),
    sa.Column("short", JSONB, sa.Computed(SHORT, persisted=True)),
)

site_profile = registry_table(
    "site_profile",
    _site_key(),
    sa.Column("listed", sa.Boolean, nullable=False),
    sa.Column("profile", sa.LargeBinary, nullable=False),
    sa.Column("policy", sa.Text, nullable=False),
    _change_xid(),
    sa.Column("features", sa.LargeBinary, nullable=False),
)

site_key = registry_table(
    "site_key",
    _site_key(),
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("kid", sa.Text, primary_key=True),
    sa.Column("jwk", JSONB, nullable=False),
    _instant("first_seen_at"),
    sa.Column("standing", sa.Text, nullable=False),
    _instant("last_seen_at"),
    _instant("missed_at", nullable=True),
)

challenge = registry_table(
    "challenge",
    sa.Column("host", sa.Text, primary_key=True),
    sa.Column("nonce", sa.Text, primary_key=True),
    _instant("issued_at"),
    _instant("expires_at"),
    _instant("used_at", nullable=True),
)

registration = registry_table(
    "registration",
    sa.Column("registration_id", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("act", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("kid", sa.Text, nullable=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("nonce", sa.Text, nullable=False),
    sa.Column("token", sa.LargeBinary, nullable=False),
    sa.Column("token_digest", sa.LargeBinary, nullable=False),
    sa.Column("registrable_domain", sa.Text),
    sa.Column("network", sa.Text),
    sa.Column("problems", JSONB, nullable=False),
    _instant("submitted_at"),
    _instant("decided_at", nullable=True),
    *_lease(),
)

document = registry_table(
    "document",
    _site_key(),
    sa.Column("url", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("format", sa.Text, nullable=False),
    sa.Column("dialect", sa.Text, nullable=False),
    sa.Column("conformance", sa.Text, nullable=False),
    sa.Column("provenance", JSONB, nullable=False),
    sa.Column("signature", JSONB, nullable=False),
    sa.Column("deviations", JSONB, nullable=False),
    sa.Column("semantic_hash", sa.LargeBinary, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("content_type", sa.Text, nullable=False),
    sa.Column("etag", sa.Text),
    sa.Column("last_modified", sa.Text),
    _instant("first_fetched_at"),
    _instant("fetched_at"),
    _instant("retired_at", nullable=True),
)

task = registry_table(
    "task",
    _site_key(),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("failures", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("outcome", JSONB, nullable=False, server_default=sa.text("'{}'")),
    *_lease(),
    sa.Column("visits", sa.Float, nullable=False, server_default=sa.text("0")),
    sa.Column("unchanged", sa.Float, nullable=False, server_default=sa.text("0")),
    sa.Column("mean_gap_days", sa.Float, nullable=False, server_default=sa.text("0")),
    _instant("learnt_at", nullable=True),
    _instant("hinted_at", nullable=True),
    _instant("not_before", nullable=True),
    sa.Column("standing", JSONB, nullable=False, server_default=sa.text("'{}'")),
)

heartbeat = registry_table(
    "heartbeat", sa.Column("part", sa.Text, primary_key=True), _instant("beat_at")
)

refresh = registry_table(
    "refresh", _site_key(), _instant("issued_at"), _instant("paid_until")
)

notice = registry_table(
    "notice",
    _site_key(),
    sa.Column("notice_id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    _instant("noted_at"),
    sa.Column("code", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("fix", sa.Text, nullable=False),
    sa.Column("url", sa.Text),
    sa.Column("problem", sa.Text),
)

probe = registry_table(
    "probe",
    _site_key(),
    sa.Column("observed_at", sa.DateTime(timezone=True), primary_key=True),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("elapsed_ms", sa.Integer, nullable=False),
)

label = disclosure_table(
    "label",
    sa.Column("site_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("label_id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("told_by", sa.Text, nullable=False),
    _instant("told_at"),
    _instant("valid_from"),
    sa.Column("observed_on", sa.Date),
    sa.Column("size", sa.Text),
    sa.Column("independence", sa.Text),
    sa.Column("chain", sa.Text),
    sa.Column("commission_percent", sa.Float),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("statement", sa.LargeBinary),
    sa.Column("record_id", RecordId),
    sa.UniqueConstraint("statement", name="label_statement_key"),
)

pending = audit_table(
    "pending",
    sa.Column("position", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("record_id", RecordId, nullable=False, unique=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("body", Packed, nullable=False),
    sa.Column("leaf_hash", sa.LargeBinary, nullable=False),
    _instant("accepted_at"),
)

entry = audit_table(
    "entry",
    sa.Column("leaf_index", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("record_id", RecordId, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("body", Packed, nullable=False),
    sa.Column("leaf_hash", sa.LargeBinary, nullable=False),
    _instant("accepted_at"),
)

tile_hash = audit_table(
    "tile_hash",
    sa.Column("level", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("position", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("hash", sa.LargeBinary, nullable=False),
)

checkpoint = audit_table(
    "checkpoint",
    sa.Column("size", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("root", sa.LargeBinary, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    _instant("published_at"),
)

ranking = audit_table(
    "ranking",
    sa.Column("record_id", RecordId, primary_key=True),
    _instant("accepted_at"),
    sa.Column("operator", sa.Text, nullable=False),
    sa.Column("eligible", sa.BigInteger, nullable=False),
    sa.Column("returned", sa.LargeBinary, nullable=False),
    sa.Column("sampled", sa.LargeBinary, nullable=False),
    sa.Column("query_key", sa.LargeBinary),
    sa.Column("category", sa.Text),
    sa.Column("located", sa.Boolean),
    sa.Column("query", sa.LargeBinary),
    sa.Column("location", sa.LargeBinary),
    sa.Column("filters", sa.LargeBinary),
    sa.Column("request", sa.LargeBinary),
    sa.Column("scores", sa.LargeBinary),
    sa.Column("terms", sa.LargeBinary),
    sa.Column("answer", sa.LargeBinary),
)

selection = audit_table(
    "selection",
    sa.Column("ranking_id", RecordId, primary_key=True),
    sa.Column("record_id", RecordId, nullable=False),
    sa.Column("site_id", sa.BigInteger),
    _instant("accepted_at"),
    sa.Column("choice", sa.LargeBinary),
)

attestation = audit_table(
    "attestation",
    sa.Column("digest", sa.LargeBinary, primary_key=True),
    sa.Column("record_id", RecordId, nullable=False),
    _instant("accepted_at"),
)

day_seed = audit_table(
    "day_seed",
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("secret", sa.LargeBinary, nullable=False),
    sa.Column("commitment_id", RecordId, nullable=False),
    sa.Column("reveal_id", RecordId),
)

policy = audit_table(
    "policy",
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("code", sa.Text, primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("record_id", RecordId, nullable=False),
    _instant("effective_at"),
)

cosignature = audit_table(
    "cosignature",
    sa.Column("size", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("witness", sa.Text, primary_key=True),
    sa.Column("line", sa.Text, nullable=False),
    _instant("cosigned_at"),
)

rollback_evidence = audit_table(
    "rollback_evidence",
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
)

erasure = audit_table(
    "erasure",
    sa.Column("record_id", RecordId, primary_key=True),
    sa.Column("first_index", sa.BigInteger, nullable=False),
    sa.Column("last_index", sa.BigInteger, nullable=False),
    sa.Column("is_scheduled", sa.Boolean, nullable=False),
    _instant("erased_at"),
    sa.UniqueConstraint("first_index", "is_scheduled", name="erasure_once"),
)

erased_page = audit_table(
    "erased_page",
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("relation", sa.Text, nullable=False),
    sa.Column("page", sa.BigInteger, nullable=False),
)
