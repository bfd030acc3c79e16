"""An auditor's question: what an answer would be if one thing were otherwise."""

from datetime import datetime, timedelta
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from registry.errors import Refused
from registry.records.auditor_signature import AuditorStatement
from registry.records.canonical import MAX_INTEGER
from registry.records.refusals import COUNTERFACTUAL_INVALID

VALID_FOR = timedelta(minutes=10)
"""Time before and after it was signed: clocks go wrong both ways."""

SiteId = Annotated[str, Meta(pattern="^[0-9A-Z]{13}$")]


class Inquiry(AuditorStatement, frozen=True, kw_only=True):
    """Question of an auditor.

    issued_at: seconds since 1970. sites: ids of those that are changed, as spelled.
    ranking: id of a record, whose query is asked again; or else query, with the cell it
    is asked from and the filters by their names in /v1/search.
    """

    kind = "counterfactual"
    invalid = COUNTERFACTUAL_INVALID

    issued_at: Annotated[int, Meta(ge=0, le=MAX_INTEGER)] = msgspec.field(name="iat")
    perturbation: Annotated[str, Meta(max_length=32)]
    sites: tuple[SiteId, ...] = ()
    ranking: Annotated[str, Meta(pattern="^[0-9A-Z]{26}$")] | None = None
    query: Annotated[str, Meta(min_length=1)] | None = msgspec.field(
        default=None, name="q"
    )
    cell: Annotated[str, Meta(pattern="^[0-9b-hjkmnp-z]{1,4}$")] | None = None
    filters: Any = None

    def verify_question(self, now: datetime) -> None:
        """Verify that its auditor asks one thing, now. Raises: Refused."""
        age_s = now.timestamp() - self.issued_at
        if abs(age_s) > VALID_FOR.total_seconds():
            raise _fault("iat", f"it was signed {age_s:.0f} seconds ago")
        if (self.ranking is None) == (self.query is None):
            raise _fault("ranking", "name either a ranking or a query")
        if self.ranking is not None and self.members.keys() & {"cell", "filters"}:
            raise _fault("ranking", "a ranking has its own cell and filters")


def _fault(member: str, detail: str) -> Refused:
    return Refused(COUNTERFACTUAL_INVALID, detail, pointer=f"/{member}")
