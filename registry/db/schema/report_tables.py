"""The tables of what is kept for reports: monthly ones, daily exposure, trials, former categories."""

from sqlalchemy import (
    BigInteger,
    Column,
    Date,
    DateTime,
    Float,
    ForeignKey,
    Identity,
    Integer,
    LargeBinary,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB

from registry.db.schema.column_types import RecordId
from registry.db.schema.metadata import audit_table, disclosure_table, instant

kept_report = audit_table(
    "kept_report",
    Column("month", Date, primary_key=True),
    Column("record_id", RecordId, nullable=False),
    instant("made_at"),
    UniqueConstraint("record_id", name="kept_report_record_id_key"),
)

kept_form = audit_table(
    "kept_form",
    Column("month", Date, ForeignKey("audit.kept_report.month"), primary_key=True),
    Column("form", Text, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    Column("signature", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("size", Integer, nullable=False),
)

invariance_run = audit_table(
    "invariance_run",
    Column("day", Date, primary_key=True),
    instant("finished_at"),
    Column("generation", Text, nullable=False),
    Column("policy", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("queries", Integer, nullable=False),
    Column("sites", Integer, nullable=False),
    Column("trials", Integer, nullable=False),
    Column("violations", Integer, nullable=False),
    Column("rate_at_most", Float, nullable=False),
    Column("tallies", JSONB, nullable=False),
    Column("examples", JSONB, nullable=False),
    Column("swap_salt", Text, nullable=False),
)

trial_material = audit_table(
    "trial_material",
    Column("day", Date, primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

exposure_day = audit_table(
    "exposure_day",
    Column("day", Date, primary_key=True),
    Column("record_id", RecordId, nullable=False),
    instant("made_at"),
    Column("body", LargeBinary, nullable=False),
    Column("signature", Text, nullable=False),
    Column("noise_key", LargeBinary),
    UniqueConstraint("record_id", name="exposure_day_record_id_key"),
)

site_exposure = audit_table(
    "site_exposure",
    Column("site_id", BigInteger, primary_key=True, autoincrement=False),
    Column("day", Date, primary_key=True),
    Column("appearances", BigInteger, nullable=False),
    Column("attention", BigInteger, nullable=False),
    Column("selections", BigInteger, nullable=False),
)

made_archive = audit_table(
    "made_archive",
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    instant("made_at"),
    instant("start_at"),
    instant("end_at"),
    Column("folder", Text, nullable=False),
    instant("finished_at", nullable=True),
)

dropped_month = audit_table(
    "dropped_month", Column("month", Date, primary_key=True), instant("dropped_at")
)

former_category = disclosure_table(
    "former_category",
    Column("site_id", BigInteger, primary_key=True, autoincrement=False),
    Column("until", DateTime(timezone=True), primary_key=True),
    Column("category", Text, nullable=False),
)
