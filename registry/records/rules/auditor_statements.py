"""Auditors' statements that a log has on record: signed, and signed for this log."""

from collections.abc import Mapping

from registry.records.attestation import Rescoring
from registry.records.auditor_signature import AuditorStatement
from registry.records.canonical import JsonValue
from registry.records.labelling import Labelling

STATEMENTS: Mapping[str, type[AuditorStatement]]
STATEMENTS = {"rescore": Rescoring, "label": Labelling}
AUDIENCE_SINCE = "2026-12-01"  # a record of this day or later names its log (ADR 0295)


def verify_statement(members: Mapping[str, JsonValue], origin: str) -> None:
    """members: of a record of one of STATEMENTS. origin: of the log. Raises: Refused."""
    statement = STATEMENTS[str(members["kind"])].parse(members)
    if statement.audience is None and str(members["t"]) < AUDIENCE_SINCE:
        statement.verify()
    else:
        statement.verify_for(origin)
