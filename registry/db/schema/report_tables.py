"""The tables of what is kept for reports: monthly ones, daily exposure, trials, former categories."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from registry.db.schema.column_types import RecordId
from registry.db.schema.metadata import (
    INSTANT,
    audit_table,
    disclosure_table,
    optional,
    required,
)

kept_report = audit_table(
    "kept_report",
    sa.Column("month", sa.Date, primary_key=True),
    *required(RecordId, "record_id"),
    *required(INSTANT, "made_at"),
    sa.UniqueConstraint("record_id", name="kept_report_record_id_key"),
)

kept_form = audit_table(
    "kept_form",
    sa.Column(
        "month", sa.Date, sa.ForeignKey("audit.kept_report.month"), primary_key=True
    ),
    sa.Column("form", sa.Text, primary_key=True),
    *required(sa.LargeBinary, "body", "digest"),
    *required(sa.Text, "signature"),
    *required(sa.Integer, "size"),
)

invariance_run = audit_table(
    "invariance_run",
    sa.Column("day", sa.Date, primary_key=True),
    *required(INSTANT, "finished_at"),
    *required(sa.Text, "generation", "policy", "code", "swap_salt"),
    *required(sa.BigInteger, "seed"),
    *required(sa.Integer, "queries", "sites", "trials", "violations"),
    *required(sa.Float, "rate_at_most"),
    *required(JSONB, "tallies", "examples"),
)

trial_material = audit_table(
    "trial_material",
    sa.Column("day", sa.Date, primary_key=True),
    *required(sa.LargeBinary, "body"),
)

exposure_day = audit_table(
    "exposure_day",
    sa.Column("day", sa.Date, primary_key=True),
    *required(RecordId, "record_id"),
    *required(INSTANT, "made_at"),
    *required(sa.LargeBinary, "body"),
    *required(sa.Text, "signature"),
    *optional(sa.LargeBinary, "noise_key"),
    sa.UniqueConstraint("record_id", name="exposure_day_record_id_key"),
)

site_exposure = audit_table(
    "site_exposure",
    sa.Column("site_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("day", sa.Date, primary_key=True),
    *required(sa.BigInteger, "appearances", "attention", "selections"),
)

made_archive = audit_table(
    "made_archive",
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    *required(INSTANT, "made_at", "start_at", "end_at"),
    *required(sa.Text, "folder"),
    *optional(INSTANT, "finished_at"),
)

dropped_month = audit_table(
    "dropped_month",
    sa.Column("month", sa.Date, primary_key=True),
    *required(INSTANT, "dropped_at"),
)

former_category = disclosure_table(
    "former_category",
    sa.Column("site_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("until", INSTANT, primary_key=True),
    *required(sa.Text, "category"),
)
