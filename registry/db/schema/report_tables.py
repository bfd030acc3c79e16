"""The tables of what is kept for reports: monthly ones, daily exposure, trials, former categories."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from registry.db.schema.column_types import RecordId
from registry.db.schema.metadata import audit_table, disclosure_table, instant

kept_report = audit_table(
    "kept_report",
    sa.Column("month", sa.Date, primary_key=True),
    sa.Column("record_id", RecordId, nullable=False),
    instant("made_at"),
    sa.UniqueConstraint("record_id", name="kept_report_record_id_key"),
)

kept_form = audit_table(
    "kept_form",
    sa.Column(
        "month", sa.Date, sa.ForeignKey("audit.kept_report.month"), primary_key=True
    ),
    sa.Column("form", sa.Text, primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("signature", sa.Text, nullable=False),
    sa.Column("digest", sa.LargeBinary, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
)

invariance_run = audit_table(
    "invariance_run",
    sa.Column("day", sa.Date, primary_key=True),
    instant("finished_at"),
    sa.Column("generation", sa.Text, nullable=False),
    sa.Column("policy", sa.Text, nullable=False),
    sa.Column("code", sa.Text, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("queries", sa.Integer, nullable=False),
    sa.Column("sites", sa.Integer, nullable=False),
    sa.Column("trials", sa.Integer, nullable=False),
    sa.Column("violations", sa.Integer, nullable=False),
    sa.Column("rate_at_most", sa.Float, nullable=False),
    sa.Column("tallies", JSONB, nullable=False),
    sa.Column("examples", JSONB, nullable=False),
    sa.Column("swap_salt", sa.Text, nullable=False),
)

trial_material = audit_table(
    "trial_material",
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)

exposure_day = audit_table(
    "exposure_day",
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("record_id", RecordId, nullable=False),
    instant("made_at"),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("signature", sa.Text, nullable=False),
    sa.Column("noise_key", sa.LargeBinary),
    sa.UniqueConstraint("record_id", name="exposure_day_record_id_key"),
)

site_exposure = audit_table(
    "site_exposure",
    sa.Column("site_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("appearances", sa.BigInteger, nullable=False),
    sa.Column("attention", sa.BigInteger, nullable=False),
    sa.Column("selections", sa.BigInteger, nullable=False),
)

made_archive = audit_table(
    "made_archive",
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    instant("made_at"),
    instant("start_at"),
    instant("end_at"),
    sa.Column("folder", sa.Text, nullable=False),
    instant("finished_at", nullable=True),
)

dropped_month = audit_table(
    "dropped_month",
    sa.Column("month", sa.Date, primary_key=True),
    instant("dropped_at"),
)

former_category = disclosure_table(
    "former_category",
    sa.Column("site_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("until", sa.DateTime(timezone=True), primary_key=True),
    sa.Column("category", sa.Text, nullable=False),
)
