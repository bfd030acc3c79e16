"""Disclosures of sites that a report is computed from; `columns` holds them in arrays."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Size = Literal["micro", "small", "medium", "large", "unknown"]
"""Size in the bands of EU Recommendation 2003/361/EC, as `labels` settles it."""

Independence = Literal["independent", "chain", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteDisclosure:
    """Labels for reports only; what nobody says stays unknown.

    commission_percent: 0..100, None where undeclared.
    domain: the registrable domain, under which several sites may be one publisher.
    category: as listed. registered_at: None where not known.
    """

    site_id: str
    size: Size = "unknown"
    independence: Independence = "unknown"
    commission_percent: float | None = None
    domain: str = ""
    category: str = ""
    registered_at: datetime | None = None
