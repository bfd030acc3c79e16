"""The tables, as SQLAlchemy Core sees them; the migrations make them.

Schemas: `registry` (what is listed), `audit` (what was answered and chosen),
`disclosure` (labels for reports, which the ranker's role cannot read). Every key starts
with the shard key: the site, or nothing for the log, which is one sequence.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Computed,
    Date,
    DateTime,
    Float,
    ForeignKey,
    Identity,
    Integer,
    LargeBinary,
    SmallInteger,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from registry.db.schema.column_types import Packed, RecordId, Xid8
from registry.db.schema.metadata import audit_table, disclosure_table, registry_table
from registry.db.schema.metadata import instant as _instant


def _site_key() -> Column[int]:
    return Column(
        "site_id",
        BigInteger,
        ForeignKey("registry.site.site_id", ondelete="CASCADE"),
        primary_key=True,
    )


def _change_xid() -> Column[int]:
    """The transaction that last changed the row; followers read on from it."""
    default = text("pg_current_xact_id()")
    return Column("change_xid", Xid8, nullable=False, server_default=default)


def _lease() -> list[Column[object]]:
    """Columns of a row that crawlers lease: a fence counts the leases given."""
    return [
        _instant("due_at", nullable=True),
        _instant("leased_until", nullable=True),
        Column("fence", BigInteger, nullable=False, server_default=text("0")),
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
    Column("site_id", BigInteger, primary_key=True),
    Column("host", Text, nullable=False, unique=True),
    Column("registrable_domain", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("listing", JSONB, nullable=False),
    Column("declarations", JSONB, nullable=False),
    Column("category", Text, nullable=False),
    Column("city", Text),
    Column("country", Text),
    Column("conformance", Text, nullable=False),
    Column("semantic_hash", LargeBinary),
    _instant("registered_at"),
    _instant("updated_at"),
    _instant("changed_at"),
    _instant("proved_at"),
    Column("proof_source", Text, nullable=False),
    Column("failed_proofs", SmallInteger, nullable=False, server_default=text("0")),
    Column("unlisted_for", Text),
    Column("moderated", Text),
    _change_xid(),
    Column("short", JSONB, Computed(SHORT, persisted=True)),
)

site_profile = registry_table(
    "site_profile",
    _site_key(),
    Column("listed", Boolean, nullable=False),
    Column("profile", LargeBinary, nullable=False),
    Column("policy", Text, nullable=False),
    _change_xid(),
    Column("features", LargeBinary, nullable=False),
)

site_key = registry_table(
    "site_key",
    _site_key(),
    Column("source", Text, primary_key=True),
    Column("kid", Text, primary_key=True),
    Column("jwk", JSONB, nullable=False),
    _instant("first_seen_at"),
    Column("standing", Text, nullable=False),
    _instant("last_seen_at"),
    _instant("missed_at", nullable=True),
)

challenge = registry_table(
    "challenge",
    Column("host", Text, primary_key=True),
    Column("nonce", Text, primary_key=True),
    _instant("issued_at"),
    _instant("expires_at"),
    _instant("used_at", nullable=True),
)

registration = registry_table(
    "registration",
    Column("registration_id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("act", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("kid", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("nonce", Text, nullable=False),
    Column("token", LargeBinary, nullable=False),
    Column("token_digest", LargeBinary, nullable=False),
    Column("registrable_domain", Text),
    Column("network", Text),
    Column("problems", JSONB, nullable=False),
    _instant("submitted_at"),
    _instant("decided_at", nullable=True),
    *_lease(),
)

document = registry_table(
    "document",
    _site_key(),
    Column("url", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("format", Text, nullable=False),
    Column("dialect", Text, nullable=False),
    Column("conformance", Text, nullable=False),
    Column("provenance", JSONB, nullable=False),
    Column("signature", JSONB, nullable=False),
    Column("deviations", JSONB, nullable=False),
    Column("semantic_hash", LargeBinary, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("content_type", Text, nullable=False),
    Column("etag", Text),
    Column("last_modified", Text),
    _instant("first_fetched_at"),
    _instant("fetched_at"),
    _instant("retired_at", nullable=True),
)

task = registry_table(
    "task",
    _site_key(),
    Column("kind", Text, primary_key=True),
    Column("failures", Integer, nullable=False, server_default=text("0")),
    Column("outcome", JSONB, nullable=False, server_default=text("'{}'")),
    *_lease(),
    Column("visits", Float, nullable=False, server_default=text("0")),
    Column("unchanged", Float, nullable=False, server_default=text("0")),
    Column("mean_gap_days", Float, nullable=False, server_default=text("0")),
    _instant("learnt_at", nullable=True),
    _instant("hinted_at", nullable=True),
    _instant("not_before", nullable=True),
    Column("standing", JSONB, nullable=False, server_default=text("'{}'")),
)

heartbeat = registry_table(
    "heartbeat", Column("part", Text, primary_key=True), _instant("beat_at")
)

refresh = registry_table(
    "refresh", _site_key(), _instant("issued_at"), _instant("paid_until")
)

notice = registry_table(
    "notice",
    _site_key(),
    Column("notice_id", BigInteger, Identity(always=True), primary_key=True),
    _instant("noted_at"),
    Column("code", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("fix", Text, nullable=False),
    Column("url", Text),
    Column("problem", Text),
)

probe = registry_table(
    "probe",
    _site_key(),
    Column("observed_at", DateTime(timezone=True), primary_key=True),
    Column("outcome", Text, nullable=False),
    Column("elapsed_ms", Integer, nullable=False),
)

label = disclosure_table(
    "label",
    Column("site_id", BigInteger, primary_key=True, autoincrement=False),
    Column("label_id", BigInteger, Identity(always=True), primary_key=True),
    Column("told_by", Text, nullable=False),
    _instant("told_at"),
    _instant("valid_from"),
    Column("observed_on", Date),
    Column("size", Text),
    Column("independence", Text),
    Column("chain", Text),
    Column("commission_percent", Float),
    Column("source", Text, nullable=False),
    Column("statement", LargeBinary),
    Column("record_id", RecordId),
    UniqueConstraint("statement", name="label_statement_key"),
)

pending = audit_table(
    "pending",
    Column("position", BigInteger, Identity(always=True), primary_key=True),
    Column("record_id", RecordId, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("body", Packed, nullable=False),
    Column("leaf_hash", LargeBinary, nullable=False),
    _instant("accepted_at"),
)

entry = audit_table(
    "entry",
    Column("leaf_index", BigInteger, primary_key=True, autoincrement=False),
    Column("record_id", RecordId, nullable=False),
    Column("kind", Text, nullable=False),
    Column("body", Packed, nullable=False),
    Column("leaf_hash", LargeBinary, nullable=False),
    _instant("accepted_at"),
)

tile_hash = audit_table(
    "tile_hash",
    Column("level", SmallInteger, primary_key=True, autoincrement=False),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary, nullable=False),
)

checkpoint = audit_table(
    "checkpoint",
    Column("size", BigInteger, primary_key=True, autoincrement=False),
    Column("root", LargeBinary, nullable=False),
    Column("note", Text, nullable=False),
    _instant("published_at"),
)

ranking = audit_table(
    "ranking",
    Column("record_id", RecordId, primary_key=True),
    _instant("accepted_at"),
    Column("operator", Text, nullable=False),
    Column("eligible", BigInteger, nullable=False),
    Column("returned", LargeBinary, nullable=False),
    Column("sampled", LargeBinary, nullable=False),
    Column("query_key", LargeBinary),
    Column("category", Text),
    Column("located", Boolean),
    Column("query", LargeBinary),
    Column("location", LargeBinary),
    Column("filters", LargeBinary),
    Column("request", LargeBinary),
    Column("scores", LargeBinary),
    Column("terms", LargeBinary),
    Column("answer", LargeBinary),
)

selection = audit_table(
    "selection",
    Column("ranking_id", RecordId, primary_key=True),
    Column("record_id", RecordId, nullable=False),
    Column("site_id", BigInteger),
    _instant("accepted_at"),
    Column("choice", LargeBinary),
)

attestation = audit_table(
    "attestation",
    Column("digest", LargeBinary, primary_key=True),
    Column("record_id", RecordId, nullable=False),
    _instant("accepted_at"),
)

day_seed = audit_table(
    "day_seed",
    Column("day", Date, primary_key=True),
    Column("secret", LargeBinary, nullable=False),
    Column("commitment_id", RecordId, nullable=False),
    Column("reveal_id", RecordId),
)

policy = audit_table(
    "policy",
    Column("digest", Text, primary_key=True),
    Column("code", Text, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    Column("record_id", RecordId, nullable=False),
    _instant("effective_at"),
)

cosignature = audit_table(
    "cosignature",
    Column("size", BigInteger, primary_key=True, autoincrement=False),
    Column("witness", Text, primary_key=True),
    Column("line", Text, nullable=False),
    _instant("cosigned_at"),
)

erasure = audit_table(
    "erasure",
    Column("record_id", RecordId, primary_key=True),
    Column("first_index", BigInteger, nullable=False),
    Column("last_index", BigInteger, nullable=False),
    Column("is_scheduled", Boolean, nullable=False),
    _instant("erased_at"),
    UniqueConstraint("first_index", "is_scheduled", name="erasure_once"),
)

erased_page = audit_table(
    "erased_page",
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("relation", Text, nullable=False),
    Column("page", BigInteger, nullable=False),
)
