"""The tables, as SQLAlchemy Core sees them; the migrations make them.

Schemas: `registry` (what is listed), `audit` (what was answered and chosen),
`disclosure` (labels for reports, which the ranker's role cannot read). Every key starts
with the shard key: the site, or nothing for the log, which is one sequence.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from registry.db.schema.column_types import Packed, RecordId, Xid8
from registry.db.schema.metadata import (
    INSTANT,
    audit_table,
    disclosure_table,
    from_zero,
    optional,
    registry_table,
    required,
)


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
        *optional(INSTANT, "due_at", "leased_until"),
        *from_zero(sa.BigInteger, "fence"),
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
    *required(
        sa.Text,
        "registrable_domain",
        "status",
        "category",
        "conformance",
        "proof_source",
    ),
    *required(sa.BigInteger, "seq"),
    *required(JSONB, "listing", "declarations"),
    *required(INSTANT, "registered_at", "updated_at", "changed_at", "proved_at"),
    *optional(sa.Text, "city", "country", "unlisted_for", "moderated"),
    *optional(sa.LargeBinary, "semantic_hash"),
    *from_zero(sa.SmallInteger, "failed_proofs"),
    _change_xid(),
    sa.Column("short", JSONB, sa.Computed(SHORT, persisted=True)),
)

site_profile = registry_table(
    "site_profile",
    _site_key(),
    *required(sa.Boolean, "listed"),
    *required(sa.LargeBinary, "profile", "features"),
    *required(sa.Text, "policy"),
    _change_xid(),
)

site_key = registry_table(
    "site_key",
    _site_key(),
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("kid", sa.Text, primary_key=True),
    *required(JSONB, "jwk"),
    *required(INSTANT, "first_seen_at", "last_seen_at"),
    *required(sa.Text, "standing"),
    *optional(INSTANT, "missed_at"),
)

challenge = registry_table(
    "challenge",
    sa.Column("host", sa.Text, primary_key=True),
    sa.Column("nonce", sa.Text, primary_key=True),
    *required(INSTANT, "issued_at", "expires_at"),
    *optional(INSTANT, "used_at"),
)

registration = registry_table(
    "registration",
    sa.Column("registration_id", sa.Text, primary_key=True),
    *required(sa.Text, "host", "act", "status", "kid", "nonce"),
    *required(sa.BigInteger, "seq"),
    *required(sa.LargeBinary, "token", "token_digest"),
    *required(JSONB, "problems"),
    *required(INSTANT, "submitted_at"),
    *optional(sa.Text, "registrable_domain", "network"),
    *optional(INSTANT, "decided_at"),
    *_lease(),
)

document = registry_table(
    "document",
    _site_key(),
    sa.Column("url", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    *required(sa.Text, "format", "dialect", "conformance", "content_type"),
    *required(JSONB, "provenance", "signature", "deviations"),
    *required(sa.LargeBinary, "semantic_hash", "body"),
    *required(INSTANT, "first_fetched_at", "fetched_at"),
    *optional(sa.Text, "etag", "last_modified"),
    *optional(INSTANT, "retired_at"),
)

task = registry_table(
    "task",
    _site_key(),
    sa.Column("kind", sa.Text, primary_key=True),
    *from_zero(sa.Integer, "failures"),
    sa.Column("outcome", JSONB, nullable=False, server_default=sa.text("'{}'")),
    *_lease(),
    *from_zero(sa.Float, "visits", "unchanged", "mean_gap_days"),
    *optional(INSTANT, "learnt_at", "hinted_at", "not_before"),
    sa.Column("standing", JSONB, nullable=False, server_default=sa.text("'{}'")),
)

heartbeat = registry_table(
    "heartbeat",
    sa.Column("part", sa.Text, primary_key=True),
    *required(INSTANT, "beat_at"),
)

refresh = registry_table(
    "refresh", _site_key(), *required(INSTANT, "issued_at", "paid_until")
)

notice = registry_table(
    "notice",
    _site_key(),
    sa.Column("notice_id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    *required(INSTANT, "noted_at"),
    *required(sa.Text, "code", "detail", "fix"),
    *optional(sa.Text, "url", "problem"),
)

probe = registry_table(
    "probe",
    _site_key(),
    sa.Column("observed_at", INSTANT, primary_key=True),
    *required(sa.Text, "outcome"),
    *required(sa.Integer, "elapsed_ms"),
)

label = disclosure_table(
    "label",
    sa.Column("site_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("label_id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    *required(sa.Text, "told_by", "source"),
    *required(INSTANT, "told_at", "valid_from"),
    *optional(sa.Date, "observed_on"),
    *optional(sa.Text, "size", "independence", "chain"),
    *optional(sa.Float, "commission_percent"),
    *optional(sa.LargeBinary, "statement"),
    *optional(RecordId, "record_id"),
    sa.UniqueConstraint("statement", name="label_statement_key"),
)

pending = audit_table(
    "pending",
    sa.Column("position", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("record_id", RecordId, nullable=False, unique=True),
    *required(sa.Text, "kind"),
    *required(Packed, "body"),
    *required(sa.LargeBinary, "leaf_hash"),
    *required(INSTANT, "accepted_at"),
)

entry = audit_table(
    "entry",
    sa.Column("leaf_index", sa.BigInteger, primary_key=True, autoincrement=False),
    *required(RecordId, "record_id"),
    *required(sa.Text, "kind"),
    *required(Packed, "body"),
    *required(sa.LargeBinary, "leaf_hash"),
    *required(INSTANT, "accepted_at"),
)

tile_hash = audit_table(
    "tile_hash",
    sa.Column("level", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("position", sa.BigInteger, primary_key=True, autoincrement=False),
    *required(sa.LargeBinary, "hash"),
)

checkpoint = audit_table(
    "checkpoint",
    sa.Column("size", sa.BigInteger, primary_key=True, autoincrement=False),
    *required(sa.LargeBinary, "root"),
    *required(sa.Text, "note"),
    *required(INSTANT, "published_at"),
)

ranking = audit_table(
    "ranking",
    sa.Column("record_id", RecordId, primary_key=True),
    *required(INSTANT, "accepted_at"),
    *required(sa.Text, "operator"),
    *required(sa.BigInteger, "eligible"),
    *required(sa.LargeBinary, "returned", "sampled"),
    *optional(
        sa.LargeBinary,
        "query_key",
        "query",
        "location",
        "filters",
        "request",
        "scores",
        "terms",
        "answer",
    ),
    *optional(sa.Text, "category"),
    *optional(sa.Boolean, "located"),
)

selection = audit_table(
    "selection",
    sa.Column("ranking_id", RecordId, primary_key=True),
    *required(RecordId, "record_id"),
    *required(INSTANT, "accepted_at"),
    *optional(sa.BigInteger, "site_id"),
    *optional(sa.LargeBinary, "choice"),
)

attestation = audit_table(
    "attestation",
    sa.Column("digest", sa.LargeBinary, primary_key=True),
    *required(RecordId, "record_id"),
    *required(INSTANT, "accepted_at"),
)

day_seed = audit_table(
    "day_seed",
    sa.Column("day", sa.Date, primary_key=True),
    *required(sa.LargeBinary, "secret"),
    *required(RecordId, "commitment_id"),
    *optional(RecordId, "reveal_id"),
)

policy = audit_table(
    "policy",
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("code", sa.Text, primary_key=True),
    *required(sa.LargeBinary, "body"),
    *required(RecordId, "record_id"),
    *required(INSTANT, "effective_at"),
)

cosignature = audit_table(
    "cosignature",
    sa.Column("size", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("witness", sa.Text, primary_key=True),
    *required(sa.Text, "line"),
    *required(INSTANT, "cosigned_at"),
)

rollback_evidence = audit_table(
    "rollback_evidence",
    sa.Column("source", sa.Text, primary_key=True),
    *required(sa.BigInteger, "size"),
    *required(sa.Text, "detail"),
)

erasure = audit_table(
    "erasure",
    sa.Column("record_id", RecordId, primary_key=True),
    *required(sa.BigInteger, "first_index", "last_index"),
    *required(sa.Boolean, "is_scheduled"),
    *required(INSTANT, "erased_at"),
    sa.UniqueConstraint("first_index", "is_scheduled", name="erasure_once"),
)

erased_page = audit_table(
    "erased_page",
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    *required(sa.Text, "relation"),
    *required(sa.BigInteger, "page"),
)
