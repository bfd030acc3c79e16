"""An auditor's attestation: rankings recomputed, and how many came out otherwise."""

from typing import Annotated

import msgspec
from msgspec import Meta

from registry.records.auditor_signature import AuditorStatement
from registry.records.canonical import MAX_INTEGER
from registry.records.refusals import ATTESTATION_INVALID

Index = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]


class Rescoring(AuditorStatement, frozen=True, kw_only=True):
    """Rankings that an auditor recomputed, and the outcome.

    first_index..last_index: the leaves looked at. checked_count: rankings among them
    that could be recomputed. report: `sha256:…` of the report's JSON form, if its figures
    were; mismatch_count then counts them, too.
    """

    kind = "rescore"
    invalid = ATTESTATION_INVALID

    first_index: Index = msgspec.field(name="first")
    last_index: Index = msgspec.field(name="last")
    checked_count: Index = msgspec.field(name="n")
    mismatch_count: Index = msgspec.field(name="mismatches")
    report: Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")] | None = None
