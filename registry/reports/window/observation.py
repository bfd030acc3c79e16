"""Observations that a report is computed from: ranked answers, reported choices, disclosures.

All of it comes from the public log and the disclosures; a report needs nothing else, so
that anybody can compute it again. These are the forms that are easy to make; `columns`
holds the same in arrays, for windows of millions.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Size = Literal["micro", "small", "medium", "large", "unknown"]
"""Size in the bands of EU Recommendation 2003/361/EC, as `labels` settles it."""

Independence = Literal["independent", "chain", "unknown"]

FactorValues = tuple[int, int, int, int, int]
"""Each 0..10000, in the order of `registry.ranking.explain.FACTOR_NAMES`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedSelection:
    """A reported choice. site_id: None where the agent reports that it chose no site."""

    site_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRanking:
    """A ranked answer.

    eligible: how many sites were eligible. returned: site ids from rank 1 down.
    eligible_sample: ids drawn uniformly, without replacement, from all eligible sites.
    selection: None where nobody reported one.
    query: names what was asked; rankings of one query are not independent of each other
    and are resampled together. Empty: the ranking stands alone.
    operator: who asked. category: the filter of the request, or empty.
    factors: of each returned site, or empty where they were erased or are not read.
    tiers: of commission, of each returned site, or empty where they are not stated.
    located: the request came with a place.
    """

    id: str
    eligible: int
    returned: tuple[str, ...]
    eligible_sample: tuple[str, ...]
    selection: ObservedSelection | None = None
    query: str = ""
    operator: str = "anon"
    category: str = ""
    factors: tuple[FactorValues, ...] = ()
    tiers: tuple[int, ...] = ()
    located: bool = False

    def __post_init__(self) -> None:
        for sites in (self.returned, self.eligible_sample):
            if len(set(sites)) < len(sites):
                raise ValueError(f"ranking {self.id} names a site twice")
            if len(sites) > self.eligible:
                raise ValueError(f"ranking {self.id} has more sites than eligible ones")
        if self.returned and not self.eligible_sample:
            raise ValueError(f"ranking {self.id} has no sample of its eligible sites")
        if self.factors and len(self.factors) != len(self.returned):
            raise ValueError(f"ranking {self.id} has factors of other sites")


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
