"""Views of the labels of a site: those that count, their authors, contradictions."""

from collections.abc import Iterable
from datetime import date, datetime

import msgspec

from registry.interfaces.rest.wire_model import WireModel
from registry.reports.labels import (
    AUDITOR,
    LabelStatement,
    SiteLabel,
    find_contradictions,
    rank_statements,
    settle,
)
from registry.sites.entry import ClaimConflict, SiteEntry
from registry.sites.identifier import format_site_id


class LabelView(WireModel):
    """commissionRate: percent 0..100. null: nobody says it."""

    size: str | None
    independence: str | None
    chain: str | None
    commission_rate: float | None


class CountingLabel(LabelView):
    """The label that counts in reports. source: its author; validFrom: its beginning."""

    source: tuple[str, ...]
    valid_from: datetime | None


class StatementView(LabelView):
    """The statement of an author. by: document, registration or auditor.

    auditor: the verifier key. source: for a document its address, for a registration
    the hash of the signed statement as the log has it, for an auditor what he names.
    observedOn: the day for which an auditor's source states it. toldAt: by the author's
    clock. validFrom: since when it is on record here.
    """

    by: str
    auditor: str | None
    source: str
    observed_on: date | None
    stated_at: datetime = msgspec.field(name="toldAt")
    valid_from: datetime


class ContradictedClaim(WireModel):
    by: str
    value: str


class ContradictionView(WireModel):
    """A field that two authors state differently; the first claim is the one that counts."""

    field: str
    claims: tuple[ContradictedClaim, ...]


class DisclosuresView(WireModel, kw_only=True):
    """statements: the last of each author, the weightiest first. history: the newest first."""

    site: str
    host: str
    at: datetime
    counting: CountingLabel
    statements: tuple[StatementView, ...] = msgspec.field(name="told")
    contradictions: tuple[ContradictionView, ...]
    history: tuple[StatementView, ...]


def view_disclosures(
    entry: SiteEntry,
    at: datetime,
    statements: Iterable[LabelStatement],
    history: Iterable[LabelStatement],
) -> DisclosuresView:
    """Labels of a site. statements: the newest of each source."""
    ranked = rank_statements(statements, at)
    return DisclosuresView(
        site=format_site_id(entry.site_id),
        host=entry.host,
        at=at,
        counting=_view_counting(settle(ranked, at)),
        statements=tuple(map(_view_statement, ranked)),
        contradictions=tuple(map(_view_contradiction, find_contradictions(ranked))),
        history=tuple(map(_view_statement, history)),
    )


def _view_counting(label: SiteLabel) -> CountingLabel:
    return CountingLabel.of(
        label,
        commission_rate=label.commission_percent,
        source=tuple(label.source.split()),
    )


def _view_statement(statement: LabelStatement) -> StatementView:
    label = statement.label
    return StatementView.of(
        statement,
        size=label.size,
        independence=label.independence,
        chain=label.chain,
        commission_rate=label.commission_percent,
        by=statement.kind,
        auditor=statement.stated_by if statement.kind == AUDITOR else None,
    )


def _view_contradiction(conflict: ClaimConflict) -> ContradictionView:
    claims = (
        ContradictedClaim(by=kind, value=value) for kind, value in conflict.values
    )
    return ContradictionView(field=conflict.field, claims=tuple(claims))
