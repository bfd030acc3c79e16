"""Labels: which counts where sources differ, and their contradictions.

Field by field an auditor comes before the signed registration, and that before the
site's documents, whichever spoke last: a site that does not like what was found could
sign anew each day (docs/decisions/0048).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple, TypeVar

from registry.sites.entry import ClaimConflict
from registry.sites.label import Independence, Label, Size, format_percent

Value = TypeVar("Value")

DOCUMENT, REGISTRATION, AUDITOR = "document", "registration", "auditor"
VALID_FOR = timedelta(days=730)
"""Time for which an auditor's label counts, from the day that it was observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelStatement:
    """A label and its author.

    stated_by: DOCUMENT, REGISTRATION or the auditor's verifier key. stated_at: by the
    author's own clock. valid_from: since when it is on record here. observed_on: the
    day that an auditor's source states it for. source: where it comes from.
    """

    label: Label
    stated_by: str
    stated_at: datetime
    valid_from: datetime
    source: str
    observed_on: date | None = None

    @property
    def kind(self) -> str:
        """DOCUMENT, REGISTRATION or AUDITOR."""
        return self.stated_by if self.stated_by in {DOCUMENT, REGISTRATION} else AUDITOR


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteLabel(Label):
    """Label that counts of a site. source: the kinds that it is from, joined by spaces.

    valid_from: since when all of it has been on record; None where nothing is.
    """

    source: str = ""
    valid_from: datetime | None = None


NO_LABEL = SiteLabel()
_NOTHING = Label()


class Claims(NamedTuple):
    """Fields of a site that two authors or more state, and those they differ on."""

    stated_twice: tuple[str, ...]
    contradicted: tuple[str, ...]


UNOPPOSED = Claims((), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSite:
    """A site as it is published. claims: which fields authors state and differ on."""

    site_id: str
    domain: str
    category: str
    registered_at: datetime
    label: SiteLabel = NO_LABEL
    claims: Claims = UNOPPOSED


_CLAIMS: dict[str, Callable[[Label], str | None]] = {
    "size": lambda label: label.size,
    "independence": lambda label: label.independence,
    "chain": lambda label: label.chain,
    "commission": lambda label: (
        None
        if label.commission_percent is None
        else format_percent(label.commission_percent)
    ),
}
FIELDS = tuple(_CLAIMS)


def settle(labels: Iterable[LabelStatement], at: datetime) -> SiteLabel:
    """Return what counts at an instant. labels: of one site, the newest of each author."""
    ranked = rank_statements(labels, at)
    if len(ranked) == 1:
        return _alone(ranked[0])
    counted: list[LabelStatement] = []

    def first(field: Callable[[Label], Value | None]) -> Value | None:
        for label in ranked:
            value = field(label.label)
            if value is not None:
                counted.append(label)
                return value
        return None

    size: Size | None = first(lambda label: label.size)
    independence: Independence | None = first(lambda label: label.independence)
    chain = first(lambda label: label.chain) if independence == "chain" else None
    commission = first(lambda label: label.commission_percent)
    return SiteLabel(
        size=size,
        independence=independence,
        chain=chain,
        commission_percent=commission,
        source=" ".join(sorted({label.kind for label in counted})),
        valid_from=max((label.valid_from for label in counted), default=None),
    )


def rank_statements(
    labels: Iterable[LabelStatement], at: datetime
) -> list[LabelStatement]:
    """Return labels that count at an instant, the weightiest first."""
    counting = [label for label in labels if _counts(label, at)]
    if len(counting) > 1:  # mostly a site alone speaks of itself
        counting.sort(key=_weight, reverse=True)
    return counting


def find_contradictions(ranked: Sequence[LabelStatement]) -> tuple[ClaimConflict, ...]:
    """Return fields that two authors state differently, the claim that counts first."""
    return tuple(
        ClaimConflict(field=field, values=stated)
        for field, stated in _stated(ranked)
        if _differ(stated)
    )


def compare_claims(ranked: Sequence[LabelStatement]) -> Claims:
    """Return the claims on a site. ranked: its labels that count."""
    twice = [(field, stated) for field, stated in _stated(ranked) if len(stated) > 1]
    if not twice:
        return UNOPPOSED
    differing = tuple(field for field, stated in twice if _differ(stated))
    return Claims(tuple(field for field, _ in twice), differing)


_Stated = tuple[tuple[str, str], ...]  # author's kind, claim


def _stated(ranked: Sequence[LabelStatement]) -> Iterator[tuple[str, _Stated]]:
    for field, claim_of in _CLAIMS.items():
        claims = ((label.kind, claim_of(label.label)) for label in ranked)
        yield field, tuple((kind, claim) for kind, claim in claims if claim is not None)


def _differ(stated: _Stated) -> bool:
    return len({claim for _, claim in stated}) > 1


def _alone(stated: LabelStatement) -> SiteLabel:
    label = stated.label
    if label == _NOTHING:
        return NO_LABEL
    return SiteLabel(
        size=label.size,
        independence=label.independence,
        chain=label.chain,
        commission_percent=label.commission_percent,
        source=stated.kind,
        valid_from=stated.valid_from,
    )


def _counts(stated: LabelStatement, at: datetime) -> bool:
    if stated.observed_on is None:
        return True
    return stated.observed_on > (at - VALID_FOR).date()


def _weight(stated: LabelStatement) -> tuple[int, date, datetime, str]:
    """Weigh among auditors the later observation, then the later word."""
    order = (DOCUMENT, REGISTRATION, AUDITOR).index(stated.kind)
    return order, stated.observed_on or date.min, stated.stated_at, stated.stated_by
