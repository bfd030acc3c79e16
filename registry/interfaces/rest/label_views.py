"""How the labels of a site are shown: what counts, who says what, what contradicts."""

from collections.abc import Iterable
from datetime import date, datetime

from registry.fairness.labels import (
    AUDITOR,
    SiteLabel,
    ToldLabel,
    find_contradictions,
    rank_tellers,
    settle,
)
from registry.interfaces.rest.wire import Wire
from registry.sites.entry import Conflict, SiteEntry
from registry.sites.identifier import spell_site_id


class LabelView(Wire):
    """commissionRate: percent 0..100. null: nobody says it."""

    size: str | None
    independence: str | None
    chain: str | None
    commission_rate: float | None


class CountingLabel(LabelView):
    """What counts in reports. source: who is followed in it; validFrom: since when."""

    source: tuple[str, ...]
    valid_from: datetime | None


class ToldView(LabelView):
    """What one teller says. by: document, registration or auditor.

    auditor: the verifier key. source: for a document its address, for a registration
    the hash of the signed statement as the log has it, for an auditor what he names.
    observedOn: the day for which an auditor's source tells it. toldAt: by the teller's
    clock. validFrom: since when it is on record here.
    """

    by: str
    auditor: str | None
    source: str
    observed_on: date | None
    told_at: datetime
    valid_from: datetime


class ContradictedClaim(Wire):
    by: str
    value: str


class ContradictionView(Wire):
    """A field that two tellers state differently; the first claim is the one that counts."""

    field: str
    claims: tuple[ContradictedClaim, ...]


class DisclosuresView(Wire):
    """told: what each teller says, the weightiest first. history: the newest first."""

    site: str
    host: str
    at: datetime
    counting: CountingLabel
    told: tuple[ToldView, ...]
    contradictions: tuple[ContradictionView, ...]
    history: tuple[ToldView, ...]


def view_disclosures(
    entry: SiteEntry,
    at: datetime,
    told: Iterable[ToldLabel],
    history: Iterable[ToldLabel],
) -> DisclosuresView:
    """told: the newest of each teller."""
    ranked = rank_tellers(told, at)
    return DisclosuresView(
        site=spell_site_id(entry.site_id),
        host=entry.host,
        at=at,
        counting=_view_counting(settle(ranked, at)),
        told=tuple(map(_view_told, ranked)),
        contradictions=tuple(map(_view_contradiction, find_contradictions(ranked))),
        history=tuple(map(_view_told, history)),
    )


def _view_counting(label: SiteLabel) -> CountingLabel:
    return CountingLabel(
        size=label.size,
        independence=label.independence,
        chain=label.chain,
        commission_rate=label.commission_percent,
        source=tuple(label.source.split()),
        valid_from=label.valid_from,
    )


def _view_told(told: ToldLabel) -> ToldView:
    label = told.label
    return ToldView(
        size=label.size,
        independence=label.independence,
        chain=label.chain,
        commission_rate=label.commission_percent,
        by=told.kind,
        auditor=told.told_by if told.kind == AUDITOR else None,
        source=told.source,
        observed_on=told.observed_on,
        told_at=told.told_at,
        valid_from=told.valid_from,
    )


def _view_contradiction(found: Conflict) -> ContradictionView:
    claims = (ContradictedClaim(by=kind, value=value) for kind, value in found.values)
    return ContradictionView(field=found.field, claims=tuple(claims))
