"""An auditor's question: what an answer would be if one thing were otherwise.

The auditor signs the members auditor, aud, iat, perturbation, sites, and either ranking
or q, cell and filters, under the line `fair-registry/counterfactual/v1`
(`auditor_signature`). A member that says nothing is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import Refused
from registry.records.auditor_signature import statement_of, verify_auditor
from registry.records.canonical import JsonValue
from registry.records.refusals import COUNTERFACTUAL_INVALID

VALID_FOR = timedelta(minutes=10)
"""Time before and after it was signed: clocks go wrong both ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """Question of an auditor.

    auditor: a C2SP verifier key. audience: the log's origin. issued_at: seconds since
    1970. sites: ids of those that are changed, as spelled. ranking: id of a record,
    whose query is asked again; or else query, with the cell it is asked from and the
    filters by their names in /v1/search.
    """

    auditor: str
    audience: str
    issued_at: int
    perturbation: str
    sites: tuple[str, ...] = ()
    ranking: str | None = None
    query: str | None = None
    cell: str | None = None
    filters: Mapping[str, str | bool | int] = field(default_factory=dict)

    @property
    def members(self) -> dict[str, JsonValue]:
        members: dict[str, JsonValue] = {
            "auditor": self.auditor,
            "aud": self.audience,
            "iat": self.issued_at,
            "perturbation": self.perturbation,
            "sites": list(self.sites),
            "ranking": self.ranking,
            "q": self.query,
            "cell": self.cell,
            "filters": dict(self.filters),
        }
        return {
            name: value
            for name, value in members.items()
            if value not in (None, {}, [])
        }

    @property
    def statement(self) -> bytes:
        return statement_of("counterfactual", self.members)


def sign_inquiry(inquiry: Inquiry, private: Ed25519PrivateKey) -> bytes:
    """private: of the key that the inquiry names as its auditor."""
    return private.sign(inquiry.statement)


def verify_inquiry(
    inquiry: Inquiry, signature: bytes, *, audience: str, now: datetime
) -> None:
    """Verify that its auditor asks this registry, now. Raises: Refused."""
    verify_auditor(
        inquiry.auditor, inquiry.statement, signature, COUNTERFACTUAL_INVALID
    )
    if inquiry.audience != audience:
        raise _fault("aud", f"this is {audience}")
    age_s = now.timestamp() - inquiry.issued_at
    if abs(age_s) > VALID_FOR.total_seconds():
        raise _fault("iat", f"it was signed {age_s:.0f} seconds ago")
    if (inquiry.ranking is None) == (inquiry.query is None):
        raise _fault("ranking", "name either a ranking or a query")
    if inquiry.ranking is not None and (inquiry.cell or inquiry.filters):
        raise _fault("ranking", "a ranking has its own cell and filters")


def _fault(member: str, detail: str) -> Refused:
    return Refused(COUNTERFACTUAL_INVALID, detail, pointer=f"/{member}")
