"""Terms of a report: what is fixed before its figures are known."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from registry.reports.inference.bootstrap import MINIMUM_REPLICATES
from registry.reports.row_types import Column

MINIMUM_CELL = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Instants from start_at up to, not including, end_at."""

    start_at: datetime
    end_at: datetime

    def __post_init__(self) -> None:
        if self.start_at.tzinfo is None or self.end_at.tzinfo is None:
            raise ValueError("the instants of a window are UTC aware")
        if self.start_at >= self.end_at:
            raise ValueError("a window starts before it ends")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Window, thresholds and randomness of a report.

    minimum_cell: queries below which a figure is withheld, 1 or more.
    replicates: of the bootstrap. seed: of the generator behind it, so that everybody
    gets the same intervals. operator, category: where not empty, the rankings are
    those of that operator, and only the sites of that category count.
    """

    window: Window
    minimum_cell: Annotated[int, Column("count")] = MINIMUM_CELL
    replicates: Annotated[int, Column("count")] = MINIMUM_REPLICATES
    seed: Annotated[int, Column("count")] = 0
    operator: Annotated[str, Column("text")] = ""
    category: Annotated[str, Column("text")] = ""

    def __post_init__(self) -> None:
        if self.minimum_cell < 1:
            raise ValueError("a cell needs at least one query")

    def withhold(self, count: int, unit: str = "independent queries") -> str:
        """Return why a figure that rests on so few is withheld, "" where it is not."""
        if count >= self.minimum_cell:
            return ""
        return f"rests on {count} {unit}, fewer than {self.minimum_cell}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """Identity of the ranking that ordered the sites, and its audits (§9.7, last item).

    policy_digest: of the weights and constants. code_digest: of the running code.
    source_url: where that code is public. attestations: addresses of audits.
    """

    policy_digest: str
    code_digest: str
    source_url: str = ""
    attestations: tuple[str, ...] = ()
